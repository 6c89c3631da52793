/** What a new version of a node tells: its readiness, pressure, and whether it accepts pods. */
import type { ClusterDraft } from '../event/event.ts'
import type { Known, SeenOf } from '../watch/object.ts'
import type { Tell } from './tell.ts'

type Node = SeenOf<'Node'>

/** The reason that ends each pressure. */
const RELIEFS: Readonly<Record<string, string>> = {
  NodeHasInsufficientMemory: 'NodeHasSufficientMemory',
  NodeHasDiskPressure: 'NodeHasNoDiskPressure',
  NodeHasInsufficientPID: 'NodeHasSufficientPID',
}

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
  const { ready, since, heardAt, message } = node.facts
  const startsAt = ready === 'Unknown' ? Math.min(heardAt, since) : since
  const lost = tell(node, {
    reason: 'NodeNotReady',
    message: message || 'Node is not ready',
    at: since,
    startsAt,
    isWarning: true,
  })
  const pods = known
    .podsOn(node.name)
    .filter(({ owner, facts }) => owner?.kind !== 'DaemonSet' && owner?.kind !== 'Node' && facts.stoppingAt === null)
  return [
    lost,
    ...pods.map((pod) =>
      tell(pod, {
        reason: 'NodeNotReady',
        message: `Node ${node.name} is not ready`,
        at: since,
        startsAt,
        isWarning: true,
      }),
    ),
  ]
}
