/** incmon health: whether the running server is ready, in one line and an exit code; for people, scripts and probes. */
import { setTimeout } from 'node:timers/promises'
import { detailOf, NOT_OURS, objectIn } from './answer.ts'
import { ask, ownCertificate } from './ask.ts'
import type { Common } from './database.ts'
import { CommandError, NegativeAnswer, UsageError } from './failure.ts'
import { print } from './output.ts'
import { sayWaiting } from './progress.ts'
import { serverAddress, whyNoAnswer } from './server-address.ts'

/** An answer that takes longer is none; how often is asked again. In milliseconds. */
const PATIENCE = 5_000
const PAUSE = 250
const LONGEST_WAIT = 86_400

type Options = Common & {
  readonly url?: string
  /** Seconds to ask again until it is ready; without it once. */
  readonly wait?: number
}
type Asked = { readonly url: string; readonly certificate: string | null }
/** Null: ready. Else why not, with what to do. */
type Unready = { readonly why: string; readonly remedy: string } | null

/** @throws CommandError where it is not ready, once the wait is over */
export async function askHealth(options: Options): Promise<void> {
  const url = serverAddress(options)
  const waited = options.wait === undefined ? () => {} : sayWaiting(`waiting for ${url}`)
  const asked = { url, certificate: ownCertificate(options) }
  const unready = await askUntil(asked, performance.now() + (options.wait ?? 0) * 1000).finally(waited)
  if (options.json) {
    print(JSON.stringify({ url, ready: unready === null, why: unready?.why ?? null }))
    if (unready) throw new NegativeAnswer()
  }
  if (unready) throw new CommandError(`${url} is not ready: ${unready.why}: ${unready.remedy}`)
  if (!options.json) print(`${url} is ready`)
}

/** At least once; the last answer that is no. */
async function askUntil(asked: Asked, until: number): Promise<Unready> {
  for (;;) {
    const unready = await askOnce(asked)
    if (unready === null || performance.now() + PAUSE >= until) return unready
    await setTimeout(PAUSE)
  }
}

async function askOnce({ url, certificate }: Asked): Promise<Unready> {
  try {
    const answer = await ask(`${url}/readyz`, { patience: PATIENCE, certificate })
    const why = `it answered ${answer.status}, ${detailOf(answer.text)}`
    if (!answer.ok) return { why, remedy: '"incmon doctor" looks for the cause' }
    if (objectIn(answer.text)?.status === 'ok') return null
    return { why, remedy: NOT_OURS }
  } catch (error) {
    return { why: `no answer (${whyNoAnswer(error)})`, remedy: 'start "incmon serve", or name it with --url' }
  }
}

/** Whole seconds. */
export function parseWait(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (seconds >= 1 && seconds <= LONGEST_WAIT) return seconds
  throw new UsageError(`--wait: ${text} is no time to wait: allowed are whole seconds from 1 to ${LONGEST_WAIT}`)
}
