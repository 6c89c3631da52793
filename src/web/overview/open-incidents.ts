/**
 * Loads the unresolved incidents for the overview. Also finds other affected services, and whether new alerts are still
 * arriving.
 */

import type { StatusChange } from '../../domain/health/strip.ts'
import { problemAt } from '../../domain/incident/problem.ts'
import { type Cluster, clustersOf } from '../../domain/incident/storm.ts'
import { mostUrgentFirst } from '../../domain/incident/urgency.ts'
import { formatAgo, type Reader } from '../../domain/shown-time.ts'
import { countOf, joinNames } from '../../domain/text.ts'
import { MINUTE } from '../../domain/units.ts'
import { findGroups } from '../../store/incident/groups.ts'
import { findOpenIncidentCounts, type IncidentRecord, listUnresolvedIncidents } from '../../store/incident/incidents.ts'
import type { ServiceRecord } from '../../store/service/services.ts'
import type { LanePicture } from '../drawing/lane-model.ts'
import { firstAlertOf, type IncidentFacts, incidentViewOf } from '../incident/data.ts'
import { incidentFacts, incidentPath } from '../incident/find.ts'
import { recoveryOf } from '../incident/recovery.ts'
import { isolatedName } from '../kit/bidi.ts'
import type { Visit } from '../page.ts'
import type { OpenIncidentView, StormView } from './view.ts'

const MAX_SHOWN = 8
/** The maximum number of incidents to sort. More incidents are only counted. */
const MAX_ORDERED = 1_000
const MAX_NAMES = 2

/**
 * Returns the unresolved incidents, most urgent first, with each group and storm as one. `hidden`: how many of `total` are not
 * shown. `states` contains the services' recent statuses.
 */
export async function openIncidents(
  visit: Visit,
  services: readonly ServiceRecord[],
  states: ReadonlyMap<string, readonly StatusChange[]>,
): Promise<{
  readonly shown: readonly (OpenIncidentView | StormView)[]
  readonly total: number
  readonly hidden: number
}> {
  const { organizationId } = visit.visitor
  const [all, counts, groups] = await Promise.all([
    visit.store.read(listUnresolvedIncidents, organizationId, MAX_ORDERED),
    visit.store.read(findOpenIncidentCounts, organizationId),
    visit.store.read(findGroups, organizationId),
  ])
  const order = mostUrgentFirst(all, visit.now).map((one) => ({
    ...one,
    isOn: problemAt(one.problem, visit.now) === 'on',
  }))
  const clusters = clustersOf(order, groups).slice(0, MAX_SHOWN)
  const began = services.flatMap((service) => {
    const at = unhealthySince(service, states.get(service.id) ?? [])
    return at === null ? [] : [{ ...service, at }]
  })
  const shown = clusters.map(async (cluster, index) => {
    const facts = await incidentFacts(visit, cluster.leader)
    const first = await openIncident(visit, facts, index === 0 ? began : null)
    return cluster.members.length === 1 ? first : stormView(cluster, first, services, visit.now)
  })
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return {
    shown: await Promise.all(shown),
    total,
    hidden: total - clusters.reduce((sum, { members }) => sum + members.length, 0),
  }
}

type Began = readonly (ServiceRecord & { readonly at: number })[]

/**
 * `began` lists the unhealthy services and when their problems started. For all incidents except the first, `began` is
 * null.
 */
async function openIncident(visit: Visit, facts: IncidentFacts, began: Began | null): Promise<OpenIncidentView> {
  const { incident } = facts
  const reader = visit.viewer
  const view = incidentViewOf(facts, reader, { range: '', order: '' })
  const alerts = countOf(incident.alertCount, 'alert')
  const others = new Set(facts.groups.flatMap(({ serviceId }) => (serviceId === incident.serviceId ? [] : [serviceId])))
  return {
    ...{ incident: view.incident, cause: view.cause, firstAlertAt: firstAlertOf(facts) },
    picture: began && closeUp(view.picture),
    facts: [
      alerts,
      ...(others.size === 0 ? [] : [`${countOf(others.size, 'other service')} too`]),
      ...(began === null ? [] : laterFacts(facts, began, reader)),
    ],
    recovery: await recoveryOf(visit, facts, view),
  }
}

/** Returns the picture without the score. The period before the first change takes up little of the picture's width. */
function closeUp(picture: LanePicture): LanePicture {
  const { span, lead, firstAlertAt } = picture
  const start = lead?.from ?? firstAlertAt ?? span.from
  const from = Math.max(span.from, start - Math.max(MINUTE, (span.to - start) / 8))
  return { ...picture, score: null, span: { ...span, from } }
}

/** Returns when the newest alert started, and which services were reported unhealthy after the incident started. */
function laterFacts({ incident, groups }: IncidentFacts, began: Began, reader: Reader): readonly string[] {
  const newest = groups.reduce((last, { lastStartsAt }) => Math.max(last, lastStartsAt), incident.startedAt)
  const later = began
    .filter(({ id, at }) => id !== incident.serviceId && at >= incident.startedAt)
    .toSorted((a, b) => a.at - b.at)
  const named = later.length <= MAX_NAMES
  const names = named ? joinNames(later.map(({ name }) => isolatedName(name))) : countOf(later.length, 'other service')
  return [
    ...(incident.alertCount < 2 ? [] : [`the newest alert started ${formatAgo(newest, reader)}`]),
    ...(later.length === 0 ? [] : [`${names} ${later.length === 1 ? 'was' : 'were'} reported unhealthy later`]),
  ]
}

/** Returns when a service became unhealthy, or null if it is healthy or its statuses are unknown. */
export function unhealthySince(
  { status }: Pick<ServiceRecord, 'status'>,
  states: readonly StatusChange[],
): number | null {
  if (status === 'healthy') return null
  const last = states.findLastIndex((one) => one.status === 'healthy' || one.status === 'unknown')
  return states[last + 1]?.at ?? null
}

const MAX_LISTED = 30
const MAX_BARS = 60

function stormView(
  { leader, cause, members }: Cluster<IncidentRecord>,
  first: OpenIncidentView,
  services: readonly ServiceRecord[],
  now: number,
): StormView {
  const names = new Map(services.map(({ id, namespace, name }) => [id, { namespace, name }]))
  const inOrder = members.toSorted((a, b) => a.startedAt - b.startedAt || a.number - b.number)
  return {
    ...{ first, cause, members: inOrder.map(({ number }) => number) },
    shown: inOrder.slice(0, MAX_LISTED).map((incident) => ({
      ...{ href: incidentPath(incident), severity: incident.severity, status: incident.status },
      service: {
        ...(names.get(incident.serviceId) ?? { namespace: '', name: 'unknown service' }),
        href: `/services/${incident.serviceId}`,
      },
    })),
    unowned: inOrder.flatMap(({ status, number }) => (status === 'open' ? [number] : [])),
    wentFirst: inOrder.every(({ startedAt }) => startedAt >= leader.startedAt),
    followers: new Set(inOrder.map(({ serviceId }) => serviceId)).size - 1,
    alerts: inOrder.reduce((sum, { alertCount }) => sum + alertCount, 0),
    newestAt: Math.max(...inOrder.map(({ createdAt }) => createdAt)),
    bars: barsOf(
      inOrder.map(({ startedAt }) => startedAt),
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
