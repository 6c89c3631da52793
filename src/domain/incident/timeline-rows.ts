/** The rows of a timeline. Repeats are combined into one row with a count and the time of the last repeat. */
import { type Source, senderName } from '../event/event.ts'
import { ordered } from '../order.ts'
import { countOf, formatCount, formatTimes } from '../text.ts'

export type TimelineRow = {
  readonly at: number
  /** When an alert was last seen, when a pipeline ended, or the time of the last repeat. */
  readonly until: number
  readonly kind: string
  /** `acknowledged` or the new status, how an alert or a deploy ended, `silenced` or `unsilenced`; null for all other rows. */
  readonly code: string | null
  readonly text: string
  /** The name of the token or user that made the change; null for senders and automatic changes. */
  readonly actor: string | null
  /** The source of the report; null for changes made automatically or by a user. */
  readonly source: Source | null
  /** `alert/<uuid>`, `event/<uuid>`, `correlation/<uuid>`, `silence/<uuid>` or `incident/<uuid>`. */
  readonly ref: string
  /** The number of similar alerts, links or repeats in the row. */
  readonly count: number
  /** The number of events that reported these alerts, links or repeats. */
  readonly seen: number
}

/** Times are ISO 8601 UTC. */
export type TimelineRowText = Omit<TimelineRow, 'at' | 'until'> & { readonly at: string; readonly until: string }

/** A timeline entry before repeats are combined into rows. */
export type Moment = Omit<TimelineRow, 'count' | 'seen'> & {
  /** Moments with the same kind, actor and group are repeats. */
  readonly group: string
  /**
   * Whether this moment merely repeats another one with the same kind and ref. A repeat is counted, but its text is
   * dropped.
   */
  readonly echo: boolean
  /** The object, such as `Pod/cart-1`; '' if unknown. */
  readonly object: string
  /** The number of records that this moment represents. Default: 1. */
  readonly count?: number
  /** When the ended alert began, if the moment is an end. An alert that began after a row's last end is not in that row. */
  readonly since?: number
}

/** The order of rows with the same time: causes before effects, automatic changes before user actions. */
const KINDS = [
  ...['pipeline', 'rollout', 'change', 'event', 'alert', 'silence', 'opened', 'correlation', 'reopened', 'status'],
  ...['edited', 'note', 'merged', 'ended', 'message', 'not-told', 'gap'],
]
/** The kinds that are combined. User actions are always listed individually. */
const REPEATING = new Set(['alert', 'ended', 'event', 'change', 'correlation'])
/** After a pause longer than this, a repeat gets its own row. */
const PAUSE = 30 * 60_000
const OBJECTS_NAMED = 2

/**
 * Combines moments into rows, sorted by time, kind, text, actor and ref. Repeats within 30 minutes become one row with
 * a count, unless one of the row's alerts changed in between: its next end is later than its new start. An echo joins
 * the first row that it repeats, no matter how much later the echo occurs.
 */
export function collapse(moments: readonly Moment[]): readonly TimelineRow[] {
  const sorted = ordered(moments, sortKeys)
  const rows: Gathered[] = []
  const latest = new Map<string, Gathered>()
  const keys = new Map<string, string>()
  for (const moment of sorted.filter(({ echo }) => !echo)) {
    const key = JSON.stringify([moment.kind, moment.actor, moment.group])
    closeOther(latest, keys, moment.ref, key)
    const last = latest.get(key)
    const known = last && (moment.since ?? 0) <= last.until ? last : undefined
    if (known && moment.at - known.until <= (REPEATING.has(moment.kind) ? PAUSE : -1)) add(known, moment)
    else latest.set(key, begin(rows, moment))
  }
  const first = new Map<string, Gathered>()
  for (const row of rows) {
    const key = `${row.first.kind} ${row.first.ref}`
    if (!first.has(key)) first.set(key, row)
  }
  for (const echo of sorted.filter(({ echo }) => echo)) {
    const key = `${echo.kind} ${echo.ref}`
    const told = first.get(key)
    if (told) add(told, echo)
    else first.set(key, begin(rows, echo))
  }
  return sortRows(rows.map(shown))
}

