/** Turns two versions of a Kubernetes object into observations. Start here. */
import type { ClusterDraft } from '../event/event.ts'
import type { Known, Seen, SeenOf, Workload } from '../watch/object.ts'
import { observeNode } from './node.ts'
import { observeDeletedPod, observePod, podDueAt } from './pod.ts'
import { teller } from './tell.ts'
import { observeReplicaSet, observeWorkload, workloadDueAt } from './workload.ts'

type Observation = {
  /** What to remember of the object. */
  readonly after: Seen
  readonly told: readonly ClusterDraft[]
  /** When to observe the same version again, in ms UTC; null for never. */
  readonly dueAt: number | null
}

type Circumstances = {
  readonly known: Known
  readonly now: number
  /** Whether the cluster is listed for the first time. What is found then did not begin now. */
  readonly isFirst: boolean
}

/** Compares a version of an object with the last one. `before`: null if the object is new to incmon. */
export function observe(before: Seen | null, after: Seen, { known, now, isFirst }: Circumstances): Observation {
  const tell = teller(known, now)
  if (isWorkload(after)) return dated(observeWorkload(before as Workload | null, after, { tell, known, now }))
  if (after.kind === 'Pod') {
    const node = after.facts.node === null ? null : known.find('Node', '', after.facts.node)
    const on = { node: node?.kind === 'Node' ? node : null, tell, now }
    return dated(observePod(before?.kind === 'Pod' ? before : null, after, on))
  }
  return { after, told: toldOf(before, after, tell, { known, now, isFirst }), dueAt: null }
}

function toldOf(
  before: Seen | null,
  after: Exclude<Seen, Workload | SeenOf<'Pod'>>,
  tell: ReturnType<typeof teller>,
  { known, now, isFirst }: Circumstances,
): readonly ClusterDraft[] {
  switch (after.kind) {
    case 'ReplicaSet':
      return observeReplicaSet(before?.kind === 'ReplicaSet' ? before : null, after, { known, tell, now, isFirst })
    case 'Node':
      return observeNode(before?.kind === 'Node' ? before : null, after, tell, known, now)
    case 'Job':
      return jobTold(before, after, tell)
    case 'CronJob':
      return before ? [] : [tell(after, { reason: 'WorkloadFound', message: 'CronJob found', at: now })]
    case 'HorizontalPodAutoscaler':
      return autoscalerTold(before, after, tell, now)
    case 'Event':
      return []
  }
}

function dated(seen: Omit<Observation, 'dueAt'>): Observation {
  return { ...seen, dueAt: dueAtOf(seen.after) }
}

/** Returns when to observe the same version of an object again, in ms UTC; null for never. */
export function dueAtOf(seen: Seen): number | null {
  if (seen.kind === 'Pod') return podDueAt(seen)
  return isWorkload(seen) ? workloadDueAt(seen) : null
}

function isWorkload(seen: Seen): seen is Workload {
  return seen.kind === 'Deployment' || seen.kind === 'StatefulSet' || seen.kind === 'DaemonSet'
}

/** Returns what the deletion of an object tells. */
export function observeDeleted(before: Seen, known: Known, now: number): readonly ClusterDraft[] {
  const tell = teller(known, now)
  if (before.kind === 'Pod') return observeDeletedPod(before, tell, now)
  if (before.kind === 'Node') return [tell(before, { reason: 'RemovingNode', message: 'Node was deleted', at: now })]
  if (!isWorkload(before)) return []
  return [tell(before, { reason: 'WorkloadDeleted', message: `${before.kind} was deleted`, at: now })]
}

function autoscalerTold(
  before: Seen | null,
  after: SeenOf<'HorizontalPodAutoscaler'>,
  tell: ReturnType<typeof teller>,
  now: number,
): readonly ClusterDraft[] {
  const was = before?.kind === 'HorizontalPodAutoscaler' ? before.facts.fails : null
  const { fails } = after.facts
  if (fails && fails.reason !== was?.reason)
    return [tell(after, { reason: fails.reason, message: fails.message, at: fails.since, isWarning: true })]
  if (fails || !was) return []
  return [tell(after, { reason: 'AutoscalerActive', message: `Autoscaler ${after.name} can scale again`, at: now })]
}

function jobTold(
  before: Seen | null,
  after: Extract<Seen, { kind: 'Job' }>,
  tell: ReturnType<typeof teller>,
): readonly ClusterDraft[] {
  const was = before?.kind === 'Job' ? before.facts : null
  const { failed, message, complete, endedAt } = after.facts
  if (failed !== null && was && was.failed === null)
    return [tell(after, { reason: failed || 'BackoffLimitExceeded', message, at: endedAt, isWarning: true })]
  if (complete && was && !was.complete)
    return [tell(after, { reason: 'Completed', message: 'Job completed', at: endedAt })]
  return []
}
