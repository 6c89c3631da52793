/**
 * Loads the unresolved incidents for the overview. Also finds other affected services, and whether new alerts are still
 * arriving.
 */

import type { ShownService } from '../../actions/firing.ts'
import type { StatusChange } from '../../domain/health/strip.ts'
import { severeOf } from '../../domain/incident/lasted.ts'
import { problemAt } from '../../domain/incident/problem.ts'
import { beganText, type Cluster } from '../../domain/incident/storm.ts'
import { type Severity, worst } from '../../domain/severity.ts'
import { formatAgo, formatDuration, type Reader } from '../../domain/shown-time.ts'
import { countOf, formatCount, joinNames } from '../../domain/text.ts'
import { MINUTE } from '../../domain/units.ts'
import { findOpenIncidentCounts, type IncidentRecord } from '../../store/incident/incidents.ts'
import type { LanePicture } from '../drawing/lane-model.ts'
import { type IncidentBrief, incidentBrief } from '../incident/brief.ts'
import { incidentViewOf } from '../incident/data.ts'
import { incidentFacts, incidentPath } from '../incident/find.ts'
import { findClusters, inOrder, wentFirst } from '../incident/list/list-data.ts'
import type { IncidentHead } from '../incident/view.ts'
import { isolatedName } from '../kit/bidi.ts'
import type { Visit } from '../page.ts'
import type { OpenIncidentView, OverviewView, StormView } from './view.ts'

type NewestCritical = OverviewView['newestCritical']

const MAX_SHOWN = 8
const MAX_NAMES = 2

/**
 * Returns the unresolved incidents, most urgent first, with each group and storm as one. `hidden`: how many of `total`
 * are not shown. `states` contains the services' recent statuses. `hasPicture`: whether a first incident alone has a
 * picture.
 */
export async function openIncidents(
  visit: Visit,
  services: readonly ShownService[],
  states: ReadonlyMap<string, readonly StatusChange[]>,
  hasPicture: boolean,
): Promise<{
  readonly shown: readonly (OpenIncidentView | StormView)[]
  readonly total: number
  readonly hidden: number
  /** The incidents by the UUID of their service. */
  readonly ofServices: ReadonlyMap<string, readonly IncidentRecord[]>
}> {
  const [found, counts] = await Promise.all([findClusters(visit), visit.own.read(findOpenIncidentCounts)])
  const clusters = found.clusters.slice(0, MAX_SHOWN)
  // The report of a problem comes after its start.
  const ofServices = Map.groupBy(
    found.clusters.flatMap(({ members }) => members),
    ({ serviceId }) => serviceId,
  )
  const began = services.flatMap((service) => {
    const at = unhealthySince(service, states.get(service.id) ?? [])
    const known = (ofServices.get(service.id) ?? []).map(({ startedAt }) => startedAt)
    return at === null ? [] : [{ ...service, at: Math.min(at, ...known) }]
  })
  const shown = clusters.map(async (cluster, index) => {
    const { leader, members } = cluster
    const isAlone = members.length === 1
    const first = await openIncident(visit, leader, index === 0 && isAlone ? { began, hasPicture } : null)
    return isAlone ? first : stormView(cluster, first, services, visit.now)
  })
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return {
    ...{ shown: await Promise.all(shown), total, ofServices },
    hidden: total - clusters.reduce((sum, { members }) => sum + members.length, 0),
  }
}

type Began = readonly (ShownService & { readonly at: number })[]

/**
 * `first`: if the incident is the first one, the unhealthy services with the times when their problems started, and
 * whether the page has its picture.
 */
export async function openIncident(
  visit: Visit,
  incident: IncidentRecord,
  first: { readonly began: Began; readonly hasPicture: boolean } | null,
): Promise<OpenIncidentView> {
  const { groups, head, ...brief } = await incidentBrief(visit, incident)
  const others = new Set(groups.flatMap(({ serviceId }) => (serviceId === incident.serviceId ? [] : [serviceId])))
  return {
    ...{ incident: head, cause: brief.cause, firstAlertAt: brief.firstAlertAt, recovery: brief.recovery },
    ...{ told: brief.told, overdue: brief.overdue },
    picture: first?.hasPicture ? closeUp(await pictureOfIncident(visit, incident)) : null,
    facts: [
      ...(incident.alertCount === 0
        ? []
        : [{ text: countOf(incident.alertCount, 'alert'), href: `${head.href}#alerts` }]),
      ...(others.size === 0
        ? []
        : [{ text: `${countOf(others.size, 'other service')} too`, href: `${head.href}#affected` }]),
      ...(first === null ? [] : laterFacts(head, groups, first.began, visit.viewer)),
    ],
  }
}

async function pictureOfIncident(visit: Visit, incident: IncidentRecord): Promise<LanePicture> {
  const facts = await incidentFacts(visit, incident)
  return incidentViewOf(facts, visit.viewer, { range: '', order: '' }).picture
}

/** Returns the picture without the score. The period before the first change takes up little of the picture's width. */
function closeUp(picture: LanePicture): LanePicture {
  const { span, lead, firstAlertAt } = picture
  const start = lead?.from ?? firstAlertAt ?? span.from
  const from = Math.max(span.from, start - Math.max(MINUTE, (span.to - start) / 8))
  return { ...picture, score: null, span: { ...span, from } }
}

