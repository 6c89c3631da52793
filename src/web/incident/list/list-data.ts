/** Loads one page of the list of incidents. */
import { INCIDENT_STATUSES, type IncidentStatus } from '../../../domain/incident/incident.ts'
import { problemAt } from '../../../domain/incident/problem.ts'
import { beganText, type Cluster, clustersOf } from '../../../domain/incident/storm.ts'
import { mostUrgentFirst } from '../../../domain/incident/urgency.ts'
import { findGroups } from '../../../store/incident/groups.ts'
import { type IncidentRecord, listIncidents, listUnresolvedIncidents } from '../../../store/incident/incidents.ts'
import { findWhoWasTold } from '../../../store/incident/told-messages.ts'
import type { ServiceRecord } from '../../../store/service/services.ts'
import { findFrame, findServices } from '../../../store/views.ts'
import type { Visit } from '../../page.ts'
import { headOf, incidentBrief } from '../brief.ts'
import { incidentLink } from '../find.ts'

const LIMIT = 50
/** The maximum number of unresolved incidents whose likely cause is shown. */
const MAX_CAUSES = 20

type Wanted = { readonly status: IncidentStatus | 'all'; readonly service: string; readonly page: number }

/**
 * Finds one page of incidents: first the unresolved ones, the most urgent first, then the resolved ones, newest first.
 * Without a filter, a group or storm is one row.
 */
export async function findListed(visit: Visit, { status, service: id, page }: Wanted) {
  const { own, now } = visit
  const service = id === '' ? undefined : (await own.read(findServices, [id], now)).get(id)
  const { clusters, unresolved, groups } = await findClusters(visit)
  const ofService = service ? unresolved.filter((one) => one.serviceId === service.id) : unresolved
  const alone = (leader: IncidentRecord): Cluster<IncidentRecord> => ({ leader, cause: null, members: [leader] })
  const chosen = status === 'all' ? ofService : ofService.filter((one) => one.status === status)
  const wanted = status === 'all' && !service ? clusters : chosen.map(alone)
  const start = (page - 1) * LIMIT
  const first = wanted.slice(start, start + LIMIT)
  const resolved = await resolvedAfter(visit, service?.id, Math.max(0, start - wanted.length))
  const withResolved = status === 'all' || status === 'resolved'
  const shown = [...first, ...(withResolved ? resolved.items.slice(0, LIMIT - first.length).map(alone) : [])]
  const ids = shown.flatMap(({ members }) => members.map(({ serviceId }) => serviceId))
  const services = await own.read(findServices, ids, now)
  const { openIncidents } = await own.read(findFrame)
  // The problem of a resolved incident can go on.
  const onGoing = shown.filter(({ leader }) => leader.resolvedAt === null || problemAt(leader.problem, now) === 'on')
  const withCause = new Set(onGoing.slice(0, MAX_CAUSES))
  const onGoingIds = onGoing.map(({ leader }) => leader.rowId)
  const told = await own.read(findWhoWasTold, onGoingIds, now)
  return {
    ...{ service, page, unresolved: openIncidents },
    counts: countsOf(ofService, resolved.total),
    pages: Math.ceil((wanted.length + (withResolved ? resolved.total : 0)) / LIMIT),
    incidents: await Promise.all(
      shown.map(async (cluster) => ({
        cause: groups.get(cluster.leader.id)?.cause ?? null,
        told: told.get(cluster.leader.rowId) ?? null,
        brief: withCause.has(cluster) ? await incidentBrief(visit, cluster.leader) : null,
        ...listedHead(visit, cluster.leader, services),
        wentFirst: wentFirst(cluster),
        began: beganText(cluster.members),
        followers: inOrder(cluster).flatMap((one) =>
          one.id === cluster.leader.id ? [] : listedHead(visit, one, services),
        ),
      })),
    ),
  }
}

function listedHead({ viewer }: Visit, incident: IncidentRecord, services: ReadonlyMap<string, ServiceRecord>) {
  return headOf(
    { incident, service: services.get(incident.serviceId), timeline: [], ...incidentLink(incident) },
    viewer,
  )
}

/**
 * Reads the resolved incidents after the first `skip`. They follow the unresolved ones, so their part of a page can begin
 * on one of their own pages and end on the next.
 */
async function resolvedAfter({ own }: Visit, serviceId: string | undefined, skip: number) {
  const filter = { status: 'resolved' as const, ...(serviceId ? { serviceId } : {}) }
  const read = (page: number) => own.read(listIncidents, filter, { page, limit: LIMIT })
  const number = Math.floor(skip / LIMIT) + 1
  const first = await read(number)
  const next = skip % LIMIT > 0 ? (await read(number + 1)).items : []
  return { total: first.total, items: [...first.items, ...next].slice(skip % LIMIT) }
}

function countsOf(unresolved: readonly { readonly status: IncidentStatus }[], resolved: number) {
  const counts = Object.fromEntries(
    INCIDENT_STATUSES.map((status) => [status, unresolved.filter((one) => one.status === status).length]),
  ) as Record<IncidentStatus, number>
  return { ...counts, resolved, all: unresolved.length + resolved }
}

// Puts the unresolved incidents into the groups and storms that pages show as one.

/** The maximum number of incidents to sort. */
const MAX_ORDERED = 10_000

/** Returns the unresolved incidents, the most urgent first, and their groups and storms in the same order. */
export async function findClusters({ own, now }: Visit): Promise<{
  readonly unresolved: readonly IncidentRecord[]
  readonly clusters: readonly Cluster<IncidentRecord>[]
  /** The group of each grouped incident, by the id of the incident. */
  readonly groups: Awaited<ReturnType<typeof findGroups>>
}> {
  const [all, groups] = await Promise.all([own.read(listUnresolvedIncidents, MAX_ORDERED), own.read(findGroups)])
  const unresolved = mostUrgentFirst(all, now)
  const withState = unresolved.map((one) => ({ ...one, isOn: problemAt(one.problem, now) === 'on' }))
  return { unresolved, clusters: clustersOf(withState, groups), groups }
}

/** Returns the incidents of a group or storm in the order in which their problems began. */
export function inOrder({ members }: Cluster<IncidentRecord>): readonly IncidentRecord[] {
  return members.toSorted((a, b) => a.startedAt - b.startedAt || a.number - b.number)
}

/** Returns whether no other incident began before the leader. */
export function wentFirst({ leader, members }: Cluster<IncidentRecord>): boolean {
  return members.every(({ startedAt }) => startedAt >= leader.startedAt)
}