/** Closes the last row of an alert if the alert changes in another way. `keys`: the key of the last row of each alert. */
function closeOther(latest: Map<string, Gathered>, keys: Map<string, string>, ref: string, key: string): void {
  if (!ref.startsWith('alert/')) return
  const last = keys.get(ref)
  if (last !== undefined && last !== key) latest.delete(last)
  keys.set(ref, key)
}

/** Sorts rows by time, kind, text, actor and ref. */
export function sortRows(rows: readonly TimelineRow[]): readonly TimelineRow[] {
  return ordered(rows, (row) => [row.at, rankOf(row.kind), row.text, row.actor, row.ref])
}

/** Formats names as ` (Pod/a, Pod/b and 2 more)`; '' if there are no names. */
export function named(objects: ReadonlySet<string>): string {
  const names = ordered([...objects], (name) => [name])
  if (names.length === 0) return ''
  const rest = names.length - OBJECTS_NAMED
  return ` (${names.slice(0, OBJECTS_NAMED).join(', ')}${rest > 0 ? ` and ${formatCount(rest)} more` : ''})`
}

/**
 * Formats the details after a row's text: `, 440 alerts, seen 1,879 times, last seen 18:34`. `seen` counts events. `shown`
 * formats a time.
 */
export function rowDetails({ at, until, kind, code, count, seen }: TimelineRow, shown: (at: number) => string): string {
  const parts = [countText(kind, count)]
  if (kind === 'alert' && seen > count) parts.push(`seen ${formatTimes(seen)}`)
  const isLater = shown(until) !== shown(at)
  if (isLater && kind === 'pipeline')
    return `${parts.join(', ')}${code === null ? '; it ended' : ''} at ${shown(until)}`
  if (isLater && kind === 'alert') parts.push(`last seen ${shown(until)}`)
  else if (isLater && count > 1) parts.push(`the last at ${shown(until)}`)
  return parts.join(', ')
}

/** Counts the similar alerts, links or repeats in a row. */
function countText(kind: string, count: number): string {
  if (count < 2) return ''
  const noun = kind === 'correlation' ? 'link' : 'alert'
  return `, ${kind === 'alert' || kind === 'ended' || noun === 'link' ? countOf(count, noun) : formatTimes(count)}`
}

/**
 * Formats the details after the text of a row in a postmortem; see `rowDetails`. The evidence says how often an alert was
 * seen. When it was last seen matters only if it has no end, which the section about the recovery says.
 */
export function detailsText(row: TimelineRowText, shown: (at: number) => string): string {
  const at = Date.parse(row.at)
  return rowDetails({ ...row, seen: row.count, at, until: row.kind === 'alert' ? at : Date.parse(row.until) }, shown)
}

/** Returns who is responsible for a row: a user, a sender such as `Kubernetes`, or incmon. */
export function actorOf({ actor, source }: Pick<TimelineRow, 'actor' | 'source'>): string {
  return actor ?? (source === null ? 'incmon' : senderName(source))
}

type Gathered = { first: Moment; at: number; until: number; told: number; objects: Set<string> }

function begin(rows: Gathered[], moment: Moment): Gathered {
  const row = { first: moment, at: moment.at, until: moment.until, told: 0, objects: new Set<string>() }
  rows.push(row)
  add(row, moment)
  return row
}

function add(row: Gathered, moment: Moment): void {
  row.at = Math.min(row.at, moment.at)
  // A rollout consists of several steps, and its end is unknown.
  if (moment.kind !== 'rollout') row.until = Math.max(row.until, moment.until)
  if (!moment.echo) row.told += moment.count ?? 1
  if (moment.object !== '') row.objects.add(moment.object)
}

function shown({ first, at, until, told, objects }: Gathered): TimelineRow {
  const { kind, code, text, actor, source, ref } = first
  // An alert of another incident is counted there. A rollout is counted once.
  const count = Math.max(told, 1)
  return {
    at,
    until: Math.max(at, until),
    kind,
    code,
    text: `${text}${named(objects)}`,
    actor,
    source,
    ref,
    count,
    seen: count,
  }
}

function sortKeys({ at, kind, text, actor, ref, group, object, until }: Moment) {
  return [at, rankOf(kind), text, actor, ref, group, object, until]
}

function rankOf(kind: string): number {
  const rank = KINDS.indexOf(kind)
  return rank === -1 ? KINDS.length : rank
}
