/** incmon replay: sends recorded webhook requests to a running server, one at a time in order of time. */
import { setTimeout } from 'node:timers/promises'
import { ask, type Trust } from '../ask.ts'
import type { Common } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { readInput } from '../input.ts'
import { explainNoAnswer } from '../no-answer.ts'
import { print } from '../output.ts'
import { startProgress } from '../progress.ts'
import { moveTimes, parseRecording, type RecordedRequest } from '../replay/recording.ts'
import { countAnswer, type Tally } from '../replay/tally.ts'
import { namedAddress, requireServer } from '../server-address.ts'
import { headersOf, requireToken } from './send-test.ts'

const TIMEOUT_MS = 60_000
const MAX_FAULTS_SHOWN = 5
/** Node's timers last at most 24 days, so a longer pause needs several timers. */
const MAX_TIMER_MS = 3_600_000
const TOKEN_HEADERS = ['authorization', 'x-ci-token', 'x-gitlab-token']

type Options = Common & {
  readonly url?: string
  readonly token?: string
  readonly shift?: 'now'
  /** 60 is sixty times as fast as recorded; 0 is as fast as the server answers. */
  readonly speed: number
}

/**
 * Sends the requests and prints the counts.
 * @throws CommandError before the first request if the file has an error; if no answer comes; at the end if an item was
 * refused
 */
export async function replayFile(file: string, options: Options, now: () => number): Promise<void> {
  const token = requireToken(options)
  // Refuses a wrong --url before it reads the file.
  namedAddress(options)
  const requests = await readRecording(file)
  const { url: base, trust } = await requireServer(options)
  const delta = options.shift === 'now' ? wholeSeconds(now() - (requests.at(-1)?.at ?? 0)) : 0
  const tally: Tally = { sent: 0, statuses: {}, accepted: 0, rejected: 0, refusal: null }
  const progress = startProgress('requests')
  try {
    await sendAll(requests, {
      base,
      trust,
      token,
      delta,
      speed: options.speed,
      tally,
      progress: () =>
        progress.show(tally.sent, requests.length, `${tally.accepted} accepted, ${tally.rejected} rejected`),
    })
  } finally {
    progress.end()
  }
  report(tally, base, options.json)
}

type Run = {
  readonly base: string
  readonly trust: Trust
  readonly token: string
  readonly delta: number
  readonly speed: number
  readonly tally: Tally
  readonly progress: () => void
}

async function sendAll(requests: readonly RecordedRequest[], run: Run): Promise<void> {
  const began = performance.now()
  const first = requests[0]?.at ?? 0
  for (const request of requests) {
    if (run.speed > 0) await waitUntil(began + (request.at - first) / run.speed)
    const { status, text } = await post(request, run, requests.length)
    countAnswer(run.tally, request, status, text)
    run.progress()
  }
}

async function waitUntil(time: number): Promise<void> {
  for (let rest = time - performance.now(); rest > 0; rest = time - performance.now()) {
    await setTimeout(Math.min(rest, MAX_TIMER_MS))
  }
}

async function post(
  { line, endpoint, headers, body }: RecordedRequest,
  { base, trust, token, delta, tally }: Run,
  of: number,
): Promise<{ status: number; text: string }> {
  try {
    return await ask(`${base}/api/webhooks/${endpoint}`, {
      method: 'POST',
      headers: filledHeaders(endpoint, headers, token),
      body: JSON.stringify(moveTimes(body, delta)),
      timeoutMs: TIMEOUT_MS,
      trust,
    })
  } catch (error) {
    const { why, remedy } = explainNoAnswer(error, base, trust !== 'system')
    const sent = `stopped at line ${line}, after ${tally.sent} of ${of} requests`
    throw new CommandError(`no answer from ${base} (${why}), ${sent}: ${remedy}`)
  }
}

/** Returns the recorded headers with the token, otherwise the headers of a sender of this kind. */
function filledHeaders(endpoint: RecordedRequest['endpoint'], recorded: RecordedRequest['headers'], token: string) {
  const usual = headersOf(endpoint, token)
  if (!recorded) return usual
  const entries = Object.entries(recorded).map(([name, value]) => [name, value.replaceAll('{{token}}', token)])
  const own = Object.fromEntries(entries) as Record<string, string>
  return TOKEN_HEADERS.some((name) => name in own) ? own : { ...lowerCased(usual), ...own }
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function report({ sent, statuses, accepted, rejected, refusal }: Tally, base: string, json: boolean | undefined): void {
  if (json) {
    print(JSON.stringify({ url: base, sent, statuses, accepted, rejected, refusal }))
  } else {
    const byStatus = Object.entries(statuses).map(([status, times]) => `${times} × ${status}`)
    print(`sent ${sent} requests to ${base}: ${byStatus.join(', ')}; items: ${accepted} accepted, ${rejected} rejected`)
  }
  if (refusal !== null) throw new CommandError(`the server did not accept everything; the first error: ${refusal}`)
}

async function readRecording(file: string): Promise<RecordedRequest[]> {
  const bytes = await readInput(file, 'with one request in each line')
  const { requests, faults } = parseRecording(Buffer.from(bytes).toString('utf8'))
  if (faults.length > 0) {
    const named = faults.slice(0, MAX_FAULTS_SHOWN).join('; ')
    const more = faults.length > MAX_FAULTS_SHOWN ? `; and ${faults.length - MAX_FAULTS_SHOWN} more lines` : ''
    throw new CommandError(`${file}: ${named}${more}: correct the file; nothing was sent`)
  }
  if (requests.length === 0)
    throw new CommandError(`${file} contains no request: name a file with one request in each line`)
  return requests
}

/** Times move by whole seconds, so that their fractions stay the same. */
function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}

/** Reads a speed such as 0, 60 or 0.5. */
export function parseSpeed(text: string): number {
  if (/^\d{1,6}(\.\d{1,3})?$/.test(text)) return Number(text)
  throw new UsageError(
    `--speed: ${text} is not a speed: write one such as 60 (sixty times as fast as recorded) or 0 (as fast as possible)`,
  )
}
