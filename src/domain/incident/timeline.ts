/**
 * Builds the timeline of an incident in chronological order. Similar alerts share an entry, and so do repeats. Start
 * here for `GET /api/incidents/:id`.
 */
import { type AlertGroup, type GroupedAlert, groupAlerts, groupForIncident, runsOf } from '../alert/groups.ts'
import { rolloutOf } from '../event/rollout.ts'
import { ordered } from '../order.ts'
import { templatesOf } from '../service/pod-name.ts'
import { likelihoodOfLink } from '../suspect/likely-cause.ts'
import { incidentName, numberText } from '../text.ts'
import { MINUTE } from '../units.ts'
import { changeName, deployText, isDeploy, wholeChangeText } from './change-text.ts'
import type { AlertFact, ChangeFact, CorrelationFact, EntryFact, EventFact, PostmortemFacts } from './facts.ts'
import { acknowledgedText, acknowledgementsIn, asKnown, entryText, toldEntries } from './timeline-entries.ts'
import { collapse, type Moment, named, sortRows, type TimelineRow } from './timeline-rows.ts'

/** The alert fields needed for grouping. */
type TimelineAlert = Omit<AlertFact, 'links' | 'node' | 'nodes' | 'objects' | 'failure' | 'hint'>

type TimelineMaterial = Pick<PostmortemFacts, 'entries' | 'events' | 'changes' | 'merged'> & {
  readonly incident: { readonly uuid: string }
  readonly alerts: readonly TimelineAlert[]
  readonly correlations: readonly Link[]
}

/** A link, or the best of `count` links between a change and similar alerts. */
type Link = CorrelationFact & { readonly count?: number }

/** Info events that show a consequence or a recovery. All other info events are routine. */
const IMPORTANT_REASONS = new Set([
  ...['Killing', 'NodeReady', 'NodeSchedulable', 'TriggeredScaleUp', 'SuccessfulRescale'],
  ...['Completed', 'SawCompletedJob', 'SuccessfulAttachVolume', 'ProvisioningSucceeded'],
])

/** For how long after its start a rollout replaces pods. */
const ROLLS_FOR = 15 * MINUTE

/** The maximum number of rows for the starts of similar alerts. */
const MAX_RUNS = 20

/**
 * Returns the timeline: groups of similar alerts, stored entries, pipelines and rollouts, links that were not rejected,
 * and important events. `groups`: the groups of the alerts.
 */
export function timelineOf(material: TimelineMaterial, groups = groupsOf(material.alerts)): readonly TimelineRow[] {
  const { incident, entries, events, correlations, merged = [] } = material
  const changes = ordered(material.changes, ({ ref, kind, eventId }) => [ref, kind, eventId])
  const known = new Map(
    groups.flatMap((group) => group.members.map(({ uuid, startsAt }) => [uuid, { group, startsAt }] as const)),
  )
  const acknowledgements = acknowledgementsIn(entries)
  const begun = new Set(events.flatMap(({ kind, alertId }) => (kind === 'firing' ? alertId : [])))
  const rest = collapse([
    ...toldEntries(entries, known).map((entry) => {
      const moment = ofEntry(asKnown(entry, material.alerts), `incident/${incident.uuid}`, known)
      return acknowledgements.has(entry) ? { ...moment, code: 'acknowledged', text: acknowledgedText(entry) } : moment
    }),
    ...changes.map(ofChange),
    ...bestLinks(correlations, known).map((link) => ofCorrelation(link, known)),
    ...events
      .filter((event) => isImportant(event, known, begun) && !isOfRollout(event, changes))
      .map((event) => ofEvent(event, changes)),
  ])
  const stored = new Set(entries.map(({ ref }) => ref))
  const numbers = new Map<string, string>(merged.map(({ ref, number }) => [ref, numberText(number)]))
  const others = new Map(events.map(({ alertId, incident }) => [alertId, incident ?? null]))
  return sortRows([
    ...rest
      .map((row) => (stored.has(row.ref) ? row : withOther(row, known, others)))
      .map((row) => (row.kind === 'merged' ? { ...row, text: `${row.text}${numbers.get(row.ref) ?? ''}` } : row)),
    ...groupRows(groups, events),
  ])
}

/** Says so if a report or an end belongs to an alert of another incident. `others`: the incident of each alert. */
function withOther(row: TimelineRow, known: Known, others: Others): TimelineRow {
  const id = row.ref.replace('alert/', '')
  if ((row.kind !== 'alert' && row.kind !== 'ended') || known.has(id)) return row
  return { ...row, text: `${row.text}${otherText(others.get(id))}` }
}

export function otherText(other: EventFact['incident']): string {
  return ` – ${other ? `part of ${incidentName(other)}` : 'not part of this incident'}`
}

