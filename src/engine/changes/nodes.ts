/** A node that fails or leaves: its incident owns the conditions of its pods, which end when the node leaves. */

import type { LiveService } from '../../domain/health/live-service.ts'
import type { NodeTrouble } from '../../domain/health/node-trouble.ts'
import { isNodeService, nodeNameOf, serviceOfNode } from '../../domain/service/node.ts'
import { rank } from '../../domain/severity.ts'
import { conditionOf } from '../../domain/text.ts'
import { MINUTE } from '../../domain/units.ts'
import type { Context } from '../state/context.ts'
import type { OrganizationState } from '../state/state.ts'
import { findService } from './attribution.ts'
import { alertsOf, type Condition, isCurrent } from './conditions.ts'
import { addAlerts, oldestOpenIncident } from './incidents/incidents.ts'
import { makeDue } from './live-service.ts'

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
    return service ? [...troublesOfNode(state, service, endedSince)] : []
  })
}

function* troublesOfNode(state: OrganizationState, service: LiveService, endedSince: number): Generator<NodeTrouble> {
  for (const { alert } of alertsOf(state, service.rowId)) {
    const { severity, startsAt, endsAt } = alert
    if (isCurrent(alert, endedSince) && rank(severity) >= rank('error'))
      yield { node: nodeNameOf(service), startsAt, endsAt }
  }
}

/**
 * Finds the problems of all nodes of a cluster, as `nodeTroublesOf`, one after another: a storm can have thousands, and
 * a caller rarely needs more than two.
 */
export function* nodeTroublesIn(state: OrganizationState, cluster: string, endedSince: number): Generator<NodeTrouble> {
  for (const rowId of state.nodesWithAlerts.get(cluster)) yield* of(rowId)
  if (cluster !== '') for (const rowId of state.nodesWithAlerts.get('')) if (isOnlyHere(rowId)) yield* of(rowId)

  function* of(rowId: number): Generator<NodeTrouble> {
    const service = state.services.get(rowId)
    if (service) yield* troublesOfNode(state, service, endedSince)
  }
  /** The service of the cluster stands for the node, even if it has no alerts. */
  function isOnlyHere(rowId: number): boolean {
    const service = state.services.get(rowId)
    return service !== undefined && !findService(state, { ...service, cluster })
  }
}

/** Returns whether a node of the cluster has been cordoned since then. */
export function wasCordoned(state: OrganizationState, cluster: string, since: number): boolean {
  const nodes = [...new Set([cluster, ''])].flatMap((name) => [...state.nodesWithAlerts.get(name)])
  return nodes.some((rowId) =>
    alertsOf(state, rowId).some(({ alert: { name, status, startsAt } }) => {
      return name === 'NodeNotSchedulable' && status === 'firing' && startsAt >= since
    }),
  )
}

/** Returns the service of a node, also without its cluster, because not every sender reports its cluster. */
function nodeService(state: OrganizationState, cluster: string, node: string): LiveService | null {
  const key = { namespace: '', name: serviceOfNode(node) }
  return findService(state, { cluster, ...key }) ?? findService(state, { cluster: '', ...key })
}

/** How long a failed node explains alerts that no incident of the node tells about. */
export const UNTOLD = 5 * MINUTE

/**
 * Leaves out what a failed node would explain, but nobody would hear of: its incident has been resolved, or a silence
 * covers it. The conditions that this incident already has are known.
 */
export function withoutUntold(
  { state }: Context,
  { cluster }: LiveService,
  { conditions, explained }: { readonly conditions: readonly Condition[]; readonly explained: ReadonlySet<string> },
  { troubles, now }: { readonly troubles: readonly NodeTrouble[]; readonly now: number },
): ReadonlySet<string> {
  const lasting = troubles.filter(({ startsAt, endsAt }) => endsAt === null && now >= startsAt + UNTOLD)
  const silent = new Set(lasting.map(({ node }) => node).filter((node) => !isTold(node)))
  if (silent.size === 0) return explained
  const told = conditions.filter(({ source, node, live }) => {
    return source === 'cluster' || node === null || !silent.has(node) || live.incidentId !== null
  })
  return new Set(told.flatMap(({ uuid }) => (explained.has(uuid) ? [uuid] : [])))

  function isTold(node: string): boolean {
    const service = nodeService(state, cluster, node)
    const incident = service && oldestOpenIncident(state, service.rowId)
    return !!incident && !incident.problem.isMuted
  }
}

/** Adds the conditions that a failed node explains to the open incident of that node. */
export function joinNodes(
  ctx: Context,
  service: LiveService,
  { all, explained }: { readonly all: readonly Condition[]; readonly explained: ReadonlySet<string> },
  now: number,
): void {
  const own = all.filter(({ uuid, node, source, status }) => {
    return node !== null && source !== 'ci' && status === 'firing' && explained.has(uuid)
  })
  for (const [node, alike] of Map.groupBy(own, (one) => one.node ?? '')) {
    const found = nodeService(ctx.state, service.cluster, node)
    const incident = found && oldestOpenIncident(ctx.state, found.rowId)
    const free = alike.flatMap(({ live }) => ctx.state.alerts.get(live.rowId) ?? [])
    if (!incident) continue
    const joining = free.filter(({ incidentId }) => incidentId === null)
    const joined = addAlerts(ctx, incident, joining, now)
    const { others } = joined.problem
    if (joining.length === 0 || others.includes(service.rowId)) continue
    // The evaluation of the node then says that the service is affected.
    ctx.put.incident({ ...joined, problem: { ...joined.problem, others: [...others, service.rowId] } }, joined)
    makeDue(ctx, incident.serviceId, now)
  }
}

/**
 * Names the critical alerts about pods on a node that fire. Leaves out Kubernetes events, because nothing reports that
 * such a pod is well again.
 */
export function firingOnNode({ state }: Context, service: LiveService): string[] {
  if (!isNodeService(service)) return []
  const names = [...state.alertsOnNode.get(nodeNameOf(service))].flatMap((rowId) => {
    const live = state.alerts.get(rowId)
    const own = live && state.services.get(live.serviceId)
    if (!own || own.rowId === service.rowId || !isOfCluster(own, service)) return []
    const { source, name, severity } = live.alert
    const counts = source !== 'cluster' && severity === 'critical' && live.silencedBy.length === 0
    return counts ? [conditionOf(name, own, service)] : []
  })
  return [...new Set(names)].sort()
}

function isOfCluster({ cluster }: LiveService, node: LiveService): boolean {
  return cluster === node.cluster || node.cluster === ''
}

/** Schedules the services whose conditions a node explains, or explains no longer. */
export function wakePods(ctx: Context, service: LiveService, now: number): void {
  const { alerts, alertsOnNode, services } = ctx.state
  const on = alertsOnNode.get(nodeNameOf(service))
  const nowhere = [...alertsOnNode.get('')].filter((rowId) => alerts.get(rowId)?.alert.name === 'NodeNotReady (pod)')
  for (const rowId of [...on, ...nowhere]) {
    const own = services.get(alerts.get(rowId)?.serviceId ?? 0)
    if (own && isOfCluster(own, service)) makeDue(ctx, own.rowId, now)
  }
}
