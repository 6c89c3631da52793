/** incmon send-test and replay: sends test payloads or recorded webhook requests to a running server. */
import { setTimeout } from 'node:timers/promises'
import { Argument, type Command, Option } from 'commander'
import { clientVariables } from '../../config.ts'
import type { Source } from '../../domain/event/event.ts'
import { moveTimes } from '../../domain/example/recorded.ts'
import { visible } from '../../domain/terminal.ts'
import { countOf } from '../../domain/text.ts'
import { ask, detailOf, explainNoAnswer, type HttpResponse, OTHER_PROGRAM, type Question, type Trust } from '../ask.ts'
import { CommandError, UsageError } from '../failure.ts'
import { parseObject, readInput } from '../input.ts'
import { type Common, hint, print } from '../output.ts'
import { addCommand } from '../plain-command.ts'
import { startProgress } from '../progress.ts'
import { parseRecording, type RecordedRequest } from '../replay/recording.ts'
import { namedAddress, requireServer } from '../server-address.ts'
import { parseSource, SOURCE_NAMES } from '../source-names.ts'
import { TEST_PAYLOADS, TEST_SERVICE } from '../test-payloads.ts'

const TEST_TIMEOUT_MS = 20_000
const TIMEOUT_MS = 60_000
const MAX_FAULTS_SHOWN = 5
/** Node's timers are limited to about 24 days, so a longer pause needs several timers. */
const MAX_TIMER_MS = 3_600_000
const TOKEN_HEADERS = ['authorization', 'x-ci-token', 'x-gitlab-token']

type Receiver = Common & { readonly url?: string; readonly token?: string }
type Options = Receiver & {
  readonly shift?: 'now'
  /** 60 replays sixty times as fast as recorded; 0 replays as fast as the server can respond. */
  readonly speed: number
}

const URL_HELP = 'the URL of the server (default: INCMON_URL, or the server that uses the database)'

/** @param now returns the current Unix time in milliseconds */
export function addSend(program: Command, now: () => number): void {
  addCommand(program, 'send-test', 'send a test problem for a fictional service, in the format of a real sender')
    .addArgument(new Argument('<sender>', 'the sender to imitate').choices(SOURCE_NAMES).argParser(parseSource))
    .option('--url <url>', URL_HELP)
    .option('--token <token>', 'a token with the ingest scope (default: INCMON_TOKEN)')
    .action((source, options) => sendTest(source, options, now()))
  addCommand(program, 'replay', 'replay recorded requests to a running server, one at a time, in chronological order')
    .argument(
      '<file>',
      'a file with one { "t", "endpoint", "headers", "body" } object per line, or - for standard input',
    )
    .option('--url <url>', URL_HELP)
    .option('--token <token>', 'the token, also for {{token}} in the headers (default: INCMON_TOKEN)')
    .addOption(new Option('--shift <to>', 'shift all times so that the last request has this time').choices(['now']))
    .option(
      '--speed <times>',
      'the replay speed: 60 is sixty times as fast as recorded, 0 is as fast as possible',
      parseSpeed,
      0,
    )
    .action((file, options) => replayFile(file, options, now))
}

async function sendTest(source: Source, options: Receiver, now: number): Promise<void> {
  const token = requireToken(options)
  const { url, trust } = await requireServer(options)
  const address = `${url}/api/webhooks/${source}`
  const sent = { headers: headersOf(source, token), body: TEST_PAYLOADS[source](now), timeoutMs: TEST_TIMEOUT_MS }
  const { ok, status, text } = await post(url, source, { ...sent, trust })
  if (!ok) throw new CommandError(`${address} responded with ${status}: ${detailOf(text)}`)
  if (parseObject(text)?.received !== true) {
    throw new CommandError(`${address} responded with ${status}: ${detailOf(text)}: ${OTHER_PROGRAM}`)
  }
  if (options.json) return print(text)
  print(`${address} responded with ${status}: ${visible(text)}`)
  // A back-off that Kubernetes has repeated is critical. The test alerts of all other senders are at most warnings.
  const nouns = source === 'cluster' ? (['alert', 'incident'] as const) : (['alert'] as const)
  const list = nouns.map((noun) => `an ${noun} (see ${hint(options, `${noun} list`)})`).join(' and ')
  print(`incmon treats the test like a real problem: it opens ${list} for the service ${TEST_SERVICE}`)
  print(`to end the test, run ${nouns.map((noun) => hint(options, `${noun} resolve ID`)).join(' and ')}`)
}

