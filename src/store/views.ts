/**
 * Reads records from several tables for one page or response. Each function uses one transaction, so the records are
 * consistent.
 */
import type { Change } from '../domain/correlation/change.ts'
import { rolloutsOf } from '../domain/correlation/rollout.ts'
import { AT_ONCE_WITHIN } from '../domain/notification/schedule.ts'
import { type AlertRecord, findAlert, listRecentAlerts } from './alerts.ts'
import { countLinks, listCorrelationsOfIncident } from './correlation/correlations.ts'
import { listScalings } from './correlation/links.ts'
import { findLastGoodDeploy, listPipelinesNear, listPipelinesOfOrganization } from './correlation/pipelines.ts'
import { listEventsOfAlert } from './events.ts'
import { listNewestOfIncident } from './history/alert-search.ts'
import { findGraph } from './incident/graphs.ts'
import {
  findIncident,
  findOpenIncidentCounts,
  type IncidentRecord,
  listOpenIncidents,
  listResolvedEarly,
} from './incident/incidents.ts'
import { findAlertOnNode } from './node-troubles.ts'
import { listRecipients } from './notification/channels.ts'
import { listSent } from './notification/outbox.ts'
import { findOrganization } from './organizations.ts'
import type { TimeSpan } from './read.ts'
import { findPendingPrune } from './retention/pruning.ts'
import { listSenders } from './senders.ts'
import {
  findService,
  findServiceRowId,
  findStatusCounts,
  listAliases,
  listHealth,
  listServices,
  type ServiceWithHealth,
} from './service/services.ts'
import { listStates, listStatesOfServices } from './service/states.ts'
import type { Db } from './sqlite/open.ts'
import { findSizes } from './sqlite/space.ts'

/**
 * Finds an alert, the alert's newest `limit` events, the problem of the alert's node, and the alert's graph. Returns
 * undefined if there is no such alert.
 */
export function findAlertView(db: Db, organizationId: number, id: string, limit: number) {
  const alert = findAlert(db, organizationId, id)
  if (!alert) return undefined
  const events = listEventsOfAlert(db, organizationId, id, limit)
  const graph = alert.incidentId === null ? null : findGraph(db, organizationId, alert.incidentId)
  return {
    ...{ alert, events, onNode: findAlertOnNode(db, organizationId, id) },
    graph: graph?.alertId === alert.id ? graph : null,
  }
}

/** Finds the services and incidents that alerts belong to, by id. */
export function findAlertTargets(
  db: Db,
  organizationId: number,
  alerts: readonly Pick<AlertRecord, 'serviceId' | 'incidentId'>[],
  now: number,
) {
  const serviceIds = alerts.map(({ serviceId }) => serviceId)
  const services = findServices(db, organizationId, serviceIds, now)
  const incidents = new Map<string, IncidentRecord>()
  for (const id of new Set(alerts.map(({ incidentId }) => incidentId))) {
    const incident = id === null ? undefined : findIncident(db, organizationId, id)
    if (incident) incidents.set(incident.id, incident)
  }
  return { services, incidents }
}

/** Finds services and their health, by id. */
export function findServices(
  db: Db,
  organizationId: number,
  ids: readonly string[],
  now: number,
): ReadonlyMap<string, ServiceWithHealth> {
  const found = [...new Set(ids)].flatMap((id) => findService(db, organizationId, id, now) ?? [])
  return new Map(found.map((service) => [service.id, service]))
}

/** Lists the `limit` newest alerts and the `limit` strongest links of an incident. */
export function findIncidentRecords(db: Db, organizationId: number, { rowId }: IncidentRecord, limit: number) {
  return {
    alerts: listNewestOfIncident(db, rowId, limit),
    links: listCorrelationsOfIncident(db, organizationId, rowId, limit),
  }
}

/**
 * Finds a service with its newest `limit` alerts, open incidents and aliases. Returns undefined if there is no such
 * service.
 */
export function findServiceRecords(db: Db, organizationId: number, id: string, now: number, limit: number) {
  const service = findService(db, organizationId, id, now)
  if (!service) return undefined
  return {
    service,
    alerts: listRecentAlerts(db, organizationId, id, limit),
    incidents: listOpenIncidents(db, organizationId, id),
    aliases: listAliases(db, organizationId, id),
  }
}

