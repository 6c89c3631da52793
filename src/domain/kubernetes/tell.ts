/** Makes an observation of a watch, in the form of a Kubernetes event. */
import { type ClusterDraft, newLabels } from '../event/event.ts'
import { type Known, type Seen, workloadOf } from '../watch/object.ts'

type Told = {
  readonly reason: string
  readonly message: string
  readonly at: number
  readonly startsAt?: number
  readonly count?: number
  readonly container?: string
  /** Whether it is a problem. */
  readonly isWarning?: boolean
  /** The images that the workload has now. */
  readonly images?: readonly string[]
}

/** What belongs to a workload. */
const OWNED: ReadonlySet<Seen['kind']> = new Set(['Pod', 'ReplicaSet', 'Job', 'HorizontalPodAutoscaler'])

export type Tell = (of: Seen, told: Told) => ClusterDraft

/** `now`: no observation is later. */
export function teller(known: Known, now: number): Tell {
  return (of, { reason, message, at, startsAt = at, count = 1, container = null, isWarning = false, images }) => {
    const owner = workloadOf(of, known)
    return {
      source: 'cluster',
      at: Math.min(at, now),
      startsAt: Math.min(startsAt, at, now),
      ...{ reason, message, count: Math.max(1, count), type: isWarning ? 'Warning' : 'Normal' },
      object: {
        ...{ kind: of.kind, namespace: of.namespace, name: of.name, labels: newLabels(), container },
        owners: owner && OWNED.has(of.kind) ? [owner] : [],
        node: of.kind === 'Pod' ? of.facts.node : of.kind === 'Node' ? of.name : null,
      },
      cluster: null,
      ...(images ? { images } : {}),
      payload: JSON.stringify({
        kind: of.kind,
        namespace: of.namespace,
        name: of.name,
        uid: of.uid,
        resourceVersion: of.version,
        reason,
        message,
        facts: of.facts,
      }),
    }
  }
}
