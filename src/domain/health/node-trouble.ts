/** Node trouble: which alerts of a service a node accounts for, so that twenty pods of one lost node open no incident each. */

import { rank } from '../severity.ts'
import type { Condition } from './health.ts'

/** An alert and the node that it concerns or runs on; null where that is not told. */
export type Placed = Omit<Condition, 'evidence' | 'heardAt'> & { readonly node: string | null }

/** When the present trouble of a node began, in milliseconds UTC. */
export type NodeTrouble = { readonly node: string; readonly startsAt: number }

/** A pod's trouble that begins this close to its node's is the node's. */
const NODE_WITHIN = 10 * 60_000

/** The UUIDs of the alerts whose node fell into trouble at about the same time, and of warnings that only repeat those. */
export function explainedByNodes(conditions: readonly Placed[], troubles: readonly NodeTrouble[]): ReadonlySet<string> {
  const explained = conditions.filter(
    (condition) =>
      isMarked(condition) ||
      (!isStarting(condition) &&
        troubles.some(({ node, startsAt }) => node === condition.node && isNear(condition, startsAt))),
  )
  // The mixin's alerts on such pods bear no node and come a quarter of an hour later: they only repeat what is explained.
  const serious = conditions.filter(({ source, status, severity }) => {
    return source === 'cluster' && status === 'firing' && rank(severity) >= rank('error')
  })
  const isAll = serious.length > 0 && serious.every((condition) => explained.includes(condition))
  const repeating = conditions.filter(({ source, severity }) => isAll && source !== 'cluster' && severity === 'warning')
  return new Set([...explained, ...repeating].map(({ uuid }) => uuid))
}

/** The node controller marks each pod of a lost node: the node's own event opens the incident, also if it arrives later. */
function isMarked({ name, node }: Placed): boolean {
  return name === 'NodeNotReady (pod)' && node !== null
}

/**
 * A lost node accounts for what its running pods show. It does not account for a pod that a living kubelet tries to start
 * in vain: its workload has been waiting for the pod, and the node controller moves only pods that were running.
 */
function isStarting({ source, name, failure }: Placed): boolean {
  return source === 'cluster' && (STARTING.has(name) || failure === 'image' || failure === 'config')
}

const STARTING = new Set(['FailedCreatePodSandBox', 'NetworkNotReady', 'FailedScheduling', 'FailedCreate'])

/** A condition of many pods, as a DaemonSet's while one node after the other restarts, is near wherever it was last seen. */
function isNear({ source, startsAt, lastSeenAt }: Placed, nodeStartsAt: number): boolean {
  const times = source === 'cluster' ? [startsAt, lastSeenAt] : [startsAt]
  return times.some((time) => Math.abs(nodeStartsAt - time) <= NODE_WITHIN)
}
