/** Finds an alert's node, and the node's own alerts, which may explain the alert. */
import type { ConditionOnNode, NodeTrouble } from '../domain/health/node-trouble.ts'
import type { Db } from './sqlite/open.ts'
import { uuidFromBytes, uuidOrNone } from './sqlite/uuid.ts'

/** Lists a node's alerts with severity error or critical that are firing or ended after `endedSince`. */
function listNodeTroubles(
  db: Db,
  organizationId: number,
  { cluster, node, endedSince }: { readonly cluster: string; readonly node: string; readonly endedSince: number },
): NodeTrouble[] {
  const rows = db.sql
    .selectFrom('services')
    .innerJoin('alerts', 'alerts.service_id', 'services.id')
    .where('alerts.settled_at', 'is', null)
    .select(['alerts.starts_at as startsAt', 'alerts.ends_at as endsAt'])
    .where('services.organization_id', '=', organizationId)
    .where('services.cluster', '=', cluster)
    .where('services.namespace', '=', '')
    .where('services.name', '=', `node/${node}`)
    .where((eb) => eb.or([eb('alerts.ends_at', 'is', null), eb('alerts.ends_at', '>', endedSince)]))
    .where('alerts.severity', 'in', ['critical', 'error'])
  return db.all(rows).map((times) => ({ node, ...times }))
}

export type AlertOnNode = {
  readonly alert: ConditionOnNode
  readonly nodeServiceId: string | null
  readonly troubles: readonly NodeTrouble[]
}

/** Finds an alert, its node, and the node's alerts. Returns null if the organization has no such alert. */
export function findAlertOnNode(db: Db, organizationId: number, id: string): AlertOnNode | null {
  const row = db.first(
    db.sql
      .selectFrom('alerts')
      .innerJoin('services', 'services.id', 'alerts.service_id')
      .select(['alerts.source', 'alerts.name', 'alerts.severity', 'alerts.status', 'alerts.failure', 'alerts.node'])
      .select(['starts_at as startsAt', 'ends_at as endsAt', 'last_seen_at as lastSeenAt', 'received_at as receivedAt'])
      .select(['services.name as service', 'services.cluster'])
      .where('alerts.organization_id', '=', organizationId)
      .where('alerts.uuid', '=', uuidOrNone(id)),
  )
  if (!row) return null
  const { cluster, service, ...alert } = row
  const name = `node/${alert.node}`
  if (alert.node === null || service === name)
    return { alert: { ...alert, uuid: id }, nodeServiceId: null, troubles: [] }
  const services = db.sql.selectFrom('services').where('organization_id', '=', organizationId)
  const nodes = services.where('cluster', '=', cluster).where('namespace', '=', '').where('name', '=', name)
  const node = db.first(nodes.select('uuid'))
  const troubles = listNodeTroubles(db, organizationId, { cluster, node: alert.node, endedSince: alert.startsAt })
  return { alert: { ...alert, uuid: id }, nodeServiceId: node ? uuidFromBytes(node.uuid) : null, troubles }
}
