/**
 * Reads exports from other systems: JSON lines, or Alertmanager's list of alerts. Entries are parsed only when they are
 * used.
 */
import { IncmonError } from '../domain/error.ts'
import { SOURCES, type Source } from '../domain/event/event.ts'
import { parseInstant } from '../domain/instant.ts'
import { parseBody } from '../intake/json.ts'

/** An event. `payload` has the format of a webhook body. */
export type DumpedEvent = {
  readonly source: Source
  /** Unix time in milliseconds, or null if the line has no time. */
  readonly receivedAt: number | null
  /** Whether the alert is silenced or inhibited. Alertmanager does not send such alerts. */
  readonly isSuppressed: boolean
  readonly payload: unknown
}
/** `where` is the position to show in messages, such as `line 3` or `line 3, alert 2`. */
export type Entry = Pick<DumpedEvent, 'receivedAt' | 'isSuppressed'> & {
  readonly where: string
  readonly read: () => DumpedEvent
}
export type Fault = { readonly where: string; readonly error: string }

/** The maximum allowed difference between the clocks of two machines. */
const CLOCK_SKEW_MS = 60_000
const LINE_FEED = 0x0a
const BRACKET = 0x5b

/**
 * Returns all entries in order of receipt, and the errors for invalid entries. Entries without a time come last. Stores
 * only the position of each entry, so the memory needed is little more than the size of the file.
 * @param now Unix time in milliseconds; later times of receipt are rejected
 * @throws IncmonError `invalid` if the file is a single list that cannot be parsed
 */
export function openDump(bytes: Uint8Array, now: number): { readonly entries: Entry[]; readonly faults: Fault[] } {
  const entries: Entry[] = []
  const faults: Fault[] = []
  const parse = lastParsed(bytes)
  for (const { from, to, name } of partsOf(bytes)) {
    const found = attempt(() => parse(from, to))
    if (found instanceof IncmonError) {
      faults.push({ where: name || 'the file', error: found.message.replace(/^body: /, '') })
      continue
    }
    const items = Array.isArray(found) ? found.length : 1
    for (let index = 0; index < items; index += 1) {
      const where = [name, Array.isArray(found) ? `alert ${index + 1}` : ''].filter(Boolean).join(', ')
      const read = () => itemOf(parse(from, to), index, now)
      const item = read()
      if (typeof item === 'string') faults.push({ where, error: item })
      else {
        const { receivedAt, isSuppressed } = item
        entries.push({ where, receivedAt, isSuppressed, read: read as () => DumpedEvent })
      }
    }
  }
  return { entries: entries.sort((a, b) => (a.receivedAt ?? now) - (b.receivedAt ?? now)), faults }
}

/** Returns whether the input contains only whitespace. */
export function isBlank(bytes: Uint8Array): boolean {
  return !bytes.some((byte) => byte > 0x20)
}

/** Returns the non-blank lines, or the whole input if it is a single list that spans several lines. */
function partsOf(bytes: Uint8Array): { from: number; to: number; name: string }[] {
  const start = bytes.findIndex((byte) => byte > 0x20 && byte < 0x80)
  const lines = linesOf(bytes)
  const [first] = lines
  const isList = bytes[start] === BRACKET && lines.length > 1
  if (first && isList && attempt(() => parseBody(bytes.subarray(first.from, first.to))) instanceof IncmonError) {
    return [{ from: 0, to: bytes.length, name: '' }]
  }
  return lines
}

function linesOf(bytes: Uint8Array): { from: number; to: number; name: string }[] {
  const lines: { from: number; to: number; name: string }[] = []
  for (let from = 0, line = 1; from < bytes.length; line += 1) {
    const end = bytes.indexOf(LINE_FEED, from)
    const to = end === -1 ? bytes.length : end
    if (!isBlank(bytes.subarray(from, to))) lines.push({ from, to, name: `line ${line}` })
    from = to + 1
  }
  return lines
}

/** Returns a parser that keeps its last result, so that the same list of alerts is not parsed twice in a row. */
function lastParsed(bytes: Uint8Array): (from: number, to: number) => unknown {
  let last: { from: number; value: unknown } | null = null
  return (from, to) => {
    if (last?.from !== from) last = { from, value: parseBody(bytes.subarray(from, to)) }
    return last.value
  }
}

function attempt(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (error instanceof IncmonError) return error
    throw error
  }
}

/** Returns an entry, or an error message. */
function itemOf(value: unknown, index: number, now: number): DumpedEvent | string {
  const item: unknown = Array.isArray(value) ? value[index] : value
  if (!isTable(item)) return EXPECTED
  if (!('source' in item)) return isTable(item.labels) ? ofAlertmanager(item, now) : EXPECTED
  const source = SOURCES.find((one) => one === item.source)
  if (!source) return `source: expected one of ${SOURCES.join(', ')}`
  if (item.payload === undefined) return 'payload: missing'
  const { receivedAt = null } = item
  const at = receivedAt === null ? null : parseInstant(receivedAt)
  if (receivedAt !== null && at === null) return 'receivedAt: expected a time such as 2026-03-14T02:11:09Z'
  return dated({ source, isSuppressed: false, payload: item.payload }, 'receivedAt', at, now)
}

const EXPECTED = 'expected { "source", "receivedAt", "payload" }, or an alert as listed by amtool'

/**
 * Converts an alert from GET /api/v2/alerts or amtool. The alert was firing at `updatedAt`. `endsAt` is not the end of
 * the alert, but the time until which Alertmanager waits for an update. The list has no groups, so each alert forms its
 * own group.
 */
function ofAlertmanager(alert: Readonly<Record<string, unknown>>, now: number): DumpedEvent | string {
  const updatedAt = parseInstant(alert.updatedAt)
  const [receiver] = Array.isArray(alert.receivers) ? alert.receivers : []
  const name = isTable(receiver) && typeof receiver.name === 'string' ? receiver.name : ''
  const payload = { receiver: name, status: 'firing', groupLabels: alert.labels, alerts: [alert] }
  const isSuppressed = isTable(alert.status) && alert.status.state === 'suppressed'
  return dated({ source: 'metrics', isSuppressed, payload }, 'updatedAt', updatedAt, now)
}

/** Returns the event with its time of receipt, or an error message if the time is in the future. */
function dated(event: Omit<DumpedEvent, 'receivedAt'>, field: string, at: number | null, now: number) {
  if (at === null) return { ...event, receivedAt: null }
  if (at > now + CLOCK_SKEW_MS) return `${field}: is in the future; check the clocks and correct the time`
  return { ...event, receivedAt: Math.min(at, now) }
}

export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
