/** Conditions: what health and incidents read of a service's active alerts, and of the nodes they run on. */
import { sql } from 'kysely'
import { NO_EVIDENCE } from '../domain/alert/evidence.ts'
import type { NodeTrouble, Placed } from '../domain/health/node-trouble.ts'
import type { SituationAlert } from '../domain/incident/incident.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'
import { uuidFromBytes, uuidToBytes } from './sqlite/uuid.ts'

export type ConditionRow = SituationAlert & {
  readonly id: number
  readonly node: string | null
  readonly summary: string
}

const active = query<{ serviceId: number; endedSince: number }>()((sql, hole) =>
  sql
    .selectFrom('active_alerts')
    .innerJoin('alerts', 'alerts.id', 'active_alerts.alert_id')
    .select(['alerts.id', 'alerts.uuid', 'alerts.source', 'alerts.name', 'alerts.severity', 'alerts.status'])
    .leftJoin('incidents', 'incidents.id', 'alerts.incident_id')
    .select(['alerts.failure', 'alerts.node', 'alerts.summary', 'alerts.evidence', 'incidents.status as incident'])
    .select(['alerts.starts_at', 'alerts.ends_at', 'alerts.last_seen_at', 'active_alerts.heard_at'])
    .where('active_alerts.service_id', '=', hole('serviceId'))
    .where((eb) => eb.or([eb('alerts.ends_at', 'is', null), eb('alerts.ends_at', '>', hole('endedSince'))]))
    .orderBy('alerts.id'),
)

/** The alerts of a service that fire, or ended after `endedSince`. */
export function listConditions(db: Db, serviceId: number, endedSince: number): ConditionRow[] {
  return db.all(active, { serviceId, endedSince }).map((row) => ({
    id: row.id,
    uuid: uuidFromBytes(row.uuid),
    source: row.source,
    name: row.name,
    severity: row.severity,
    status: row.status,
    failure: row.failure,
    node: row.node,
    summary: row.summary,
    evidence: row.source === 'cluster' ? JSON.parse(row.evidence) : NO_EVIDENCE,
    // An alert that fires again after its incident was resolved is free to join the next.
    inIncident: row.incident !== null && row.incident !== 'resolved',
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    lastSeenAt: row.last_seen_at,
    heardAt: row.heard_at,
  }))
}

/** When the trouble of each of these nodes of a cluster began: the alerts of error or worse of `node/<name>` that fire, or ended after `endedSince`. */
export function listNodeTroubles(
  db: Db,
  organizationId: number,
  cluster: string,
  nodes: readonly string[],
  endedSince: number,
): NodeTrouble[] {
  if (nodes.length === 0) return []
  const names = JSON.stringify(nodes.map((node) => `node/${node}`))
  const rows = db.all(
    db.sql
      .selectFrom('services')
      .innerJoin('active_alerts', 'active_alerts.service_id', 'services.id')
      .innerJoin('alerts', 'alerts.id', 'active_alerts.alert_id')
      .select(['services.name', 'alerts.starts_at as startsAt'])
      .where('services.organization_id', '=', organizationId)
      .where('services.cluster', '=', cluster)
      .where('services.namespace', '=', '')
      // One parameter, however many nodes: a list of them could be longer than SQLite takes.
      .where('services.name', 'in', sql<string>`(SELECT value FROM json_each(${names}))`)
      .where((eb) => eb.or([eb('alerts.ends_at', 'is', null), eb('alerts.ends_at', '>', endedSince)]))
      .where('alerts.severity', 'in', ['critical', 'error']),
  )
  return rows.map(({ name, startsAt }) => ({ node: name.slice('node/'.length), startsAt }))
}

/** An alert with its node, and the troubles of that node around its start; null where there is none in the organization. */
export function findPlacedAlert(
  db: Db,
  organizationId: number,
  uuid: string,
): { readonly alert: Placed; readonly nodeServiceId: string | null; readonly troubles: readonly NodeTrouble[] } | null {
  const bytes = uuidToBytes(uuid)
  if (!bytes) return null
  const row = db.first(
    db.sql
      .selectFrom('alerts')
      .innerJoin('services', 'services.id', 'alerts.service_id')
      .select(['alerts.source', 'alerts.name', 'alerts.severity', 'alerts.status', 'alerts.failure', 'alerts.node'])
      .select(['starts_at as startsAt', 'ends_at as endsAt', 'last_seen_at as lastSeenAt', 'services.cluster'])
      .select('services.name as service')
      .where('alerts.organization_id', '=', organizationId)
      .where('alerts.uuid', '=', bytes),
  )
  if (!row) return null
  const { cluster, service, ...alert } = row
  const name = `node/${alert.node}`
  if (alert.node === null || service === name) return { alert: { ...alert, uuid }, nodeServiceId: null, troubles: [] }
  const node = db.first(byName, { organizationId, cluster, name })
  const troubles = listNodeTroubles(db, organizationId, cluster, [alert.node], alert.startsAt)
  return { alert: { ...alert, uuid }, nodeServiceId: node ? uuidFromBytes(node.uuid) : null, troubles }
}

const byName = query<{ organizationId: number; cluster: string; name: string }>()((sql, hole) =>
  sql
    .selectFrom('services')
    .select('uuid')
    .where('organization_id', '=', hole('organizationId'))
    .where('cluster', '=', hole('cluster'))
    .where('namespace', '=', '')
    .where('name', '=', hole('name')),
)

/** A rule may have seen a little earlier what events then tell. */
const EARLIER = 15 * 60_000

/**
 * Whether Alertmanager says that trouble of the service which began with the one of `startsAt`, or later, still fires.
 * A warning that has lasted for days is no sign that a hiccup of today goes on.
 */
export function hasFiringMetrics(db: Db, serviceId: number, startsAt: number): boolean {
  return db.first(firingMetrics, { serviceId, since: startsAt - EARLIER }) !== undefined
}

const firingMetrics = query<{ serviceId: number; since: number }>()((sql, hole) =>
  sql
    .selectFrom('active_alerts')
    .innerJoin('alerts', 'alerts.id', 'active_alerts.alert_id')
    .select('active_alerts.alert_id')
    .where('active_alerts.service_id', '=', hole('serviceId'))
    .where('active_alerts.source', '=', 'metrics')
    .where('active_alerts.ended_at', 'is', null)
    .where('alerts.starts_at', '>=', hole('since'))
    .where('alerts.severity', '!=', 'info')
    .limit(1),
)
