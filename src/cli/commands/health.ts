/** incmon health: whether the running server is ready, in one line and an exit code; for people, scripts and probes. */
import { setTimeout } from 'node:timers/promises'
import { type Certificate, differenceOf, troubleOf } from '../../domain/doctor/certificate-life.ts'
import { detailOf, NOT_OURS, objectIn } from '../answer.ts'
import { ask, certificateIn, ownCertificateFile, type Trust } from '../ask.ts'
import { type Common, hint } from '../database.ts'
import { CommandError, NegativeAnswer, UsageError } from '../failure.ts'
import { explainNoAnswer } from '../no-answer.ts'
import { print, visible } from '../output.ts'
import { sayWaiting } from '../progress.ts'
import { serverAddress } from '../server-address.ts'

/** An answer that takes longer is none; how often is asked again. In milliseconds. */
const PATIENCE = 5_000
const PAUSE = 250
const LONGEST_WAIT = 86_400

type Options = Common & {
  readonly url?: string
  /** Seconds to ask again until it is ready; without it once. */
  readonly wait?: number
}
/** `doctor`: the command that looks for causes. */
type Asked = { readonly url: string; readonly trust: Trust; readonly doctor: string }
/** Ready, and by which certificate; or why not, with what to do. */
type Health = { readonly certificate: Certificate | null } | { readonly why: string; readonly remedy: string }

/**
 * A bad certificate is said beside the answer, and decides nothing: the server of the configuration lives without.
 * @throws CommandError where it is not ready, once the wait is over
 */
export async function askHealth(options: Options, now: number): Promise<void> {
  const url = serverAddress(options)
  const waited = options.wait === undefined ? () => {} : sayWaiting(`waiting for ${url}`)
  const file = ownCertificateFile(options)
  const asked = { url, trust: file === '' ? 'system' : 'anyone', doctor: hint(options, 'doctor') } as const
  const health = await askUntil(asked, performance.now() + (options.wait ?? 0) * 1000).finally(waited)
  const why = 'why' in health ? health.why : null
  const warning = 'certificate' in health ? warningOf(health.certificate, file, now) : null
  if (options.json) print(JSON.stringify({ url, ready: why === null, why, warning }))
  if (options.json && why !== null) throw new NegativeAnswer()
  if ('why' in health) throw new CommandError(`${url} is not ready: ${health.why}: ${health.remedy}`)
  if (!options.json) print(warning === null ? `${url} is ready` : `${url} is ready; ${warning}`)
}

function warningOf(shown: Certificate | null, file: string, now: number): string | null {
  const held = certificateIn(file)
  const trouble = shown && ((held && differenceOf(shown, file, held)) ?? troubleOf(shown, now))
  return trouble && visible(`its certificate ${trouble.text}: ${trouble.remedy}`)
}

/** At least once; the last answer that is no. */
async function askUntil(asked: Asked, until: number): Promise<Health> {
  for (;;) {
    const health = await askOnce(asked)
    if (!('why' in health) || performance.now() + PAUSE >= until) return health
    await setTimeout(PAUSE)
  }
}

async function askOnce({ url, trust, doctor }: Asked): Promise<Health> {
  try {
    const answer = await ask(`${url}/readyz`, { patience: PATIENCE, trust })
    const why = `it answered ${answer.status}, ${detailOf(answer.text)}`
    if (!answer.ok) return { why, remedy: `${doctor} looks for the cause` }
    if (objectIn(answer.text)?.status === 'ok') return { certificate: answer.certificate }
    return { why, remedy: NOT_OURS }
  } catch (error) {
    const { why, remedy } = explainNoAnswer(error, url)
    return { why: `no answer (${why})`, remedy }
  }
}

/** Whole seconds. */
export function parseWait(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (seconds >= 1 && seconds <= LONGEST_WAIT) return seconds
  throw new UsageError(`--wait: ${text} is no time to wait: allowed are whole seconds from 1 to ${LONGEST_WAIT}`)
}