/** Returns when the newest alert started, and which services were reported unhealthy after the incident started. */
function laterFacts(
  incident: IncidentHead,
  groups: IncidentBrief['groups'],
  began: Began,
  reader: Reader,
): OpenIncidentView['facts'] {
  const newest = groups.reduce((last, { lastStartsAt }) => Math.max(last, lastStartsAt), incident.startedAt)
  const later = began
    .filter(({ id, at }) => `/services/${id}` !== incident.service.href && at >= incident.startedAt)
    .toSorted((a, b) => a.at - b.at)
  const named = later.length <= MAX_NAMES
  const names = named ? joinNames(later.map(({ name }) => isolatedName(name))) : countOf(later.length, 'other service')
  return [
    ...(incident.alertCount < 2
      ? []
      : [{ text: `the newest alert started ${formatAgo(newest, reader)}`, href: `${incident.href}#alerts` }]),
    ...(later.length === 0
      ? []
      : [{ text: `${names} ${later.length === 1 ? 'was' : 'were'} reported unhealthy later`, href: '#services' }]),
  ]
}

/** Returns when a service became unhealthy, or null if it is healthy or its statuses are unknown. */
export function unhealthySince(
  { status }: Pick<ShownService, 'status'>,
  states: readonly StatusChange[],
): number | null {
  if (status === 'healthy') return null
  const last = states.findLastIndex((one) => one.status === 'healthy' || one.status === 'unknown')
  return states[last + 1]?.at ?? null
}

/** Returns the service that became critical last. The state of a service can be older than the states that are read. */
export function newestCritical(
  critical: readonly ShownService[],
  states: ReadonlyMap<string, readonly StatusChange[]>,
): NewestCritical {
  const began = critical.flatMap(({ id }) => {
    const of = states.get(id) ?? []
    const at = of[of.findLastIndex(({ status }) => status !== 'critical') + 1]?.at
    return at === undefined ? [] : [{ id, at }]
  })
  return began.reduce<NewestCritical>((last, one) => (last && last.at >= one.at ? last : one), null)
}

/** The incident that began last, as in the bars. */
function newestOf(members: readonly IncidentRecord[]): StormView['newest'] {
  const one = members.reduce((newest, other) => (other.startedAt > newest.startedAt ? other : newest))
  return { href: incidentPath(one), at: one.startedAt }
}

const MAX_LISTED = 20
const MAX_BARS = 60

function stormView(
  cluster: Cluster<IncidentRecord>,
  first: OpenIncidentView,
  services: readonly ShownService[],
  now: number,
): StormView {
  const names = new Map(services.map(({ id, namespace, name }) => [id, { namespace, name }]))
  const members = inOrder(cluster)
  // What went first can have recovered while the others go on.
  const burning = members.filter(({ problem }) => problemAt(problem, now) === 'on')
  const counted = (burning.length > 0 ? burning : members).map((one) => severeOf(one, now))
  const severity = counted.map((one) => one.severity).reduce<Severity>(worst, 'info')
  const lengths = counted.flatMap((one) => (one.severity === severity ? one.ms : []))
  const text = `${formatCount(lengths.length)} ${severity}`
  const upTo = burning.length > 0 ? ` for up to ${formatDuration(Math.max(...lengths))}` : ''
  const isLed = cluster.cause !== null && (first.incident.endedAt === null || burning.length === 0)
  return {
    ...{ isLed, worst: { severity, text: text + upTo }, began: beganText(members) },
    ...{ first, cause: cluster.cause, members: members.map(({ number }) => number), wentFirst: wentFirst(cluster) },
    shown: members.slice(0, MAX_LISTED).map((incident) => ({
      ...{ href: incidentPath(incident), severity: incident.severity, status: incident.status },
      service: {
        ...(names.get(incident.serviceId) ?? { namespace: '', name: 'unknown service' }),
        href: `/services/${incident.serviceId}`,
      },
    })),
    unowned: members.flatMap(({ status, number }) => (status === 'open' ? [number] : [])),
    owned: members.filter(({ acknowledgedAt }) => acknowledgedAt !== null).length,
    followers: new Set(members.map(({ serviceId }) => serviceId)).size - 1,
    alerts: members.reduce((sum, { alertCount }) => sum + alertCount, 0),
    newest: newestOf(members),
    bars: barsOf(
      members.map(({ startedAt }) => startedAt),
      now,
    ),
  }
}

/** Counts starts in periods of whole minutes. `starts` are in order. */
function barsOf(starts: readonly number[], now: number): StormView['bars'] {
  const from = starts[0] ?? now
  const ms = MINUTE * Math.max(1, Math.ceil((now - from) / MINUTE / MAX_BARS))
  const counts: number[] = Array(Math.max(1, Math.ceil((now - from) / ms))).fill(0)
  for (const at of starts) {
    const index = Math.min(counts.length - 1, Math.floor((at - from) / ms))
    counts[index] = (counts[index] ?? 0) + 1
  }
  return { ms, counts }
}
