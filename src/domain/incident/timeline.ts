/**
 * The timeline of an incident: what happened, in order, with repeats combined. Start here for `GET /api/incidents/:id`.
 */
import type { ChangeFact, CorrelationFact, EntryFact, EventFact } from '../postmortem/facts.ts'
import { ordered } from '../postmortem/words.ts'

/** `at` and `until`: first and last time in ms UTC. `count`: how often. `ref`: the record. */
export type TimelineRow = {
  readonly at: number
  readonly until: number
  readonly kind: string
  readonly text: string
  /** The name of the token that acted, or of the person who ran a command; null for the machine. */
  readonly actor: string | null
  /** `alert/<uuid>`, `event/<uuid>`, `correlation/<uuid>`, `incident/<uuid>`. */
  readonly ref: string
  readonly count: number
}

/** One entry before repeats are combined. */
export type Moment = Omit<TimelineRow, 'count'> & {
  /** Moments with the same kind, actor and group are repeats. */
  readonly group: string
  /**
   * Whether the moment only repeats another moment with its kind and ref. Then it is counted, but its text is not used.
   */
  readonly echo: boolean
  /** The object: `Pod/cart-1`; '' if unknown. */
  readonly object: string
}

export type TimelineMaterial = {
  readonly incident: { readonly uuid: string }
  readonly alerts: readonly { readonly uuid: string; readonly name: string }[]
  readonly entries: readonly EntryFact[]
  readonly events: readonly EventFact[]
  readonly changes: readonly ChangeFact[]
  readonly correlations: readonly CorrelationFact[]
}

/** At the same time, causes come before effects, and incmon comes before people. */
const KINDS = [
  ...['pipeline', 'rollout', 'change', 'event', 'alert', 'opened', 'correlation', 'reopened', 'status'],
  ...['edited', 'note', 'merged', 'ended'],
]
/** Kinds that are combined. Actions of people are listed one by one. */
const REPEATING = new Set(['alert', 'ended', 'event', 'change', 'correlation'])
/** After a longer pause, a repeat gets its own row. */
const PAUSE = 30 * 60_000
/** Info events about a consequence or a recovery. All other info events are routine. */
const TELLING = new Set([
  ...['Killing', 'NodeReady', 'NodeSchedulable', 'TriggeredScaleUp', 'SuccessfulRescale'],
  ...['Completed', 'SawCompletedJob', 'SuccessfulAttachVolume', 'ProvisioningSucceeded'],
])
const OBJECTS_NAMED = 2

/**
 * Returns the timeline: stored entries, pipelines and rollouts, links that nobody rejected, and important events. An
 * event of a listed alert or rollout only raises its count.
 */
export function timelineOf(material: TimelineMaterial): readonly TimelineRow[] {
  const { incident, entries, events, correlations, alerts } = material
  const changes = ordered(material.changes, ({ ref, kind, eventId }) => [ref, kind, eventId])
  return collapse([
    ...entries.map((entry) => ofEntry(entry, `incident/${incident.uuid}`)),
    ...changes.map(ofChange),
    ...correlations.filter(({ verdict }) => verdict !== 'rejected').map((one) => ofCorrelation(one, alerts)),
    ...events.filter(isTelling).map((event) => ofEvent(event, changes)),
  ])
}

/**
 * Combines moments into rows, sorted by time, then kind, text, actor and ref. Repeats within 30 minutes become one row
 * with a count. Echoes join the first row that they repeat, however late.
 */
