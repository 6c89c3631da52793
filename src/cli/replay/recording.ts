/** Reads recordings. A recording contains one webhook request per line as JSON. */
import { IncmonError } from '../../domain/error.ts'
import { SOURCES, type Source } from '../../domain/event/event.ts'
import { parseInstant } from '../../domain/instant.ts'
import { parseBody } from '../../intake/json.ts'
import { parseObject } from '../input.ts'

/** `line` starts at 1. `at` is a Unix time in milliseconds. `headers` is null if no headers were recorded. */
export type RecordedRequest = {
  readonly line: number
  readonly at: number
  readonly endpoint: Source
  readonly headers: Readonly<Record<string, string>> | null
  readonly body: unknown
}

/** Headers that belong to the recorded connection and are not sent again. */
const CONNECTION_HEADERS = new Set([
  ...['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-encoding', 'expect'],
  ...['te', 'trailer', 'upgrade', 'accept-encoding', 'proxy-connection', 'proxy-authorization'],
])

/** Returns the requests sorted by time, then by line number, and the errors in the form `line 3: error`. */
export function parseRecording(text: string): { readonly requests: RecordedRequest[]; readonly faults: string[] } {
  const requests: RecordedRequest[] = []
  const faults: string[] = []
  if (isTable(parseObject(text)) && text.trim().includes('\n'))
    return {
      requests,
      faults: ['the whole file is one JSON document, but a recording has one on each line: use jq -c'],
    }
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

function parseLine(text: string, line: number): RecordedRequest | string {
  let value: unknown
  try {
    value = parseBody(Buffer.from(text))
  } catch (error) {
    if (!(error instanceof IncmonError)) throw error
    return error.message.replace(/^body: /, '').replace(/; send .*$/, '')
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

/** Returns the headers in lower case, without connection headers, or an error message. */
function headersOf(headers: unknown): Record<string, string> | string {
  if (!isTable(headers)) return 'headers: expected an object with strings'
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'headers: invalid header name'
    if (typeof value !== 'string' || !/^[\t\x20-\x7e]*$/.test(value))
      return `headers: ${name}: expected a string of printable ASCII characters`
    if (!CONNECTION_HEADERS.has(name.toLowerCase())) kept[name.toLowerCase()] = value
  }
  return kept
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
