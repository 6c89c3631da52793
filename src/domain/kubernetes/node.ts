/** What a new version of a node tells: its readiness, pressure, and whether it accepts pods. */
import type { ClusterDraft } from '../event/event.ts'
import { MINUTE } from '../units.ts'
import { isOver, type Known, type SeenOf } from '../watch/object.ts'
import type { Tell } from './tell.ts'

type Node = SeenOf<'Node'>

/** The reason that ends each pressure. */
const RELIEFS: Readonly<Record<string, string>> = {
  NodeHasInsufficientMemory: 'NodeHasSufficientMemory',
  NodeHasDiskPressure: 'NodeHasNoDiskPressure',
  NodeHasInsufficientPID: 'NodeHasSufficientPID',
}

/** Kubernetes looks at the nodes every 5 s. A pod that becomes ill later has a reason of its own. */
const MARKED_WITHIN = MINUTE

/** Compares two versions of a node. `before`: null if the node is new to incmon. */
export function observeNode(
  before: Node | null,
  after: Node,
  tell: Tell,
  known: Known,
  now: number,
): readonly ClusterDraft[] {
  const { facts } = after
  const was = before?.facts ?? null
  const told: ClusterDraft[] = []
  const isReady = facts.ready === 'True'
  const wasReady = was ? was.ready === 'True' : true
  if (!isReady && wasReady) told.push(...lostOf(after, tell, known))
  if (isReady && !wasReady) told.push(tell(after, { reason: 'NodeReady', message: 'Node is ready', at: facts.since }))
  for (const pressure of facts.pressures) {
    if (!was?.pressures.includes(pressure))
      told.push(tell(after, { reason: pressure, message: `Node status is now: ${pressure}`, at: now, isWarning: true }))
  }
  for (const pressure of was?.pressures ?? []) {
    const reason = RELIEFS[pressure]
    if (reason && !facts.pressures.includes(pressure))
      told.push(tell(after, { reason, message: `Node status is now: ${reason}`, at: now }))
  }
  if (was && facts.cordoned !== was.cordoned) {
    const reason = facts.cordoned ? 'NodeCordoned' : 'NodeSchedulable'
    told.push(
      tell(after, {
        reason,
        message: facts.cordoned ? 'Node accepts no new pods' : 'Node accepts pods again',
        at: now,
      }),
    )
  }
  return told
}

/** A node that the kubelet no longer reports was lost when it last reported. Its pods are lost with it. */
function lostOf(node: Node, tell: Tell, known: Known): ClusterDraft[] {
  const lost = tell(node, {
    reason: 'NodeNotReady',
    message: node.facts.message || 'Node is not ready',
    ...lostSince(node),
    isWarning: true,
  })
  return [lost, ...known.podsOn(node.name).flatMap((pod) => podLostWith(node, pod, tell))]
}

/**
 * Tells that a pod is lost with its node. Kubernetes marks the pods of a lost node as not ready, after the node. Both may
 * become known in any order. Pods of a DaemonSet, and pods that have ended, are not missed.
 */
export function podLostWith(node: Node, pod: SeenOf<'Pod'>, tell: Tell): ClusterDraft[] {
  const { owner, facts } = pod
  const delay = facts.readySince - node.facts.since
  const isMarked = node.facts.ready !== 'True' && !facts.ready && delay >= 0 && delay < MARKED_WITHIN
  if (!isMarked || isOver(facts)) return []
  if (owner?.kind === 'DaemonSet' || owner?.kind === 'Node') return []
  const message = `Node ${node.name} is not ready`
  return [tell(pod, { reason: 'NodeNotReady', message, ...lostSince(node), isWarning: true })]
}

function lostSince({ facts: { ready, since, heardAt } }: Node): { readonly at: number; readonly startsAt: number } {
  return { at: since, startsAt: ready === 'Unknown' ? Math.min(heardAt, since) : since }
}
