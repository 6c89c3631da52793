/** Groups similar alerts, so that a storm becomes one row. The row shows which labels differ. */
import { BUDGETS } from '../budgets.ts'
import type { Labels, Source } from '../event/event.ts'
import { distinct, ordered } from '../order.ts'
import { rank, type Severity } from '../severity.ts'
import { formatCount, joinNames } from '../text.ts'
import type { Resolution, Signal } from './alert.ts'
import { isGuessed } from './doubt.ts'

/** The alert fields needed for grouping. Times are Unix times in milliseconds. */
export type GroupedAlert = Pick<
  Signal,
  'source' | 'name' | 'severity' | 'status' | 'summary' | 'labels' | 'startsAt' | 'endsAt'
> & {
  readonly id: string
  readonly serviceId: string
  /** The number of events that reported the alert. */
  readonly occurrences: number
  readonly resolution?: Resolution | null
}

/**
 * A group of `count` alerts of one service with the same name, source and severity. `members` starts with the newest
 * alert.
 */
export type AlertGroup<Alert extends GroupedAlert = GroupedAlert> = {
  readonly key: string
  readonly name: string
  /** Whether the members have different names; see `groupForIncident`. */
  readonly isMixed: boolean
  readonly source: Source
  readonly severity: Severity
  readonly serviceId: string
  readonly members: readonly Alert[]
  readonly count: number
  /** The start times of the members, latest first. */
  readonly starts: readonly number[]
  readonly firing: number
  /** The number of events that reported the members. */
  readonly seen: number
  readonly firstStartsAt: number
  readonly lastStartsAt: number
  /** When the last member ended; null while any member is firing. */
  readonly endsAt: number | null
  /** Whether nobody reported this end, so that the last member was only last reported then. */
  readonly isGuess: boolean
  /** When no member was firing, between the first start and the last. */
  readonly gaps: readonly Gap[]
  /**
   * The newest member's summary, with the labels that differ between the members. For a mixed group: the names of its
   * alerts.
   */
  readonly summary: string
}

/** A group with its newest members. `silencedBy`: the silences of each firing member that is silenced. */
export type ShortGroup<Alert extends GroupedAlert = GroupedAlert> = AlertGroup<Alert> & {
  readonly silencedBy: readonly (readonly string[])[]
}

/** Labels that are meaningless to users or duplicate another label. */
const HIDDEN = new Set([
  ...['alertname', 'severity', 'uid', 'endpoint', 'prometheus', 'prometheus_replica', 'replica', 'container_id'],
  ...['reason', 'type', 'kind', 'grafana_folder', 'rule_uid', '__alert_rule_uid__', 'instance'],
])
const MAX_LABELS = 2
/** The maximum number of members in a group that is shown. */
const MAX_MEMBERS = 20
/** The maximum number of alerts whose events are read for their gaps. */
const MAX_FLAPPING = 20
/** The maximum number of groups that a page lists separately. */
const MAX_GROUPS = BUDGETS['shown-groups'].value

/**
 * Groups similar alerts. Sorts the groups by severity, highest first, and then by start, latest first. Within a
 * severity, mixed groups come last.
 */
export function groupAlerts<Alert extends GroupedAlert>(
  alerts: readonly Alert[],
  byKey: ReadonlyMap<string, readonly Alert[]> = Map.groupBy(alerts, groupKey),
): readonly AlertGroup<Alert>[] {
  const groups = [...byKey].map(([key, members]) => groupOf(key, members))
  return ordered(groups, ({ severity, isMixed, lastStartsAt, key }) => [
    -rank(severity),
    Number(isMixed),
    -lastStartsAt,
    key,
  ])
}

/** Returns the alerts that are alone in their group and were reported often enough to have ended in between. */
export function mayFlap(groups: readonly Pick<AlertGroup, 'count' | 'seen' | 'members'>[]): readonly string[] {
  const alone = groups.flatMap(({ count, seen, members: [only] }) => (only && count === 1 && seen > 1 ? [only.id] : []))
  return alone.slice(0, MAX_FLAPPING)
}

