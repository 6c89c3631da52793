/** The alerts of an incident, as its timeline and its postmortem need them. */
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'

/** Alike alerts share a row, so that a storm is read as a whole. */
const MAX_ALERTS = 20_000
const MAX_SEEN = 2_000
const MAX_OBJECTS = 100

const alerts = query<{ incidentId: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .innerJoin('services', 'services.id', 'alerts.service_id')
    .selectAll('alerts')
    .select(['services.uuid as serviceUuid', 'services.namespace', 'services.name as serviceName'])
    .where('incident_id', '=', hole('incidentId'))
    .orderBy('starts_at')
    .limit(MAX_ALERTS),
)

/** Returns the alerts of an incident with all that a postmortem says of them, oldest first. */
export function alertsOf(db: Db, incidentId: number) {
  return db.all(alerts, { incidentId }).map((row) => ({
    rowId: row.id,
    service: {
      rowId: row.service_id,
      uuid: uuidFromBytes(row.serviceUuid),
      namespace: row.namespace,
      name: row.serviceName,
    },
    uuid: uuidFromBytes(row.uuid),
    serviceId: uuidFromBytes(row.serviceUuid),
    lastSeenAt: row.last_seen_at,
    source: row.source,
    name: row.name,
    severity: row.severity,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    resolution: row.resolution,
    occurrences: row.occurrences,
    summary: row.summary,
    labels: JSON.parse(row.labels) as Record<string, string>,
    links: JSON.parse(row.links) as Record<string, string>,
    node: row.node,
    failure: row.failure,
    hint: (JSON.parse(row.annotations) as { hint?: string }).hint ?? null,
  }))
}

/** The columns that the timeline needs: a storm has thousands of alerts. */
const timelineAlerts = query<{ incidentId: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .innerJoin('services', 'services.id', 'alerts.service_id')
    .select(['alerts.uuid', 'alerts.name', 'source', 'severity', 'summary', 'labels', 'occurrences', 'service_id'])
    .select(['starts_at as startsAt', 'ends_at as endsAt', 'last_seen_at as lastSeenAt'])
    .select(['services.uuid as serviceUuid', 'services.namespace', 'services.name as serviceName'])
    .where('incident_id', '=', hole('incidentId'))
    .orderBy('starts_at')
    .limit(MAX_ALERTS),
)

/** Returns what the timeline needs of the alerts of an incident, oldest first. */
export function timelineAlertsOf(db: Db, incidentId: number) {
  return db
    .all(timelineAlerts, { incidentId })
    .map(({ uuid, labels, service_id: rowId, serviceUuid, namespace, serviceName, ...alert }) => ({
      ...alert,
      uuid: uuidFromBytes(uuid),
      serviceId: uuidFromBytes(serviceUuid),
      service: { rowId, uuid: uuidFromBytes(serviceUuid), namespace, name: serviceName },
      labels: JSON.parse(labels) as Record<string, string>,
    }))
}

const objects = query<{ alertId: number }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select('object')
    .where('alert_id', '=', hole('alertId'))
    .where('object', '!=', '')
    .orderBy('at', 'desc')
    .limit(MAX_SEEN),
)

/** Returns the objects of the newest events of an alert. */
export function objectsOf(db: Db, alertId: number): string[] {
  return [...new Set(db.all(objects, { alertId }).map(({ object }) => object))].slice(0, MAX_OBJECTS)
}