/** Returns the groups of similar alerts, most severe first. Returns few groups even if every alert has its own name. */
export function groupsOf(alerts: readonly TimelineAlert[]): readonly AlertGroup<GroupedAlert & TimelineAlert>[] {
  const grouped = alerts.map((alert) => ({
    ...alert,
    id: alert.uuid,
    status: alert.endsAt === null ? ('firing' as const) : ('resolved' as const),
  }))
  return groupAlerts(grouped, groupForIncident(grouped))
}

/**
 * Returns one row for each time that similar alerts began to fire, with the start of the first alert and the numbers of
 * alerts and events.
 */
function groupRows(groups: ReturnType<typeof groupsOf>, events: readonly EventFact[]): readonly TimelineRow[] {
  const objects = Map.groupBy(events, ({ alertId }) => alertId)
  return groups.flatMap(runsOfGroup).map(({ name, isMixed, source, summary, members, seen, firstStartsAt }) => {
    const reports = source === 'cluster' ? members.flatMap(({ uuid }) => objects.get(uuid) ?? []) : []
    const on = named(new Set(reports.flatMap(({ object }) => (object === '' ? [] : [object]))))
    // The alert that started first represents the group. Members with equal starts are sorted by UUID.
    const first = members.find(({ startsAt }) => startsAt === firstStartsAt)
    // At that time, the first alert had its first text.
    const isAlike = members.every((one) => one.summary === first?.summary)
    const told = isMixed || (members.length > 1 && isAlike) ? summary : (first?.firstText ?? first?.summary ?? summary)
    // Each failed pipeline has its own row. The summary of their alert is that of the last one.
    const words = source === 'ci' && seen > 1 ? '' : told.replace(/\.$/, '')
    const text = words === name || words === '' ? name : `${name}: ${words}`
    const until = members.reduce((latest, { lastSeenAt }) => Math.max(latest, lastSeenAt), firstStartsAt)
    const common = {
      kind: 'alert',
      code: null,
      actor: null,
      source,
      count: members.length,
      seen: Math.max(seen, members.length),
    }
    return { ...common, at: firstStartsAt, until, text: `${text}${on}`, ref: `alert/${first?.uuid}` }
  })
}

/** Returns a group for each time that alerts of the group began to fire after all had ended. */
function runsOfGroup(group: ReturnType<typeof groupsOf>[number]): ReturnType<typeof groupsOf> {
  const runs = runsOf(group.members).map(({ alerts }) => alerts)
  if (runs.length === 1 || group.isMixed) return [group]
  const rows = runs.length > MAX_RUNS ? [...runs.slice(0, MAX_RUNS - 1), runs.slice(MAX_RUNS - 1).flat()] : runs
  return groupAlerts(group.members, new Map(rows.map((alerts, index) => [`${group.key} ${index}`, alerts])))
}

type Others = ReadonlyMap<string | null, NonNullable<EventFact['incident']> | null>

/** The alerts' groups, by the alerts' UUIDs. */
type Known = ReadonlyMap<string, { readonly group: AlertGroup; readonly startsAt: number }>

function ofEntry(entry: EntryFact, incident: string, known: Known): Moment {
  const { at, kind, code, actor, ref } = entry
  const alert = ref === null ? undefined : known.get(ref.replace('alert/', ''))
  const of = alert?.group
  const words = entryText(entry, of?.name ?? entry.text, of?.members.length === 1)
  const group = of ? `${of.key} ${words}` : words
  // Kubernetes reports no severity. The rules of incmon raise it when the events repeat.
  const isOwnRule = kind === 'alert' && of?.source === 'cluster'
  const isReported = of !== undefined && actor === null && (kind !== 'ended' || code === 'reported') && !isOwnRule
  const since = alert && kind === 'ended' ? { since: alert.startsAt } : {}
  const shown = kind === 'alert' ? null : code
  const common = { at, until: at, kind, code: shown, actor, echo: false, object: '', group, ...since }
  return { ...common, text: words, ref: ref ?? incident, source: isReported ? of.source : null }
}

function ofChange(change: ChangeFact): Moment {
  const { kind, startsAt, endsAt, eventId } = change
  const common = { at: startsAt, kind, actor: null, echo: false, object: '' }
  const source = kind === 'pipeline' ? 'ci' : 'cluster'
  // The end of a rollout is unknown.
  const until = kind === 'pipeline' ? Math.max(startsAt, endsAt) : startsAt
  const [code, text] = isDeploy(change) ? [change.outcome, deployText(change)] : [null, wholeChangeText(change)]
  return { ...common, code, until, source, text, ref: `event/${eventId}`, group: change.ref }
}

