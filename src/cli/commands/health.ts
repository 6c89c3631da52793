/** incmon health: prints whether the server is ready, for people, scripts and probes. */
import { X509Certificate } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { readSmallFile } from '../../config.ts'
import { type Certificate, certificateFaultOf, differenceOf } from '../../domain/doctor/certificate.ts'
import { visible } from '../../domain/terminal.ts'
import { certificateOf } from '../../server/connection/tls.ts'
import { ask, detailOf, explainNoAnswer, OTHER_PROGRAM, type Trust } from '../ask.ts'
import { requireConfig } from '../database.ts'
import { CommandError, NegativeAnswer, UsageError } from '../failure.ts'
import { parseObject } from '../input.ts'
import { type Common, print } from '../output.ts'
import { addCommand } from '../plain-command.ts'
import { showWaiting } from '../progress.ts'
import { findListening, namedAddress, noServer, reachableUrl } from '../server-address.ts'

const TIMEOUT_MS = 5_000
const PAUSE_MS = 250
const MAX_WAIT_SECONDS = 86_400

type Options = Common & {
  readonly url?: string
  /** How long to wait, in seconds. Without this option, the command checks only once. */
  readonly wait?: number
}
/** A server's response. `message` says why the server is not ready and what to do. */
type Health = { readonly url: string | null } & (
  | { readonly certificate: Certificate | null }
  | { readonly why: string; readonly message: string }
)

/** @param now returns the current Unix time in milliseconds */
export function addHealth(program: Command, now: () => number): void {
  addCommand(program, 'health', 'check whether the server is ready; exit with 1 if it is not')
    .option('--url <url>', 'the URL of the server (default: INCMON_URL, or the server that uses the database)')
    .addOption(
      new Option('--wait [seconds]', 'wait up to this many seconds for the server to become ready')
        .preset('30')
        .argParser(parseWait),
    )
    .action((options) => askHealth(options, now()))
}

/**
 * Prints whether the server is ready. A bad certificate causes only a warning, because the server itself works.
 * @throws CommandError if the server is still not ready after the wait
 */
async function askHealth(options: Options, now: number): Promise<void> {
  const waited = options.wait === undefined ? () => {} : showWaiting('waiting for the server')
  const health = await askUntil(options, performance.now() + (options.wait ?? 0) * 1000).finally(waited)
  const why = 'why' in health ? health.why : null
  const warning = 'certificate' in health ? warningOf(health.certificate, options, now) : null
  if (options.json) print(JSON.stringify({ url: health.url, ready: why === null, why, warning }))
  if (options.json && why !== null) throw new NegativeAnswer()
  if ('why' in health) throw new CommandError(health.message)
  if (!options.json) print(`${health.url} is ready${warning === null ? '' : `; ${warning}`}`)
}

/** Returns a warning about the certificate. With --url, TLS has already verified the certificate. */
function warningOf(shown: Certificate | null, options: Options, now: number): string | null {
  if (shown === null) return null
  const file = requireConfig(options)['tls-cert']
  const held = readCertificate(file)
  const trouble = (held && differenceOf(shown, file, held)) ?? certificateFaultOf(shown, now)
  return trouble && visible(`its certificate ${trouble.text}: ${trouble.remedy}`)
}

/** Returns the first certificate in a PEM file, or null if it is invalid or missing. */
function readCertificate(file: string): Certificate | null {
  try {
    return file === '' ? null : certificateOf(new X509Certificate(readSmallFile(file)))
  } catch {
    return null
  }
}

/** Checks at least once, and returns the last response. */
async function askUntil(options: Options, until: number): Promise<Health> {
  for (;;) {
    const health = await askOnce(options)
    if (!('why' in health) || performance.now() + PAUSE_MS >= until) return health
    await setTimeout(PAUSE_MS)
  }
}

async function askOnce(options: Options): Promise<Health> {
  const named = namedAddress(options)
  if (named !== null) return askAt(named, 'system')
  const { database } = requireConfig(options)
  const listening = await findListening(database)
  // The socket proves the server's identity, so an expired certificate is acceptable.
  if (listening !== null) return askAt(reachableUrl(listening.url), 'anyone')
  return { url: null, why: 'no server is using this database', message: noServer(database) }
}

async function askAt(url: string, trust: Trust): Promise<Health> {
  const unready = (why: string, remedy: string) => ({ url, why, message: `${url} is not ready: ${why}: ${remedy}` })
  try {
    const answer = await ask(`${url}/readyz`, { timeoutMs: TIMEOUT_MS, trust })
    const why = `it responded with ${answer.status}, ${detailOf(answer.text)}`
    if (!answer.ok) return unready(why, 'run "incmon doctor" to find the cause')
    if (parseObject(answer.text)?.status === 'ok') return { url, certificate: answer.certificate }
    return unready(why, OTHER_PROGRAM)
  } catch (error) {
    const { why, remedy } = explainNoAnswer(error, url)
    return unready(`no response (${why})`, remedy)
  }
}

function parseWait(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (seconds >= 1 && seconds <= MAX_WAIT_SECONDS) return seconds
  throw new UsageError(`--wait: ${text} is not valid: use a whole number of seconds from 1 to ${MAX_WAIT_SECONDS}`)
}