/** Returns for how long a group has been firing until `to`, without its gaps, in milliseconds. */
export function firingMs({ firstStartsAt, gaps }: Pick<AlertGroup, 'firstStartsAt' | 'gaps'>, to: number): number {
  return to - firstStartsAt - gaps.reduce((sum, [from, until]) => sum + until - from, 0)
}

/** Adds the gaps that the events of alerts show, by the id of the alert. */
export function withGaps<Group extends Pick<AlertGroup, 'gaps' | 'count' | 'members'>>(
  groups: readonly Group[],
  found: ReadonlyMap<string, readonly Gap[]>,
): readonly Group[] {
  return groups.map((group) => {
    const gaps = group.count === 1 ? found.get(group.members[0]?.id ?? '') : undefined
    return gaps && gaps.length > 0 ? { ...group, gaps } : group
  })
}

/** Keeps only the newest members of a group. */
export function shortGroup<Alert extends GroupedAlert & { readonly silencedBy: readonly string[] }>(
  group: AlertGroup<Alert>,
): ShortGroup<Alert> {
  const silenced = group.members.filter(({ status, silencedBy }) => status === 'firing' && silencedBy.length > 0)
  const silencedBy = silenced.map((member) => member.silencedBy)
  return { ...group, members: group.members.slice(0, MAX_MEMBERS), silencedBy }
}

/** Returns the key that similar alerts have in common: service, name, source and severity. */
export function groupKey(alert: Pick<GroupedAlert, 'serviceId' | 'name' | 'source' | 'severity'>): string {
  return JSON.stringify([alert.serviceId, alert.name, alert.source, alert.severity])
}

/**
 * Returns an incident's alerts by group. If there are more than 100 groups, only the most severe and largest 100 remain
 * separate. All other alerts with the same service, source and severity form one mixed group.
 */
export function groupForIncident<Alert extends Parameters<typeof groupKey>[0] & Pick<GroupedAlert, 'startsAt'>>(
  alerts: readonly Alert[],
): ReadonlyMap<string, readonly Alert[]> {
  const groups = Map.groupBy(alerts, groupKey)
  if (groups.size <= MAX_GROUPS) return groups
  const separate = ordered([...groups], ([key, members]) => [
    -rank(members[0]?.severity ?? 'info'),
    -members.length,
    members.reduce((first, { startsAt }) => Math.min(first, startsAt), Number.POSITIVE_INFINITY),
    key,
  ]).slice(0, MAX_GROUPS)
  const listed = new Set(separate.flatMap(([, members]) => members))
  const others = alerts.filter((alert) => !listed.has(alert))
  return new Map([
    ...separate,
    ...Map.groupBy(others, ({ serviceId, source, severity }) => JSON.stringify([serviceId, null, source, severity])),
  ])
}

function groupOf<Alert extends GroupedAlert>(key: string, alerts: readonly Alert[]): AlertGroup<Alert> {
  const members = alerts.toSorted((a, b) => b.startsAt - a.startsAt || (a.id < b.id ? -1 : 1))
  const [newest] = members
  if (!newest) throw new RangeError('a group has at least one alert')
  const { source, severity, serviceId } = newest
  const isMixed = members.some(({ name }) => name !== newest.name)
  const name = isMixed ? 'Other alerts' : newest.name
  const firing = members.filter(({ status }) => status === 'firing').length
  const starts = members.map(({ startsAt }) => startsAt)
  const ends = members.flatMap(({ endsAt }) => endsAt ?? [])
  const endsAt = firing > 0 || ends.length === 0 ? null : ends.reduce((a, b) => Math.max(a, b))
  return {
    ...{ key, name, isMixed, source, severity, serviceId, members, count: members.length, starts, firing },
    seen: members.reduce((sum, { occurrences }) => sum + occurrences, 0),
    firstStartsAt: starts.at(-1) ?? newest.startsAt,
    lastStartsAt: newest.startsAt,
    gaps: gapsBetween(members),
    endsAt,
    isGuess: members.every((one) => one.endsAt !== endsAt || isGuessed(one.resolution ?? null)) && endsAt !== null,
    summary: isMixed ? joinNames(distinct(members.map((one) => one.name))) : summaryOf(members),
  }
}

