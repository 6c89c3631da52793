/**
 * Components that can be at fault: services, nodes and namespaces.
 */

import { isUnattributed } from '../alert/signal.ts'
import { isNodeService } from '../service/node.ts'
import type { SuspectFacts, SuspectService } from './suspect.ts'

export type Components = {
  readonly byId: ReadonlyMap<string, SuspectService>
  readonly byName: ReadonlyMap<string, readonly SuspectService[]>
}

/** Indexes services by UUID and by name. */
export function componentsOf({ services }: Pick<SuspectFacts, 'services'>): Components {
  const byName = Map.groupBy(services, ({ name }) => name)
  return { byId: new Map(services.map((service) => [service.id, service])), byName }
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