type Accepted = {
  readonly received: true
  readonly eventId?: string | null
  readonly eventIds?: readonly string[]
  readonly rejected?: readonly { readonly index: number; readonly error: string }[]
}

/** `accepted` and `rejected` count items, which are events or the alerts in a notification. */
type Tally = {
  sent: number
  readonly statuses: Record<string, number>
  accepted: number
  rejected: number
  /** The error of the first rejected request or item. */
  refusal: string | null
}

/**
 * @throws CommandError before the first request if the file is invalid, during the replay if the server does not
 * respond, or at the end if an item was rejected
 */
async function replayFile(file: string, options: Options, now: () => number): Promise<void> {
  const token = requireToken(options)
  // Rejects an invalid --url before reading the file.
  namedAddress(options)
  const requests = await readRecording(file)
  const { url: base, trust } = await requireServer(options)
  // Whole seconds, so that shifted times keep their fractions.
  const delta = options.shift === 'now' ? Math.floor((now() - (requests.at(-1)?.at ?? 0)) / 1000) * 1000 : 0
  const tally: Tally = { sent: 0, statuses: {}, accepted: 0, rejected: 0, refusal: null }
  await sendAll(requests, { base, trust, token, delta, speed: options.speed, tally })
  report(tally, base, options.json)
}

type Run = {
  readonly base: string
  readonly trust: Trust
  readonly token: string
  readonly delta: number
  readonly speed: number
  readonly tally: Tally
}

async function sendAll(requests: readonly RecordedRequest[], run: Run): Promise<void> {
  const { speed, tally } = run
  const began = performance.now()
  const first = requests[0]?.at ?? 0
  using progress = startProgress('requests')
  for (const request of requests) {
    if (speed > 0) await waitUntil(began + (request.at - first) / speed)
    const { status, text } = await postRecorded(request, run, requests.length)
    countAnswer(tally, request, status, text)
    progress.show(tally.sent, requests.length, `${tally.accepted} accepted, ${tally.rejected} rejected`)
  }
}

/** Adds a response to the tally. */
function countAnswer(tally: Tally, request: RecordedRequest, status: number, text: string): void {
  tally.sent += 1
  tally.statuses[status] = (tally.statuses[status] ?? 0) + 1
  const answer = status === 200 ? answerOf(text) : null
  if (!answer) {
    tally.rejected += itemsOf(request.body)
    tally.refusal ??= `line ${request.line}: the server responded with ${status}: ${detailOf(text)}`
    return
  }
  const { eventId, eventIds, rejected = [] } = answer
  tally.accepted += eventIds?.length ?? (eventId ? 1 : 0)
  tally.rejected += rejected.length
  const [first] = rejected
  if (first) tally.refusal ??= `line ${request.line}: item ${first.index} was rejected: ${first.error}`
}

/** Parses a response from incmon. Returns null for other responses, such as a proxy's error page. */
function answerOf(text: string): Accepted | null {
  const answer = parseObject(text)
  return answer?.received === true ? (answer as Accepted) : null
}

function itemsOf(body: unknown): number {
  const { alerts } = (body ?? {}) as { alerts?: unknown }
  return Array.isArray(alerts) ? alerts.length : 1
}