export function collapse(moments: readonly Moment[]): readonly TimelineRow[] {
  const sorted = ordered(moments, sortKeys)
  const rows: Gathered[] = []
  const latest = new Map<string, Gathered>()
  for (const moment of sorted.filter(({ echo }) => !echo)) {
    const key = JSON.stringify([moment.kind, moment.actor, moment.group])
    const known = latest.get(key)
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
  return ordered(rows.map(shown), (row) => [row.at, rankOf(row.kind), row.text, row.actor, row.ref])
}

type Gathered = { first: Moment; at: number; until: number; told: number; echoes: number; objects: Set<string> }

function begin(rows: Gathered[], moment: Moment): Gathered {
  const row = { first: moment, at: moment.at, until: moment.until, told: 0, echoes: 0, objects: new Set<string>() }
  rows.push(row)
  add(row, moment)
  return row
}

function add(row: Gathered, moment: Moment): void {
  row.at = Math.min(row.at, moment.at)
  row.until = Math.max(row.until, moment.until)
  if (moment.echo) row.echoes += 1
  else row.told += 1
  if (moment.object !== '') row.objects.add(moment.object)
}

function shown({ first, at, until, told, echoes, objects }: Gathered): TimelineRow {
  const { kind, text, actor, ref } = first
  // An alert counts each report. A rollout counts once, however many steps it has.
  const count = kind === 'alert' ? Math.max(told, echoes) : Math.max(told, 1)
  return { at, until, kind, text: `${text}${seenOn(objects)}`, actor, ref, count }
}

function seenOn(objects: ReadonlySet<string>): string {
  const names = ordered([...objects], (name) => [name])
  if (names.length === 0) return ''
  const rest = names.length - OBJECTS_NAMED
  return ` (${names.slice(0, OBJECTS_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''})`
}

function sortKeys({ at, kind, text, actor, ref, group, object, until }: Moment) {
  return [at, rankOf(kind), text, actor, ref, group, object, until]
}

function rankOf(kind: string): number {
  const rank = KINDS.indexOf(kind)
  return rank === -1 ? KINDS.length : rank
}

function ofEntry({ at, kind, text, actor, ref }: EntryFact, incident: string): Moment {
  const words = WORDS.get(kind)?.(text) ?? text
  return { at, until: at, kind, text: words, actor, ref: ref ?? incident, group: words, echo: false, object: '' }
}

const WORDS: ReadonlyMap<string, (text: string) => string> = new Map([
  ['status', (text) => `changed to ${text}`],
  ['reopened', (text) => `reopened as ${text}`],
  ['edited', (text) => `edited: ${text}`],
])

function ofChange(change: ChangeFact): Moment {
  const { kind, startsAt, endsAt, eventId } = change
  const common = { at: startsAt, until: Math.max(startsAt, endsAt), kind, actor: null, echo: false, object: '' }
  return { ...common, text: changeText(change), ref: `event/${eventId}`, group: change.ref }
}

/**
 * Returns a text such as `pipeline shop/cart#31 on main (3f2a9c1d): deploy failed` or `rollout shop/cart@5d4f8c7b9: a
 * new pod template`.
 */
export function changeText({ kind, ref, outcome, branch, sha }: ChangeFact): string {
  if (kind === 'rollout') return `rollout ${ref}: a new pod template`
  const where = branch === null ? '' : ` on ${branch}`
  return `pipeline ${ref}${where}${sha === null ? '' : ` (${sha.slice(0, 8)})`}: ${outcome ?? 'outcome unknown'}`
}

function ofCorrelation(link: CorrelationFact, alerts: TimelineMaterial['alerts']): Moment {
  const name = alerts.find(({ uuid }) => uuid === link.alertId)?.name ?? 'an alert of another incident'
  const verdict = link.verdict === null ? '' : `, ${link.verdict} by a person`
  const text = `${link.change.kind} ${link.change.ref} linked to ${name}: score ${link.score}, ${link.band}${verdict}`
  const common = { at: link.createdAt, until: link.createdAt, actor: null, echo: false, object: '' }
  return { ...common, kind: 'correlation', text, ref: `correlation/${link.uuid}`, group: text }
}

function isTelling({ kind, name }: EventFact): boolean {
  return kind === 'firing' || kind === 'change' || (kind === 'info' && TELLING.has(name))
}

function ofEvent(event: EventFact, changes: readonly ChangeFact[]): Moment {
  const { at, uuid, name, text, object, source, alertId } = event
  const common = { at, until: at, actor: null, text: text === name ? name : `${name}: ${text}` }
  const seen = source === 'cluster' ? object : ''
  if (event.kind === 'firing' && alertId !== null) {
    return { ...common, kind: 'alert', ref: `alert/${alertId}`, group: alertId, echo: true, object: seen }
  }
  const rollout = event.kind === 'change' ? changes.find((change) => isAbout(text, change)) : undefined
  if (rollout) {
    return { ...common, kind: 'rollout', ref: `event/${rollout.eventId}`, group: rollout.ref, echo: true, object: '' }
  }
  const kind = event.kind === 'change' ? 'change' : 'event'
  return { ...common, kind, ref: `event/${uuid}`, group: common.text, echo: false, object: seen }
}

/** Returns whether a ScalingReplicaSet message is about this rollout: it names the workload and the hash. */
function isAbout(text: string, { kind, ref }: ChangeFact): boolean {
  return kind === 'rollout' && text.includes(` ${ref.slice(ref.lastIndexOf('/') + 1).replace('@', '-')} `)
}
