/** Reads what the grouping of incidents needs: the unresolved incidents, their first alerts, and services in trouble. */
import { type IncidentGroup, incidentGroupsOf, LEAST_MEMBERS, type OpenIncident } from '../../domain/suspect/group.ts'
import { LIKELY } from '../../domain/suspect/likely-cause.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, query } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'

/** In a larger storm, only the newest incidents are grouped. */
const MAX_INCIDENTS = 500
const MAX_UNWELL = 1_000

/** Lists the groups of unresolved incidents with a common cause. */
export function listIncidentGroups(db: Db, organizationId: number): readonly IncidentGroup[] {
  const rows = db.all(unresolved, { organizationId })
  if (rows.length < LEAST_MEMBERS) return []
  const alerts = rows.map(({ rowId }) => db.all(firstAlerts, { incidentId: rowId }))
  const changes = likelyChanges(
    db,
    alerts.flat().map((alert) => alert.rowId),
  )
  const incidents = rows.map((row, index): OpenIncident => {
    const { uuid, createdAt, startedAt, cluster, namespace, name } = row
    const own = alerts[index] ?? []
    return {
      ...{ id: uuidFromBytes(uuid), createdAt, startedAt, service: { cluster, namespace, name } },
      alerts: own.map(({ text, labels, node }) => ({ text, labels: JSON.parse(labels), node })),
      change: own.flatMap((alert) => changes.get(alert.rowId) ?? [])[0] ?? null,
    }
  })
  const services = [...db.all(inTrouble, { organizationId }), ...incidents.map(({ service }) => service)]
  const places = new Map(services.map((one) => [JSON.stringify([one.cluster, one.namespace, one.name]), one]))
  return incidentGroupsOf(
    incidents,
    Map.groupBy(places.values(), ({ name }) => name.toLowerCase()),
  )
}

/** Returns the group of each grouped incident, by the id of the incident. */
export function findGroups(db: Db, organizationId: number): ReadonlyMap<string, IncidentGroup> {
  const groups = listIncidentGroups(db, organizationId)
  return new Map(groups.flatMap((group) => group.members.map((id) => [id, group] as const)))
}

/** Returns the group of one incident. */
export function findGroup(db: Db, organizationId: number, id: string): IncidentGroup | undefined {
  return findGroups(db, organizationId).get(id)
}

const unresolved = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('incidents')
    .innerJoin('services', 'services.id', 'incidents.service_id')
    .select(['incidents.id as rowId', 'incidents.uuid', 'incidents.created_at as createdAt'])
    .select(['started_at as startedAt', 'services.cluster', 'services.namespace', 'services.name'])
    .where('incidents.organization_id', '=', hole('organizationId'))
    .where('resolved_at', 'is', null)
    .where('cause', '=', 'service')
    .orderBy('incidents.id', 'desc')
    .limit(MAX_INCIDENTS),
)

/** The index on the incident returns firing alerts first, so no storm is read. */
const firstAlerts = query<{ incidentId: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .select(['id as rowId', 'summary as text', 'labels', 'node'])
    .where('incident_id', '=', hole('incidentId'))
    .orderBy('ends_at')
    .limit(8),
)

const inTrouble = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('services')
    .select(['cluster', 'namespace', 'name'])
    .where('organization_id', '=', hole('organizationId'))
    .where('status', 'in', ['critical', 'degraded'])
    .limit(MAX_UNWELL),
)

/** Returns the change that is likely to have caused each alert, by the row id of the alert. */
function likelyChanges(db: Db, alertIds: readonly number[]): ReadonlyMap<number, string> {
  const links = db.sql
    .selectFrom('correlations')
    .select(['alert_id as alertId', 'change_ref as ref'])
    .where('alert_id', 'in', listed(JSON.stringify(alertIds)))
    .where((eb) => eb.or([eb('verdict', '=', 'confirmed'), eb('score', '>=', LIKELY)]))
    .where((eb) => eb.or([eb('verdict', 'is', null), eb('verdict', '=', 'confirmed')]))
    .orderBy((eb) => eb.case().when('verdict', '=', 'confirmed').then(1).else(0).end())
    .orderBy('score')
    .orderBy('id', 'desc')
  // The last entry of an alert wins: the confirmed one, or the strongest.
  return new Map(db.all(links).map(({ alertId, ref }) => [alertId, ref]))
}
