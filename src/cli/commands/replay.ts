/** incmon replay: posts a recorded JSONL of webhook requests to a running server, in order of time, one at a time. */
import { setTimeout } from 'node:timers/promises'
import { ask, ownCertificateFile, pemIn, type Trust } from '../ask.ts'
import type { Common } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { readInput } from '../input.ts'
import { explainNoAnswer } from '../no-answer.ts'
import { print } from '../output.ts'
import { startProgress } from '../progress.ts'
import { moveTimes, parseRecording, type Recorded } from '../replay/recording.ts'
import { count, type Tally } from '../replay/tally.ts'
import { serverAddress } from '../server-address.ts'
import { headersOf, requireToken } from './send-test.ts'

/** An answer that takes longer is none, in milliseconds. */
const PATIENCE = 60_000
const FAULTS_NAMED = 5
/** Timers hold no more than 24 days; a slow replay of a long pause waits in parts. */
const LONGEST_WAIT = 3_600_000
const CARRIERS = ['authorization', 'x-ci-token', 'x-gitlab-token']

type Options = Common & {
  readonly url?: string
  readonly token?: string
  readonly shift?: 'now'
  /** How many times faster than it was recorded; 0: as fast as the server answers. */
  readonly speed: number
}

/** @throws CommandError where the file has a fault, before anything is sent; where no answer comes; at the end, where anything was refused */
export async function replayFile(file: string, options: Options, now: () => number): Promise<void> {
  const base = serverAddress(options)
  const own = pemIn(ownCertificateFile(options))
  const token = requireToken(options)
  const requests = await readRecording(file)
  const delta = options.shift === 'now' ? wholeSeconds(now() - (requests.at(-1)?.at ?? 0)) : 0
  const tally: Tally = { sent: 0, statuses: {}, accepted: 0, rejected: 0, refusal: null }
  const progress = startProgress('requests')
  try {
    await sendAll(requests, {
      base,
      trust: own === null ? 'system' : { only: own },
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

async function sendAll(requests: readonly Recorded[], run: Run): Promise<void> {
  const began = performance.now()
  const first = requests[0]?.at ?? 0
  for (const request of requests) {
    if (run.speed > 0) await waitUntil(began + (request.at - first) / run.speed)
    const { status, text } = await post(request, run, requests.length)
    count(run.tally, request, status, text)
    run.progress()
  }
}

async function waitUntil(time: number): Promise<void> {
  for (let rest = time - performance.now(); rest > 0; rest = time - performance.now()) {
    await setTimeout(Math.min(rest, LONGEST_WAIT))
  }
}

async function post(
  { line, endpoint, headers, body }: Recorded,
  { base, trust, token, delta, tally }: Run,
  of: number,
): Promise<{ status: number; text: string }> {
  try {
    return await ask(`${base}/api/webhooks/${endpoint}`, {
      method: 'POST',
      headers: filledHeaders(endpoint, headers, token),
      body: JSON.stringify(moveTimes(body, delta)),
      patience: PATIENCE,
      trust,
    })
  } catch (error) {
    const { why, remedy } = explainNoAnswer(error, base, trust !== 'system')
    const sent = `stopped at line ${line}, after ${tally.sent} of ${of} requests`
    throw new CommandError(`no answer from ${base} (${why}), ${sent}: ${remedy}`)
  }
}

/** The recorded headers with the token in its place, else what a sender of this kind sends. */
function filledHeaders(endpoint: Recorded['endpoint'], recorded: Recorded['headers'], token: string) {
  const usual = headersOf(endpoint, token)
  if (!recorded) return usual
  const entries = Object.entries(recorded).map(([name, value]) => [name, value.replaceAll('{{token}}', token)])
  const own = Object.fromEntries(entries) as Record<string, string>
  return CARRIERS.some((name) => name in own) ? own : { ...lowerCased(usual), ...own }
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
  if (refusal !== null) throw new CommandError(`not all was accepted; first of it: ${refusal}`)
}

async function readRecording(file: string): Promise<Recorded[]> {
  const bytes = await readInput(file, 'of requests, one a line')
  const { requests, faults } = parseRecording(Buffer.from(bytes).toString('utf8'))
  if (faults.length > 0) {
    const named = faults.slice(0, FAULTS_NAMED).join('; ')
    const more = faults.length > FAULTS_NAMED ? `; and ${faults.length - FAULTS_NAMED} lines more` : ''
    throw new CommandError(`${file}: ${named}${more}: mend it; nothing was sent`)
  }
  if (requests.length === 0) throw new CommandError(`${file} holds no request: name a recording, one request a line`)
  return requests
}

/** So that fractions of seconds stay as they were recorded, and every difference is kept. */
function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}

/** `0`, `60`, `0.5`. */
export function parseSpeed(text: string): number {
  if (/^\d{1,6}(\.\d{1,3})?$/.test(text)) return Number(text)
  throw new UsageError(`--speed: ${text} is no speed: allowed are such as 60 (sixty times real time), 0 (at once)`)
}
