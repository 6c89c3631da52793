/**
 * Components that can be at fault: services, nodes and namespaces. Also finds the component named in an alert's labels.
 */
import { isUnattributed } from '../alert/signal.ts'
import type { SuspectAlert, SuspectFacts, SuspectService } from './suspect.ts'

export type Components = {
  readonly byId: ReadonlyMap<string, SuspectService>
  readonly byName: ReadonlyMap<string, readonly SuspectService[]>
}

/**
 * Labels in a caller's alert that name the called service. Istio, Linkerd, Envoy, OpenTelemetry and others use these
 * labels.
 */
const CALLEE_LABELS = [
  ...['destination', 'destination_service_name', 'destination_service', 'destination_workload', 'destination_app'],
  ...['upstream', 'upstream_service', 'dependency', 'callee', 'target_service', 'peer_service', 'remote_service'],
  ...['dst', 'dst_service', 'dst_deployment', 'server', 'backend'],
]

/** Indexes services by UUID and by name. */
export function componentsOf({ services }: Pick<SuspectFacts, 'services'>): Components {
  const byName = new Map<string, SuspectService[]>()
  for (const service of services) {
    const same = byName.get(service.name)
    if (same) same.push(service)
    else byName.set(service.name, [service])
  }
  return { byId: new Map(services.map((service) => [service.id, service])), byName }
}

/**
 * Returns the component for a service: the service itself, or the node for `node/<name>`. Returns null for
 * `unattributed`.
 */
export function componentAt({ byId }: Components, id: string): string | null {
  const service = byId.get(id)
  if (!service || isUnattributed(service)) return null
  return isNode(service) ? service.name : service.id
}

export function isNode({ namespace, name }: SuspectService): boolean {
  return namespace === '' && name.startsWith('node/')
}

/** Returns the callee that the labels name, if it is a known service other than the alert's own. */
export function calledServiceOf(components: Components, alert: SuspectAlert): string | null {
  const own = components.byId.get(alert.service)
  if (!own) return null
  for (const label of CALLEE_LABELS) {
    const value = alert.labels[label]
    const named = value === undefined ? null : findCallee(components, own, value)
    if (named && named.id !== own.id) return named.id
  }
  return null
}

/** Finds a service by name in the caller's namespace, by `name.namespace`, or by name alone if the name is unique. */
function findCallee({ byName }: Components, own: SuspectService, value: string): SuspectService | null {
  const [name = '', namespace] = value.trim().replace(/:\d+$/, '').split('.')
  const same = (byName.get(name) ?? []).filter(
    ({ cluster }) => cluster === own.cluster || cluster === '' || own.cluster === '',
  )
  const near = same.filter((service) => service.namespace === (namespace ?? own.namespace))
  const found = near.length > 0 || namespace !== undefined ? near : same
  return found.length === 1 ? (found[0] ?? null) : null
}
