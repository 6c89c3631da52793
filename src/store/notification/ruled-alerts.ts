/** Reads the alerts of an incident that the rules of channels are compared with. */
import { conditionOf } from '../../domain/incident/merge.ts'
import type { NotificationKind } from '../../domain/notification/kind.ts'
import type { RuledAlert } from '../../domain/notification/rule.ts'
import { loadServiceName } from '../service/services.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'

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

/** Returns the alerts that a message is about: if it names new conditions, only their alerts. */
export function alertsAbout<Alert extends RuledAlert & { readonly serviceId: number }>(
  db: Db,
  { kind, names, ownServiceId }: { kind: NotificationKind; names: readonly string[]; ownServiceId: number },
  alerts: readonly Alert[],
): readonly Alert[] {
  if (kind !== 'worse') return alerts
  return alerts.filter((one) => names.includes(conditionName(db, one.alertname, one.serviceId, ownServiceId)))
}

/** Returns the name of an alert's condition in an incident. @param ownServiceId the service of the incident */
export function conditionName(db: Db, name: string, serviceId: number, ownServiceId: number): string {
  return serviceId === ownServiceId ? name : conditionOf(name, loadServiceName(db, serviceId).name)
}
