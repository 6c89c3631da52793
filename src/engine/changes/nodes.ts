/** A node that fails or leaves: its incident owns the conditions of its pods, which end when the node leaves. */

import type { LiveAlert } from '../../domain/alert/live-alert.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import { lostNode, type NodeTrouble } from '../../domain/health/node-trouble.ts'
import { isNodeService, nodeNameOf, serviceOfNode } from '../../domain/service/node.ts'
import { rank } from '../../domain/severity.ts'
import type { Context } from '../state/context.ts'
import { namespaceKey, type OrganizationState } from '../state/state.ts'
import { findService, servicesIn } from './attribution.ts'
import { alertsOf, type Condition, isCurrent } from './conditions.ts'
import { addAlerts, oldestOpenIncident } from './incidents/incidents.ts'
import { makeDue } from './live-service.ts'

/** The maximum number of a condition's pods whose node is looked up, newest first. */
const MAX_PODS = 3

/**
 * Returns the problems of each node: alerts for `node/<name>` with severity error or critical that are firing or ended
 * after `endedSince`.
 */
export function nodeTroublesOf(
  state: OrganizationState,
  cluster: string,
  nodes: readonly string[],
  endedSince: number,
): NodeTrouble[] {
  return nodes.flatMap((node) => {
    const service = nodeService(state, cluster, node)
    const alerts = service ? alertsOf(state, service.rowId) : []
    return alerts
      .filter(({ alert }) => isCurrent(alert, endedSince) && rank(alert.severity) >= rank('error'))
      .map(({ alert: { startsAt, endsAt } }) => ({ node, startsAt, endsAt }))
  })
}

/** Returns the problems of all nodes of a cluster, as `nodeTroublesOf`. */
export function nodeTroublesIn(state: OrganizationState, cluster: string, endedSince: number): NodeTrouble[] {
  const names = [...new Set([cluster, ''])].flatMap((one) =>
    servicesIn(state, state.servicesByNamespace.get(namespaceKey({ cluster: one, namespace: '' })))
      .filter(isNodeService)
      .map(nodeNameOf),
  )
  return nodeTroublesOf(state, cluster, [...new Set(names)], endedSince)
}

/** Returns the service of a node, also without its cluster, because not every sender reports its cluster. */
function nodeService(state: OrganizationState, cluster: string, node: string): LiveService | null {
  const key = { namespace: '', name: serviceOfNode(node) }
  return findService(state, { cluster, ...key }) ?? findService(state, { cluster: '', ...key })
}

/**
 * Finds the nodes of pods whose conditions name none, if a node has a problem: the node on which the pod was last seen,
 * or else the only node that failed when Kubernetes said that the pod's node is lost.
 */
export function withNodes(
  ctx: Context,
  service: LiveService,
  conditions: readonly Condition[],
  endedSince: number,
): readonly Condition[] {
  if (isNodeService(service) || !conditions.some(lacksNode)) return conditions
  const troubles = nodeTroublesIn(ctx.state, service.cluster, endedSince)
  if (troubles.length === 0) return conditions
  return conditions.map((one) => (lacksNode(one) ? located(ctx, service, one, troubles) : one))
}

/** A pod that cannot be scheduled is on no node. */
function lacksNode({ source, status, node, failure, live }: Condition): boolean {
  return (
    source === 'cluster' &&
    status === 'firing' &&
    node === null &&
    failure !== 'scheduling' &&
    live.part?.kind === 'Pod'
  )
}

function located(ctx: Context, service: LiveService, one: Condition, troubles: readonly NodeTrouble[]): Condition {
  const pods = [...new Set(one.evidence.seen.map(([, pod]) => pod))].slice(-MAX_PODS)
  const known = pods.map((pod) => ctx.fact('nodeOfPod', { serviceId: service.rowId, pod })).find((it) => it !== null)
  const node = known ?? lostNode(one, troubles)
  const before = ctx.state.alerts.get(one.live.rowId)
  if (node === null || !before) return one
  const live = { ...before, alert: { ...before.alert, node } }
  ctx.put.alert(live)
  return { ...one, node, live }
}

/** Adds the conditions that a failed node explains to the open incident of that node. */
export function joinNodes(
  ctx: Context,
  service: LiveService,
  conditions: readonly Condition[],
  explained: ReadonlySet<string>,
): void {
  const own = conditions.filter(({ uuid, node, source, status }) => {
    return node !== null && source === 'cluster' && status === 'firing' && explained.has(uuid)
  })
  for (const [node, alike] of Map.groupBy(own, (one) => one.node ?? '')) {
    const found = nodeService(ctx.state, service.cluster, node)
    const incident = found && oldestOpenIncident(ctx.state, found.rowId)
    const free = alike.flatMap(({ live }) => ctx.state.alerts.get(live.rowId) ?? [])
    if (incident)
      addAlerts(
        ctx,
        incident,
        free.filter(({ incidentId }) => incidentId === null),
      )
  }
}

/** Schedules the services whose conditions a node's new incident may own. */
export function wakePods(ctx: Context, service: LiveService, now: number): void {
  const node = nodeNameOf(service)
  for (const live of ctx.state.alerts.values()) {
    if (isOnNode(live, node) || live.alert.name === 'NodeNotReady (pod)') {
      const own = ctx.state.services.get(live.serviceId)
      if (own && (own.cluster === service.cluster || service.cluster === '')) makeDue(ctx, own.rowId, now)
    }
  }
}

function isOnNode({ alert }: LiveAlert, node: string): boolean {
  return alert.source === 'cluster' && alert.status === 'firing' && alert.node === node
}
