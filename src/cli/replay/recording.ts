/** Recordings: webhook requests as JSON lines, read, put into order, and moved to another time. */
import { SOURCES, type Source } from '../../domain/event/event.ts'
import { formatInstant, parseInstant } from '../../domain/instant.ts'
import { MAX_DEPTH, parseBody } from '../../intake/json.ts'

/** `line` counts from 1; `at` is milliseconds UTC; `headers` null where the recording names none. */
export type Recorded = {
  readonly line: number
  readonly at: number
  readonly endpoint: Source
  readonly headers: Readonly<Record<string, string>> | null
  readonly body: unknown
}

/** Later years have more than four digits. */
const LAST = Date.UTC(9999, 11, 31)

/** These belong to the connection on which the request was recorded. */
const OF_CONNECTION = new Set([
  ...['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-encoding', 'expect'],
  ...['te', 'trailer', 'upgrade', 'accept-encoding', 'proxy-connection', 'proxy-authorization'],
])

/** The requests in order of time, of the same time in the order of the lines; each fault as `line 3: what is wrong`. */
export function parseRecording(text: string): { readonly requests: Recorded[]; readonly faults: string[] } {
  const requests: Recorded[] = []
  const faults: string[] = []
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue
    const read = parseLine(line, index + 1)
    if (typeof read === 'string') faults.push(`line ${index + 1}: ${read}`)
    else requests.push(read)
  }
  return { requests: requests.sort((a, b) => a.at - b.at || a.line - b.line), faults }
}

/** One request, or what is wrong with it. */
function parseLine(text: string, line: number): Recorded | string {
  let value: unknown
  try {
    value = parseBody(Buffer.from(text))
  } catch {
    return `not JSON, or nested more than ${MAX_DEPTH} levels deep`
  }
  if (!isTable(value)) return 'expected an object { t, endpoint, headers, body }'
  const { t, endpoint, headers = null, body } = value
  const at = typeof t === 'string' ? parseInstant(t) : null
  if (at === null) return 't: expected a time such as 2026-03-14T02:11:09Z'
  const source = SOURCES.find((one) => one === endpoint)
  if (!source) return `endpoint: expected one of ${SOURCES.join(', ')}`
  if (body === undefined) return 'body: missing'
  const kept = headers === null ? null : headersOf(headers)
  if (typeof kept === 'string') return kept
  return { line, at, endpoint: source, headers: kept, body }
}

/** In lower case, without those of the connection; or what is wrong with them. */
function headersOf(headers: unknown): Record<string, string> | string {
  if (!isTable(headers)) return 'headers: expected an object of texts'
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'headers: a name that no header has'
    if (typeof value !== 'string' || !/^[\t\x20-\x7e]*$/.test(value)) return `headers: ${name}: expected a plain text`
    if (!OF_CONNECTION.has(name.toLowerCase())) kept[name.toLowerCase()] = value
  }
  return kept
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A date and a time of day; behind a blank a zone must follow, with the `T` of ISO 8601 it may be missing: then UTC. */
const TIMES =
  /(?<![\d-])(\d{4}-\d{2}-\d{2})([Tt]| (?=[\d:]{8}(?:[.,]\d{1,9})?(?:Z| ?UTC| ?GMT| ?[+-]\d{2}:?\d{2})))(\d{2}:\d{2}:\d{2})(?![\d:])/g

/**
 * A value with every time in its texts moved: ISO 8601, RFC 3339 with a fraction or an offset, `2016-08-12 15:23:28 UTC`.
 * Fraction and zone stay as they are written. A time before 1970, such as Go's zero for "never", stays what it is.
 * @param delta milliseconds, of whole seconds
 */
export function moveTimes(value: unknown, delta: number): unknown {
  if (typeof value === 'string') return delta === 0 ? value : value.replace(TIMES, (...found) => moved(found, delta))
  if (Array.isArray(value)) return value.map((one) => moveTimes(one, delta))
  if (!isTable(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, moveTimes(one, delta)]))
}

/** As the day and time of day are shifted, whatever zone they are written in moves along. */
function moved([whole = '', day, between, time]: readonly string[], delta: number): string {
  const before = parseInstant(`${day}T${time}Z`)
  const after = (before ?? 0) + delta
  if (before === null || after < 0 || after > LAST) return whole
  const [newDay, newTime] = formatInstant(after).slice(0, 19).split('T')
  return `${newDay}${between}${newTime}`
}