/** Returns the best link between each change and each group of similar alerts, with the number of links. */
function bestLinks(links: readonly Link[], known: Known): readonly (Link & { count: number })[] {
  const kept = links.filter(({ verdict }) => verdict !== 'rejected')
  const byPair = Map.groupBy(kept, ({ change, alertId }) => {
    return JSON.stringify([changeName(change), known.get(alertId)?.group.key ?? ''])
  })
  return [...byPair.values()].flatMap((of) => {
    const [best] = ordered(of, ({ verdict, score, uuid }) => [verdict === 'confirmed' ? 0 : 1, -score, uuid])
    // Senders' clocks differ, so a link can be older than its alert.
    const times = of.map((link) => Math.max(link.createdAt, known.get(link.alertId)?.startsAt ?? 0))
    const createdAt = times.reduce((first, at) => Math.min(first, at), Number.POSITIVE_INFINITY)
    return best ? [{ ...best, createdAt, count: of.reduce((sum, { count = 1 }) => sum + count, 0) }] : []
  })
}

function ofCorrelation(link: Link & { readonly count: number }, known: Known): Moment {
  const name = known.get(link.alertId)?.group.name ?? 'an alert in another incident'
  const verdict = link.verdict === null ? '' : `; later ${link.verdict} by ${link.verdictBy ?? 'a user'}`
  const text = `${changeName(link.change)} linked to ${name}: ${likelihoodOfLink(link.score)}${verdict}`
  const [at, group] = [link.createdAt, text]
  const common = { at, until: at, code: null, actor: null, source: null, echo: false, object: '' }
  return { ...common, kind: 'correlation', text, ref: `correlation/${link.uuid}`, group, count: link.count }
}

/** Events of the incident's own alerts are already counted in their groups. */
function isImportant({ kind, name, alertId }: EventFact, known: Known, begun: ReadonlySet<string | null>): boolean {
  if (kind === 'firing') return alertId === null || !known.has(alertId)
  // The end of what began before the period says nothing.
  if (kind === 'resolved') return alertId !== null && !known.has(alertId) && begun.has(alertId)
  return kind === 'change' || (kind === 'info' && IMPORTANT_REASONS.has(name))
}

/** Returns whether a rollout killed the pod: it replaced or removed its template. The rollout has a row of its own. */
function isOfRollout({ name, object, at }: EventFact, changes: readonly ChangeFact[]): boolean {
  if (name !== 'Killing') return false
  return changes.some(({ kind, ref, startsAt }) => {
    const workload = ref.slice(ref.lastIndexOf('/') + 1, ref.lastIndexOf('@'))
    const isLater = at >= startsAt && at - startsAt <= ROLLS_FOR
    return kind === 'rollout' && isLater && object.startsWith(`Pod/${workload}-`)
  })
}

function ofEvent(event: EventFact, changes: readonly ChangeFact[]): Moment {
  const { at, uuid, name, text, object, source, alertId } = event
  const common = { at, until: at, code: null, actor: null, source, text: text === name ? name : `${name}: ${text}` }
  const on = source === 'cluster' ? object : ''
  if (event.kind === 'firing' && alertId !== null) {
    return { ...common, kind: 'alert', ref: `alert/${alertId}`, group: alertId, echo: true, object: on }
  }
  if (event.kind === 'resolved') {
    const end = { ...common, kind: 'ended', code: 'reported', text: `${name} ended` }
    return { ...end, ref: `alert/${alertId}`, group: `${alertId}`, echo: true, object: '' }
  }
  const rollout = event.kind === 'change' ? rolloutOfEvent(event, changes) : undefined
  if (rollout) {
    const ref = `event/${rollout.eventId}`
    return { ...common, until: at, kind: 'rollout', ref, group: rollout.ref, echo: true, object: '' }
  }
  const kind = event.kind === 'change' ? 'change' : 'event'
  // What happens to the pods of different templates are different events.
  const group = [common.text, ...templatesOf([object])].join(' ')
  return { ...common, kind, ref: `event/${uuid}`, group, echo: false, object: on }
}

/**
 * Returns the rollout to which a scaling belongs: the last rollout of the Deployment until then. A rollout scales its
 * own ReplicaSet up and the previous one down.
 */
function rolloutOfEvent(event: EventFact, changes: readonly ChangeFact[]): ChangeFact | undefined {
  const { uuid, object, text, at } = event
  const itself = changes.find(({ eventId }) => eventId === uuid)
  if (itself) return itself
  const workload = object.slice(object.indexOf('/') + 1)
  const own = changes.filter(({ kind, ref, startsAt, emptied }) => {
    const name = ref.slice(ref.lastIndexOf('/') + 1, ref.lastIndexOf('@'))
    return kind === 'rollout' && emptied === undefined && startsAt <= at && name === workload
  })
  const last = ordered(own, ({ startsAt }) => [startsAt]).at(-1)
  const scaled = rolloutOf(text)
  if (!last || !scaled) return undefined
  const isOwn = last.ref.endsWith(`@${scaled.hash}`)
  if (scaled.direction === 'up') return isOwn ? last : undefined
  return isOwn && scaled.to === 0 ? undefined : last
}
