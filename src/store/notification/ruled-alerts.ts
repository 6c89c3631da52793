/** Reads the alerts of an incident that the rules of channels are compared with. */

import { type InferResult, type Kysely, sql } from 'kysely'
import { differenceOf } from '../../domain/alert/signal.ts'
import type { Labels } from '../../domain/event/event.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { type NotificationKind, OVER, REMINDERS } from '../../domain/notification/kind.ts'
import type { RuledAlert } from '../../domain/notification/rule.ts'
import { conditionOf, isConditionOf } from '../../domain/text.ts'
import { loadServiceName } from '../service/services.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, query } from '../sqlite/query.ts'
import type { Schema } from '../sqlite/schema/schema.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'

/** Lists up to 500 alerts of an incident, firing ones first. */
export function listRuledAlerts(
  db: Db,
  incidentId: number,
): (RuledAlert & { readonly serviceId: number; readonly endsAt: number | null })[] {
  return db.all(ruled, { incidentId }).map(({ labels, ...alert }) => ({ ...alert, labels: JSON.parse(labels) }))
}

// The index on the incident returns firing alerts first.
const ruled = query<{ incidentId: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .select(['source', 'severity', 'name as alertname', 'labels', 'service_id as serviceId', 'ends_at as endsAt'])
    .where('incident_id', '=', hole('incidentId'))
    .orderBy('ends_at')
    .limit(500),
)

/**
 * Lists the critical alerts among those given that are about something else than the others of their condition: those that
 * fire or, if none does, those that have ended. While somebody works on the incident, another machine is something else.
 */
export function listAlike(db: Db, incident: LiveIncident, alertIds: readonly number[]) {
  const { rowId: incidentId, serviceId, problem, acknowledgedAt } = incident
  const toAlike = ({ uuid, labels, ...one }: InferResult<ReturnType<typeof critical>>[number]) => {
    const condition = conditionName(db, one.alertname, one.serviceId, serviceId)
    return { ...one, id: uuidFromBytes(uuid), condition, labels: JSON.parse(labels) as Labels }
  }
  const given = db.all(joined, { alertIds: JSON.stringify(alertIds) }).map(toAlike)
  const fresh = given.filter((one) => problem.firing.includes(one.condition))
  if (fresh.length === 0) return []
  const others = db.all(alike, { incidentId }).filter(({ rowId }) => !alertIds.includes(rowId))
  const known = Map.groupBy(others.map(toAlike), ({ condition }) => condition)
  return fresh.filter(({ condition, labels }) => {
    const { true: firing, false: ended = [] } = Object.groupBy(
      known.get(condition) ?? [],
      (one) => `${one.endsAt === null}`,
    )
    const compared = (firing ?? ended).map((one) => one.labels)
    return differenceOf(labels, compared, acknowledgedAt !== null) !== ''
  })
}

const critical = (of: Kysely<Schema>) =>
  of
    .selectFrom('alerts')
    .select(['id as rowId', 'uuid', 'source', 'severity', 'name as alertname', 'labels', 'ends_at as endsAt'])
    .select('service_id as serviceId')
    .where('severity', '=', 'critical')
    .where('source', 'in', ['metrics', 'dashboard'])

const joined = query<{ alertIds: string }>()((of, hole) =>
  critical(of)
    .where('id', 'in', listed(hole('alertIds')))
    .where('ends_at', 'is', null)
    .where(sql<boolean>`NOT EXISTS (SELECT 1 FROM silenced_alerts WHERE alert_id = alerts.id)`),
)

// The index on the incident returns firing alerts first.
const alike = query<{ incidentId: number }>()((of, hole) =>
  critical(of).where('incident_id', '=', hole('incidentId')).orderBy('ends_at').limit(100),
)

/** Returns the alerts that a message is about: if it names new conditions, only their alerts; a reminder, only what fires. */
export function alertsAbout<
  Alert extends Pick<RuledAlert, 'alertname'> & { readonly serviceId: number; readonly endsAt: number | null },
>(
  db: Db,
  { kind, names, ownServiceId }: { kind: NotificationKind; names: readonly string[]; ownServiceId: number },
  alerts: readonly Alert[],
): readonly Alert[] {
  const firing = REMINDERS.has(kind) ? alerts.filter(({ endsAt }) => endsAt === null) : []
  if (kind !== 'worse') return firing.length > 0 ? firing : alerts
  return alerts.filter((one) => names.includes(conditionName(db, one.alertname, one.serviceId, ownServiceId)))
}

/** Returns the name of an alert's condition in an incident. @param ownServiceId the service of the incident */
export function conditionName(db: Db, name: string, serviceId: number, ownServiceId: number): string {
  if (serviceId === ownServiceId) return name
  return conditionOf(name, loadServiceName(db, serviceId), loadServiceName(db, ownServiceId))
}

/**
 * Lists the services of what was merged into an incident and what the message is about: if it names new conditions, only
 * theirs, and unless it is about an end, only while a condition of theirs goes on.
 */
export function listMergedServices(
  db: Db,
  about: {
    readonly incident: Pick<LiveIncident, 'problem'>
    readonly kind: NotificationKind
    readonly names: readonly string[]
  },
) {
  const { merged, firing } = about.incident.problem
  if (merged.length === 0) return []
  const { kind } = about
  const conditions = kind === 'worse' ? about.names : OVER.has(kind) ? null : firing
  const isAbout = (service: { namespace: string; name: string }) =>
    conditions === null || conditions.some((one) => isConditionOf(one, service))
  return db
    .all(servicesOf, { incidentIds: JSON.stringify(merged) })
    .filter(isAbout)
    .map(({ uuid, ...service }) => ({ id: uuidFromBytes(uuid), ...service }))
}

const servicesOf = query<{ incidentIds: string }>()((sql, hole) =>
  sql
    .selectFrom('incidents')
    .innerJoin('services', 'services.id', 'incidents.service_id')
    .select(['services.uuid', 'services.name', 'services.namespace'])
    .where('incidents.id', 'in', listed(hole('incidentIds'))),
)
