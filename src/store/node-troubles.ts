/** Finds an alert's node, and the node's own alerts, which may explain the alert. */
import type { ConditionOnNode, NodeTrouble } from '../domain/health/node-trouble.ts'
import type { Db } from './sqlite/open.ts'
import { listed, query } from './sqlite/query.ts'
import { uuidFromBytes, uuidToBytes } from './sqlite/uuid.ts'

/** Lists node alerts with severity error or critical that are firing or ended after `endedSince`. */
function listNodeTroubles(
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
      .innerJoin('alerts', 'alerts.service_id', 'services.id')
      .where('alerts.settled_at', 'is', null)
      .select(['services.name', 'alerts.starts_at as startsAt', 'alerts.ends_at as endsAt'])
      .where('services.organization_id', '=', organizationId)
      .where('services.cluster', '=', cluster)
      .where('services.namespace', '=', '')
      // One parameter holds all names, because SQLite limits the number of parameters.
      .where('services.name', 'in', listed<string>(names))
      .where((eb) => eb.or([eb('alerts.ends_at', 'is', null), eb('alerts.ends_at', '>', endedSince)]))
      .where('alerts.severity', 'in', ['critical', 'error']),
  )
  return rows.map(({ name, ...times }) => ({ node: name.slice('node/'.length), ...times }))
}

export type AlertOnNode = {
  readonly alert: ConditionOnNode
  readonly nodeServiceId: string | null
  readonly troubles: readonly NodeTrouble[]
}

/** Finds an alert, its node, and the node's alerts. Returns null if the organization has no such alert. */
export function findAlertOnNode(db: Db, organizationId: number, id: string): AlertOnNode | null {
  const bytes = uuidToBytes(id)
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
  if (alert.node === null || service === name)
    return { alert: { ...alert, uuid: id }, nodeServiceId: null, troubles: [] }
  const node = db.first(byName, { organizationId, cluster, name })
  const troubles = listNodeTroubles(db, organizationId, cluster, [alert.node], alert.startsAt)
  return { alert: { ...alert, uuid: id }, nodeServiceId: node ? uuidFromBytes(node.uuid) : null, troubles }
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
