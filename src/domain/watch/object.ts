/** What incmon remembers of a Kubernetes object. Everything that no rule reads is dropped as soon as it is parsed. */
import type {
  AutoscalerFacts,
  CronJobFacts,
  JobFacts,
  NodeFacts,
  PodFacts,
  ReplicaSetFacts,
  WorkloadFacts,
} from './facts.ts'

/** An object's controller. */
export type Owner = { readonly kind: string; readonly name: string }

type Head = {
  readonly uid: string
  /** The resource version, an opaque text. */
  readonly version: string
  readonly namespace: string
  readonly name: string
  readonly owner: Owner | null
}

/** One version of an object. Only the existence of an event is remembered, so that no event is stored twice. */
export type Seen =
  | (Head & { readonly kind: 'Pod'; readonly facts: PodFacts })
  | (Head & { readonly kind: 'ReplicaSet'; readonly facts: ReplicaSetFacts })
  | (Head & { readonly kind: 'Deployment' | 'StatefulSet' | 'DaemonSet'; readonly facts: WorkloadFacts })
  | (Head & { readonly kind: 'Job'; readonly facts: JobFacts })
  | (Head & { readonly kind: 'CronJob'; readonly facts: CronJobFacts })
  | (Head & { readonly kind: 'Node'; readonly facts: NodeFacts })
  | (Head & { readonly kind: 'HorizontalPodAutoscaler'; readonly facts: AutoscalerFacts })
  | (Head & { readonly kind: 'Event'; readonly facts: null })

export type Kind = Seen['kind']
export type SeenOf<Of extends Kind> = Extract<Seen, { readonly kind: Of }>
export type Workload = Extract<Seen, { readonly facts: WorkloadFacts }>

/** The other objects of the cluster, as far as a rule needs them. */
export type Known = {
  readonly find: (kind: Kind, namespace: string, name: string) => Seen | null
  /** Returns the ReplicaSets of a Deployment. */
  readonly replicaSetsOf: (namespace: string, deployment: string) => readonly SeenOf<'ReplicaSet'>[]
  readonly podsOn: (node: string) => readonly SeenOf<'Pod'>[]
  /** Returns the autoscaler of a workload. */
  readonly autoscalerOf: (workload: Workload) => SeenOf<'HorizontalPodAutoscaler'> | null
  /** Returns the pods that a ReplicaSet, StatefulSet, DaemonSet or Job controls. Reads all pods. */
  readonly podsOf: (owner: Pick<Seen, 'kind' | 'namespace' | 'name'>) => readonly SeenOf<'Pod'>[]
}

/** What the engine saves in one transaction with the observations of a watch. */
export type WatchUpdate = {
  readonly cluster: string
  readonly saved: readonly Seen[]
  /** The uids of deleted objects. */
  readonly deleted: readonly string[]
  /** For each resource, the version up to which everything is stored. */
  readonly positions: readonly { readonly resource: string; readonly version: string }[]
  /** A period that nobody observed, because the API server has forgotten it. */
  readonly gap: Gap | null
  readonly at: number
}

export type Gap = { readonly from: number; readonly to: number }

/** How the watch of a cluster is doing. */
export type ClusterState = {
  readonly name: string
  readonly server: string
  readonly objects: number
  /** When something was last saved, in ms UTC; null for never. */
  readonly heardAt: number | null
  /** What cannot be read. `without`: what is missing because of that. `status`: the HTTP status; 0 without a response. */
  readonly failures: readonly {
    readonly resource: string
    readonly without: string
    readonly error: string
    readonly status: number
  }[]
  /** Whether everything that can be read has been listed. */
  readonly isComplete: boolean
}

/** The receiver of the sender that stands for a watch. */
export const WATCH = 'watch'

/**
 * Returns the workload that a pod, ReplicaSet or Job belongs to: the controller of its controller, if it has one. For an
 * autoscaler, the workload that it scales.
 */
export function workloadOf(seen: Seen, known: Known): Owner | null {
  if (seen.kind === 'HorizontalPodAutoscaler') return seen.facts.target
  const { owner, namespace } = seen
  if (owner?.kind !== 'ReplicaSet' && owner?.kind !== 'Job') return owner
  return known.find(owner.kind, namespace, owner.name)?.owner ?? owner
}
