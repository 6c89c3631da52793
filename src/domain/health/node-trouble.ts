/** Finds alerts explained by a failed node, so that one failed node does not cause many incidents. */

import { rank } from '../severity.ts'
import { MINUTE } from '../units.ts'
import type { HealthCondition } from './health.ts'

/** An alert and its node. `node` is null if unknown. */
export type ConditionOnNode = Omit<HealthCondition, 'evidence' | 'resolution'> & { readonly node: string | null }

/** `counted`: the names of conditions that an incident of the service already counts as going on. */
type Known = { readonly now: number; readonly counted?: readonly string[] }

/** When a node's problem began and ended, in ms UTC. `endsAt`: null while it is ongoing. */
export type NodeTrouble = { readonly node: string; readonly startsAt: number; readonly endsAt: number | null }

/** A failed node explains problems of its pods if these start within this time of the node's own problem. */
const NEAR_NODE = 10 * MINUTE

/** How long a recovered node explains events of its pods. Kubernetes sends no event when such a pod recovers. */
export const LINGERS = 60 * MINUTE
/**
 * How long a recovered node explains alerts whose sender repeats them: a minute in which the sender may not have noticed
 * the recovery, and until then or the next repeat, Alertmanager's default `group_interval`, after which it reports ends.
 */
const NOTICED = MINUTE
export const REPORTED = 5 * MINUTE

/**
 * Conditions with which Kubernetes says that a pod's node is lost, without naming the node, and how long after the
 * node's failure they begin: `NodeNotReady` at once, taint eviction after the default `tolerationSeconds` of 300.
 */
const LOST_AFTER: ReadonlyMap<string, number> = new Map([
  ['NodeNotReady (pod)', 60_000],
  ['TaintManagerEviction', 6 * 60_000],
])

/** Returns the only node that failed when a pod's condition says that its node is lost, or null. */
export function lostNode(
  { name, startsAt }: Pick<ConditionOnNode, 'name' | 'startsAt'>,
  troubles: Iterable<NodeTrouble>,
): string | null {
  const within = LOST_AFTER.get(name)
  if (within === undefined) return null
  let found: string | null = null
  for (const trouble of troubles) {
    if (startsAt < trouble.startsAt - 60_000 || startsAt > trouble.startsAt + within) continue
    if (found !== null && trouble.node !== found) return null
    found = trouble.node
  }
  return found
}

/**
 * Returns the UUIDs of alerts whose node failed at about the same time, and of warnings that merely repeat such alerts.
 * What goes on after the node's recovery is not explained by it, nor what counted before the node failed.
 */
export function explainedByNodes(
  conditions: readonly ConditionOnNode[],
  troubles: readonly NodeTrouble[],
  { now, counted = [] }: Known,
): ReadonlySet<string> {
  const explained = conditions.filter(
    (condition) =>
      isMarked(condition) ||
      (!isStarting(condition) &&
        !counted.includes(condition.name) &&
        troubles.some(
          (trouble) =>
            trouble.node === condition.node &&
            isNear(condition, trouble.startsAt) &&
            (trouble.endsAt === null || now < explainedUntil(condition, trouble.endsAt)),
        )),
  )
  // The Kubernetes mixin's alerts about pods on a failed node do not name the node. They fire 15 minutes later and add
  // no information.
  const serious = conditions.filter(({ source, status, severity }) => {
    return source === 'cluster' && status === 'firing' && rank(severity) >= rank('error')
  })
  const known = new Set(explained)
  const isAll = serious.length > 0 && serious.every((condition) => known.has(condition))
  const repeating = conditions.filter(({ source, severity }) => isAll && source !== 'cluster' && severity === 'warning')
  return new Set([...explained, ...repeating].map(({ uuid }) => uuid))
}

/** Returns until when a node that recovered at `endsAt` explains a condition, in ms UTC. */
function explainedUntil({ source, receivedAt }: ConditionOnNode, endsAt: number): number {
  if (source === 'cluster') return endsAt + LINGERS
  return endsAt + (receivedAt >= endsAt + NOTICED ? NOTICED : REPORTED)
}

/**
 * Returns whether the node controller reported a pod because the pod's node is lost. The node's own event opens the
 * incident.
 */
function isMarked({ source, name, node }: ConditionOnNode): boolean {
  return source === 'cluster' && name === 'NodeNotReady (pod)' && node !== null
}

/**
 * Returns whether the kubelet is failing to start a pod. A failed node explains alerts for pods that were running, but
 * not for a pod that never ran.
 */
function isStarting({ source, name, failure }: ConditionOnNode): boolean {
  return source === 'cluster' && (STARTING.has(name) || failure === 'image' || failure === 'config')
}

const STARTING = new Set(['FailedCreatePodSandBox', 'NetworkNotReady', 'FailedScheduling', 'FailedCreate'])

/**
 * Returns whether a condition began around the time of the node's problem. The last observation is checked too, because
 * a condition can cover many pods. For example, the pods of a DaemonSet fail one after another when their nodes are
 * restarted one by one.
 */
function isNear({ source, startsAt, lastSeenAt }: ConditionOnNode, nodeStartsAt: number): boolean {
  const times = source === 'cluster' ? [startsAt, lastSeenAt] : [startsAt]
  return times.some((time) => Math.abs(nodeStartsAt - time) <= NEAR_NODE)
}
