/** Dumps: events of elsewhere, as JSON lines or as Alertmanager lists its alerts; each found, and read when it is due. */
import { IncmonError } from '../domain/error.ts'
import { SOURCES, type Source } from '../domain/event/event.ts'
import { parseInstant } from '../domain/instant.ts'
import { parseBody } from '../intake/json.ts'

/** What would have been the body of a webhook. */
export type Dumped = {
  readonly source: Source
  /** In milliseconds UTC; null where the line names none. */
  readonly receivedAt: number | null
  /** Silenced or inhibited: Alertmanager would have sent it to no webhook. */
  readonly isSuppressed: boolean
  readonly payload: unknown
}
/** `where` for a person: `line 3`, `line 3, alert 2`. */
export type Entry = Pick<Dumped, 'receivedAt' | 'isSuppressed'> & {
  readonly where: string
  readonly read: () => Dumped
}
export type Fault = { readonly where: string; readonly error: string }

/** The clocks of two machines may differ by so much, in milliseconds. */
const SKEW = 60_000
const LINE_FEED = 0x0a
const BRACKET = 0x5b

/**
 * All entries in order of receipt, those without a time last; and what is no entry. Only where each lies is kept, so
 * that a large file costs little more than its bytes.
 * @param now what was received later than this is refused
 * @throws IncmonError `invalid` where the whole is one list that cannot be read
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
        entries.push({ where, receivedAt, isSuppressed, read: read as () => Dumped })
      }
    }
  }
  return { entries: entries.sort((a, b) => (a.receivedAt ?? now) - (b.receivedAt ?? now)), faults }
}

/** Whether nothing stands there, not even an empty list. */
export function isBlank(bytes: Uint8Array): boolean {
  return !bytes.some((byte) => byte > 0x20)
}

/** Lines with something in them; or the whole, where that is one list over several lines. */
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

/** A list of alerts is read once for all of them. */
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

/** One entry, or what is wrong with it. */
function itemOf(value: unknown, index: number, now: number): Dumped | string {
  const item: unknown = Array.isArray(value) ? value[index] : value
  if (!isTable(item)) return EXPECTED
  if (!('source' in item)) return isTable(item.labels) ? ofAlertmanager(item, now) : EXPECTED
  const source = SOURCES.find((one) => one === item.source)
  if (!source) return `source: expected one of ${SOURCES.join(', ')}`
  if (item.payload === undefined) return 'payload: missing'
  const { receivedAt = null } = item
  const dumped = { source, isSuppressed: false, payload: item.payload }
  if (receivedAt === null) return { ...dumped, receivedAt: null }
  const at = parseInstant(receivedAt)
  if (at === null) return 'receivedAt: expected a time such as 2026-03-14T02:11:09Z'
  return pastOf('receivedAt', at, now) ?? { ...dumped, receivedAt: Math.min(at, now) }
}

const EXPECTED = 'expected { "source", "receivedAt", "payload" }, or an alert as Alertmanager lists it'

/**
 * An alert of GET /api/v2/alerts and of amtool: it was firing when Alertmanager last heard of it; its end is only when
 * Alertmanager would have given it up. Each is a group of its own, since the list does not tell of groups.
 */
function ofAlertmanager(alert: Readonly<Record<string, unknown>>, now: number): Dumped | string {
  const heardAt = parseInstant(alert.updatedAt)
  const [receiver] = Array.isArray(alert.receivers) ? alert.receivers : []
  const name = isTable(receiver) && typeof receiver.name === 'string' ? receiver.name : ''
  const payload = { receiver: name, status: 'firing', groupLabels: alert.labels, alerts: [alert] }
  const isSuppressed = isTable(alert.status) && alert.status.state === 'suppressed'
  const dumped = { source: 'metrics', isSuppressed, payload } as const
  if (heardAt === null) return { ...dumped, receivedAt: null }
  return pastOf('updatedAt', heardAt, now) ?? { ...dumped, receivedAt: Math.min(heardAt, now) }
}

/** Null where it is past. */
function pastOf(field: string, at: number, now: number): string | null {
  return at > now + SKEW ? `${field}: lies in the future; look at the clocks, and mend it` : null
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