/**
 * Returns text such as `More than 5 % of requests fail: 11 routes on 40 pods`, or just the newest summary if all labels
 * are equal.
 */
function summaryOf(members: readonly GroupedAlert[]): string {
  const summary = members[0]?.summary.replace(/\s+/g, ' ').trim() ?? ''
  const varies = variesText(members.map(({ labels }) => labels))
  if (varies === '') return summary
  const shared = members.every((member) => member.summary === members[0]?.summary)
  return shared && summary !== ''
    ? `${summary.replace(/[.:]$/, '')}: ${varies}`
    : summary === ''
      ? varies
      : `${summary.replace(/[.:]$/, '')} (one of ${varies})`
}

/**
 * Describes the labels that differ between similar alerts: `11 routes on 40 pods`. Names at most two labels, the one
 * with the fewest values first. Returns '' if all labels are equal.
 */
export function variesText(labels: readonly Labels[]): string {
  const values = new Map<string, { readonly first: string; readonly others: Set<string> }>()
  for (const one of labels) {
    // This loop is faster than Object.entries. A storm has thousands of alerts, and most of their labels are equal.
    for (const name in one) {
      const value = one[name] ?? ''
      const known = values.get(name)
      if (!known) values.set(name, { first: value, others: new Set() })
      else if (value !== known.first) known.others.add(value)
    }
  }
  const varying = [...values].flatMap(([name, { others }]) =>
    others.size === 0 || HIDDEN.has(name) ? [] : { name, size: others.size + 1 },
  )
  const [few, many] = ordered(varying, ({ name, size }) => [size, name]).slice(0, MAX_LABELS)
  if (!few) return ''
  return [few, ...(many ? [many] : [])].map(({ name, size }) => `${formatCount(size)} ${plural(name)}`).join(' on ')
}

/** `route` → `routes`, `address` → `addresses`, `query` → `queries`. Returns `values of NAME` for other names. */
function plural(name: string): string {
  if (!/^[a-z]+$/.test(name)) return `values of ${name}`
  if (/(?:s|x|ch|sh)$/.test(name)) return `${name}es`
  return /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`
}

// The gaps of a flapping alert: when it had ended and was to fire again.

/** From an end to the next start, as Unix times in milliseconds. */
export type Gap = readonly [from: number, to: number]

/** The maximum number of gaps that a picture shows. */
const MAX_GAPS = 100

type Period = { readonly startsAt: number; readonly endsAt: number | null }

/** Returns the times at which none of the alerts was firing, between the first start and the last. */
export function gapsBetween(alerts: readonly Period[]): readonly Gap[] {
  const runs = runsOf(alerts)
  const gaps = runs.slice(1).map(({ start }, index): Gap => [runs[index]?.end ?? start, start])
  return gaps.slice(-MAX_GAPS)
}

/** Returns the alerts by the periods without a gap in which at least one of them was firing, earliest first. */
export function runsOf<Alert extends Period>(alerts: readonly Alert[]) {
  const runs: { readonly start: number; end: number; readonly alerts: Alert[] }[] = []
  for (const alert of alerts.toSorted((a, b) => a.startsAt - b.startsAt)) {
    const end = alert.endsAt ?? Number.POSITIVE_INFINITY
    const last = runs.at(-1)
    if (!last || alert.startsAt > last.end) runs.push({ start: alert.startsAt, end, alerts: [alert] })
    else {
      last.end = Math.max(last.end, end)
      last.alerts.push(alert)
    }
  }
  return runs
}

/** Returns the gaps of one alert, from the events that reported it. */
export function gapsOfEvents(events: readonly { readonly kind: string; readonly at: number }[]): readonly Gap[] {
  const gaps: Gap[] = []
  let end: number | null = null
  for (const { kind, at } of events.toSorted((a, b) => a.at - b.at)) {
    if (kind === 'resolved') end ??= at
    else if (kind === 'firing' && end !== null) {
      if (at > end) gaps.push([end, at])
      end = null
    }
  }
  return gaps.slice(-MAX_GAPS)
}