function postRecorded(request: RecordedRequest, { base, trust, token, delta, tally }: Run, of: number) {
  const { line, endpoint, headers, body } = request
  const sent = { headers: filledHeaders(endpoint, headers, token), body: moveTimes(body, delta), timeoutMs: TIMEOUT_MS }
  return post(
    base,
    endpoint,
    { ...sent, trust },
    `, stopped at line ${line}, after ${tally.sent} of ${countOf(of, 'request')}`,
  )
}

async function waitUntil(time: number): Promise<void> {
  for (let rest = time - performance.now(); rest > 0; rest = time - performance.now()) {
    await setTimeout(Math.min(rest, MAX_TIMER_MS))
  }
}

type Sent = Pick<Question, 'trust' | 'timeoutMs'> & { readonly headers: Record<string, string>; readonly body: unknown }

/** @param more text to add to an error message: how many requests were sent before the error */
async function post(base: string, source: Source, { body, ...sent }: Sent, more = ''): Promise<HttpResponse> {
  try {
    return await ask(`${base}/api/webhooks/${source}`, { ...sent, method: 'POST', body: JSON.stringify(body) })
  } catch (error) {
    const { why, remedy } = explainNoAnswer(error, base, sent.trust !== 'system')
    throw new CommandError(`no response from ${base} (${why})${more}: ${remedy}`)
  }
}

/** Returns the recorded headers with the token filled in or, if none were recorded, the sender's usual headers. */
function filledHeaders(endpoint: RecordedRequest['endpoint'], recorded: RecordedRequest['headers'], token: string) {
  const usual = headersOf(endpoint, token)
  if (!recorded) return usual
  const entries = Object.entries(recorded).map(([name, value]) => [name, value.replaceAll('{{token}}', token)])
  const own = Object.fromEntries(entries) as Record<string, string>
  return TOKEN_HEADERS.some((name) => name in own) ? own : { ...usual, ...own }
}

function report({ sent, statuses, accepted, rejected, refusal }: Tally, base: string, json: boolean | undefined): void {
  if (json) {
    print(JSON.stringify({ url: base, sent, statuses, accepted, rejected, refusal }))
  } else {
    const byStatus = Object.entries(statuses).map(([status, times]) => `${times} × ${status}`)
    print(
      `sent ${countOf(sent, 'request')} to ${base}: ${byStatus.join(', ')}; items: ${accepted} accepted, ${rejected} rejected`,
    )
  }
  if (refusal !== null) throw new CommandError(`the server did not accept everything; the first error: ${refusal}`)
}

async function readRecording(file: string): Promise<RecordedRequest[]> {
  const bytes = await readInput(file, 'with one request per line')
  const { requests, faults } = parseRecording(bytes.toString('utf8'))
  if (faults.length > 0) {
    const named = faults.slice(0, MAX_FAULTS_SHOWN).join('; ')
    const more = faults.length > MAX_FAULTS_SHOWN ? `; and ${faults.length - MAX_FAULTS_SHOWN} more lines` : ''
    throw new CommandError(`${file}: ${named}${more}; nothing was sent: correct the file`)
  }
  if (requests.length === 0)
    throw new CommandError(`${file} contains no requests: choose a file with one request per line`)
  return requests
}

function parseSpeed(text: string): number {
  if (/^\d{1,6}(\.\d{1,3})?$/.test(text)) return Number(text)
  throw new UsageError(
    `--speed: ${text} is not a speed: use a number such as 60 (sixty times as fast as recorded) or 0 (as fast as possible)`,
  )
}

function requireToken(options: Receiver): string {
  const token = options.token ?? clientVariables().token
  if (token) return token
  throw new UsageError(`a token is required: set --token or INCMON_TOKEN; create one with "incmon token create"`)
}

/** Returns the sender's usual headers, with names in lower case like in recordings. */
function headersOf(source: Source, token: string): Record<string, string> {
  const json = { 'content-type': 'application/json' }
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError('--token contains invalid characters: copy the token again')
  return source === 'ci'
    ? { ...json, 'x-ci-token': token, 'x-ci-event': 'Pipeline Hook' }
    : { ...json, authorization: `Bearer ${token}` }
}