/**
 * Finds a service's pipelines and rollouts that started in a period, latest first, and the last good deploy before the
 * end of the period. Returns undefined if there is no such service.
 */
export function findServiceChanges(db: Db, organizationId: number, id: string, { from, to }: TimeSpan) {
  const service = findService(db, organizationId, id, to)
  const rowId = findServiceRowId(db, organizationId, id)
  if (!service || rowId === undefined) return undefined
  const rollouts = rolloutsOf(listScalings(db, rowId, to), service).filter(({ startsAt }) => startsAt >= from)
  const changes: readonly Change[] = [...listPipelinesNear(db, rowId, from, to), ...rollouts]
  return {
    service,
    changes: changes.toSorted((a, b) => b.startsAt - a.startsAt),
    lastGoodDeploy: findLastGoodDeploy(db, rowId, to),
  }
}

/**
 * Finds a service with its states and changes in a period, latest change first. Returns undefined if there is no such
 * service.
 */
export function findServiceView(db: Db, organizationId: number, id: string, span: TimeSpan) {
  const found = findServiceChanges(db, organizationId, id, span)
  return (
    found && {
      ...found,
      states: listStates(db, organizationId, id, span.from),
      incident: listOpenIncidents(db, organizationId, id).at(-1),
      aliases: listAliases(db, organizationId, id),
    }
  )
}

/** The maximum number of incidents that were resolved early. */
const MAX_EARLY = 60

/**
 * Lists the overview's services with their health, the incidents that were resolved early, and the pipelines in a period
 * with their links.
 */
export function findOverview(db: Db, organizationId: number, { from, to }: TimeSpan) {
  return {
    services: listServices(db, organizationId, to, false),
    health: listHealth(db, organizationId),
    resolvedEarly: listResolvedEarly(db, organizationId, MAX_EARLY),
    pipelines: listPipelinesOfOrganization(db, organizationId, from, to),
    links: countLinks(db, organizationId, from),
    failing: listRecipients(db, organizationId).filter(({ failing }) => failing !== null),
  }
}

/**
 * Finds the states since `from` and the last good deploy before `to` of services, by service UUID. The deploy can be
 * older than the states.
 */
export function findDetails(db: Db, organizationId: number, ids: readonly string[], { from, to }: TimeSpan) {
  const deploys = ids.flatMap((id) => {
    const rowId = findServiceRowId(db, organizationId, id)
    const deploy = rowId === undefined ? null : findLastGoodDeploy(db, rowId, to)
    return deploy ? [[id, deploy] as const] : []
  })
  return { states: listStatesOfServices(db, organizationId, ids, from), lastGoodDeploys: new Map(deploys) }
}

/**
 * Finds an organization, and the pruning that awaits confirmation. Returns undefined if there is no such organization.
 */
export function findOrganizationView(db: Db, organizationId: number) {
  const organization = findOrganization(db, organizationId)
  return organization && { organization, waiting: findPendingPrune(db, organizationId) }
}

/** Finds the data for the layout shared by all pages. */
export function findFrame(db: Db, organizationId: number) {
  return {
    organization: findOrganization(db, organizationId)?.name ?? '',
    openIncidents: Object.values(findOpenIncidentCounts(db, organizationId)).reduce((sum, count) => sum + count, 0),
    services: findStatusCounts(db, organizationId),
    failing: listRecipients(db, organizationId).filter(({ failing }) => failing !== null).length,
  }
}
export function findHasServices(db: Db, organizationId: number): boolean {
  const { healthy, degraded, critical } = findStatusCounts(db, organizationId)
  return healthy + degraded + critical > 0
}

/**
 * The maximum number of senders in the metrics. Senders choose their own names, and each name adds four time series, so
 * only the most recent senders are included.
 */
const MAX_SENDERS = { page: 1, limit: 500 }

/** Collects the figures for `/metrics` from the store. `messages`: of the busiest channel, in the last 30 seconds. */
export function findFigures(db: Db, organizationId: number, now: number) {
  const channels = listRecipients(db, organizationId)
  return {
    channels,
    messages: Math.max(0, ...channels.map(({ rowId }) => listSent(db, rowId, now - AT_ONCE_WITHIN).length)),
    sizes: findSizes(db),
    openIncidents: findOpenIncidentCounts(db, organizationId),
    senders: listSenders(db, organizationId, MAX_SENDERS).items,
  }
}
