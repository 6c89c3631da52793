/**
 * Components that can be at fault: services, nodes and namespaces.
 */

import { isUnattributed } from '../alert/signal.ts'
import { areApart } from '../service/cluster.ts'
import { isNodeService } from '../service/node.ts'
import type { SuspectFacts, SuspectService } from './suspect.ts'

export type Components = {
  readonly byId: ReadonlyMap<string, SuspectService>
  readonly byName: ReadonlyMap<string, readonly SuspectService[]>
  /** The UUIDs of the services with an alert. */
  readonly unwell: ReadonlySet<string>
}

/** Indexes services by UUID and by name. */
export function componentsOf({ services, alerts }: Pick<SuspectFacts, 'services' | 'alerts'>): Components {
  const byName = Map.groupBy(services, ({ name }) => name)
  const byId = new Map(services.map((service) => [service.id, service]))
  return { byId, byName, unwell: new Set(alerts.map(({ service }) => service)) }
}

/**
 * Returns the component for a service: the service itself, or the node for `node/<name>`. Returns null for
 * `unattributed`.
 */
export function componentAt({ byId }: Components, id: string): string | null {
  const service = byId.get(id)
  if (!service || isUnattributed(service)) return null
  return isNodeService(service) ? service.name : service.id
}

/**
 * Drops what is known of the nodes of other clusters: their names repeat from cluster to cluster, and such a node runs
 * none of the incident's pods.
 */
export function withoutForeignNodes(facts: SuspectFacts): SuspectFacts {
  const { byId } = componentsOf(facts)
  const cluster = byId.get(facts.incident.service)?.cluster ?? ''
  const isForeign = (service: SuspectService | undefined) => areApart(service?.cluster ?? '', cluster)
  const isForeignNode = (service: SuspectService | undefined) =>
    service !== undefined && isForeign(service) && isNodeService(service)
  return {
    ...facts,
    services: facts.services.filter((service) => !isForeignNode(service)),
    alerts: facts.alerts
      .filter(({ service }) => !isForeignNode(byId.get(service)))
      .map((alert) => (alert.node !== null && isForeign(byId.get(alert.service)) ? { ...alert, node: null } : alert)),
    events: facts.events.filter(({ service }) => service === null || !isForeignNode(byId.get(service))),
  }
}
