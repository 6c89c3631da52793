/** Live services and their indexes: by UUID, key, name, namespace, and due time. */
import type { LiveService } from '../../domain/health/live-service.ts'
import { isNodeService } from '../../domain/service/node.ts'
import { type AliasRef, workloadName } from '../../domain/service/service.ts'
import { aliasKey, alikeKey, dueStep, namespaceKey, type OrganizationState, serviceKey } from './state.ts'

/** Adds a service and indexes it. */
export function putService(state: OrganizationState, service: LiveService): void {
  state.services.set(service.rowId, service)
  state.serviceById.set(service.id, service.rowId)
  state.serviceByKey.set(serviceKey(service), service.rowId)
  state.servicesByName.add(service.name, service.rowId)
  state.servicesByNamespace.add(namespaceKey(service), service.rowId)
  state.servicesAlike.add(alikeKey(service), service.rowId)
  indexNode(state, service)
  const step = dueStep(service.evaluateAt)
  if (step !== null) state.dueServices.add(step, service.rowId)
}

/** Adds an alias of a service. */
export function putAlias(state: OrganizationState, serviceId: number, { kind, value }: AliasRef): void {
  state.aliases.set(aliasKey({ kind, value }), serviceId)
  if (kind === 'workload') state.otherNames.add(serviceId, workloadName(value))
}

export function dropService(state: OrganizationState, service: LiveService): void {
  state.services.delete(service.rowId)
  state.serviceById.delete(service.id)
  state.serviceByKey.delete(serviceKey(service))
  state.servicesByName.remove(service.name, service.rowId)
  state.servicesByNamespace.remove(namespaceKey(service), service.rowId)
  state.servicesAlike.remove(alikeKey(service), service.rowId)
  state.nodesWithAlerts.remove(service.cluster, service.rowId)
  const step = dueStep(service.evaluateAt)
  if (step !== null) state.dueServices.remove(step, service.rowId)
}

/** Indexes the service of a node, if it has alerts. Called again when it gets its first alert or loses its last one. */
export function indexNode({ alertsOfService, nodesWithAlerts }: OrganizationState, service: LiveService): void {
  if (!isNodeService(service)) return
  if (alertsOfService.get(service.rowId).size > 0) nodesWithAlerts.add(service.cluster, service.rowId)
  else nodesWithAlerts.remove(service.cluster, service.rowId)
}

export function replaceService(state: OrganizationState, before: LiveService, after: LiveService): void {
  const isRenamed = before.name !== after.name || before.cluster !== after.cluster
  if (isRenamed || dueStep(before.evaluateAt) !== dueStep(after.evaluateAt)) {
    dropService(state, before)
    putService(state, after)
  } else state.services.set(after.rowId, after)
}
