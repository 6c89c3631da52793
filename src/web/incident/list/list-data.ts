/** Loads one page of the list of incidents. */
import { INCIDENT_STATUSES, type IncidentStatus } from '../../../domain/incident/incident.ts'
import { mostUrgentFirst } from '../../../domain/incident/urgency.ts'
import { findGroups } from '../../../store/incident/groups.ts'
import { listIncidents, listUnresolvedIncidents } from '../../../store/incident/incidents.ts'
import { findFrame, findServices } from '../../../store/views.ts'
import type { Visit } from '../../page.ts'
import { headOf } from '../data.ts'
import { incidentLink } from '../find.ts'

const LIMIT = 50
/** The maximum number of unresolved incidents in the list. */
const MAX_UNRESOLVED = 10_000

type Wanted = { readonly status: IncidentStatus | 'all'; readonly service: string; readonly page: number }

/** Finds one page of incidents: first the unresolved ones, the most urgent first, then the resolved ones, newest first. */
export async function findListed(visit: Visit, { status, service: id, page }: Wanted) {
  const { store, visitor, viewer, now } = visit
  const { organizationId } = visitor
  const service = id === '' ? undefined : (await store.read(findServices, organizationId, [id], now)).get(id)
  const ofService = service ? { serviceId: service.id } : {}
  const all = await store.read(listUnresolvedIncidents, organizationId, MAX_UNRESOLVED)
  const unresolved = mostUrgentFirst(service ? all.filter((one) => one.serviceId === service.id) : all, now)
  const wanted = status === 'all' ? unresolved : unresolved.filter((one) => one.status === status)
  const start = (page - 1) * LIMIT
  const first = wanted.slice(start, start + LIMIT)
  const filter = { status: 'resolved' as const, ...ofService }
  // The resolved incidents follow the unresolved ones, so their part of this page can begin on one of their own pages
  // and end on the next.
  const skip = Math.max(0, start - wanted.length)
  const before = Math.floor(skip / LIMIT)
  const read = (number: number) => store.read(listIncidents, organizationId, filter, { page: number, limit: LIMIT })
  const own = await read(before + 1)
  const withResolved = status === 'all' || status === 'resolved'
  const next = withResolved && skip % LIMIT > 0 ? (await read(before + 2)).items : []
  const rest = withResolved ? [...own.items, ...next].slice(skip % LIMIT, (skip % LIMIT) + LIMIT - first.length) : []
  const items = [...first, ...rest]
  const services = await store.read(
    findServices,
    organizationId,
    items.map(({ serviceId }) => serviceId),
    now,
  )
  const { openIncidents } = await store.read(findFrame, organizationId)
  const groups = await store.read(findGroups, organizationId)
  return {
    ...{ service, page, unresolved: openIncidents },
    counts: countsOf(unresolved, own.total),
    pages: Math.ceil((wanted.length + (withResolved ? own.total : 0)) / LIMIT),
    incidents: items.map((incident) => ({
      cause: groups.get(incident.id)?.cause ?? null,
      ...headOf(
        { incident, service: services.get(incident.serviceId), timeline: [], ...incidentLink(incident) },
        viewer,
      ),
    })),
  }
}

function countsOf(unresolved: readonly { readonly status: IncidentStatus }[], resolved: number) {
  const counts = Object.fromEntries(
    INCIDENT_STATUSES.map((status) => [status, unresolved.filter((one) => one.status === status).length]),
  ) as Record<IncidentStatus, number>
  return { ...counts, resolved, all: unresolved.length + resolved }
}
