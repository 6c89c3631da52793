/** What incmon remembers of a Kubernetes object. Everything that no rule reads is dropped as soon as it is parsed. */

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
  | (Head & { readonly kind: 'CronJob'; readonly facts: { readonly suspended: boolean; readonly images: Images } })
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

/** Adds a later update to one that was not saved. */
export function joined(before: WatchUpdate, after: WatchUpdate): WatchUpdate {
  const saved = new Map([...before.saved, ...after.saved].map((seen) => [seen.uid, seen]))
  const gone = new Set([...before.deleted, ...after.deleted])
  const isBack = new Set(after.saved.map(({ uid }) => uid))
  for (const uid of after.deleted) saved.delete(uid)
  const positions = new Map([...before.positions, ...after.positions].map((one) => [one.resource, one]))
  return {
    ...after,
    saved: [...saved.values()],
    deleted: [...gone].filter((uid) => !isBack.has(uid)),
    positions: [...positions.values()],
    gap: after.gap ?? before.gap,
  }
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

// The facts that rules read, by kind of object. Times are Unix times in milliseconds.

export type Container = {
  readonly name: string
  /** The digest of the image, such as `sha256:1c5b…`; empty if it is not known. */
  readonly digest: string
  /** The reason why the container waits, such as `CrashLoopBackOff`; null if it does not wait. */
  readonly waits: string | null
  readonly message: string
  readonly restarts: number
  /** When the container started; null unless it is running. */
  readonly startedAt: number | null
  /** How its last run ended; null if it never ended. */
  readonly last: {
    readonly exitCode: number
    readonly reason: string
    readonly from: number
    readonly to: number
  } | null
}

export type PodFacts = {
  readonly node: string | null
  readonly phase: string
  /** The reason of the pod's phase, such as `Evicted`. */
  readonly reason: string
  readonly message: string
  readonly createdAt: number
  /** When the deletion of the pod was requested; null if it was not. */
  readonly stoppingAt: number | null
  /** Who disrupts the pod on purpose, such as `EvictionByEvictionAPI`; null if nobody does. */
  readonly disrupted: string | null
  /** Why the scheduler found no node for the pod, and since when; null if it has a node. */
  readonly unscheduled: { readonly message: string; readonly since: number } | null
  readonly ready: boolean
  /** When the pod became ready or stopped being ready. */
  readonly readySince: number
  readonly containers: readonly Container[]
  /** When containers restarted in the last hour, as far as it was observed. Records of older versions have none. */
  readonly restartedAt?: readonly number[]
  /** Whether the pod's readiness was told since its last problem. */
  readonly told: boolean
}

/** Returns whether the pod's containers have stopped, or are meant to stop. */
export function isOver({ phase, stoppingAt }: PodFacts): boolean {
  return phase === 'Succeeded' || phase === 'Failed' || stoppingAt !== null
}

type ReplicaSetFacts = { readonly revision: number; readonly images: Images; readonly createdAt: number }

/** Images by container. */
export type Images = Readonly<Record<string, string>>

/** Returns the image of a container. A container may be named `constructor`. */
export function imageIn(images: Images, container: string): string | undefined {
  return Object.hasOwn(images, container) ? images[container] : undefined
}

export type WorkloadFacts = {
  readonly wanted: number
  readonly ready: number
  readonly available: number
  readonly images: Images
  /** The revision of a Deployment; the name of the newest revision of a StatefulSet; a hash of a DaemonSet's template. */
  readonly revision: string
  /** Who last changed the template, and who last changed the number of replicas: the names of their clients. */
  readonly by: string
  readonly scaledBy: string
  /** Whether all replicas have the newest template. */
  readonly finished: boolean
  /** The message of a rollout that makes no progress; null otherwise. */
  readonly stuck: string | null
  /** Since when no replica, or not every wanted replica, is available; null if that is not the case. */
  readonly noneSince: number | null
  readonly fewSince: number | null
  readonly told: 'none' | 'few' | null
}

type NodeFacts = {
  readonly ready: string
  readonly since: number
  /** When the kubelet last reported. */
  readonly heardAt: number
  readonly message: string
  readonly pressures: readonly string[]
  readonly cordoned: boolean
}

type JobFacts = {
  /** The reason of the failure; null if the Job has not failed. */
  readonly failed: string | null
  readonly message: string
  readonly complete: boolean
  readonly endedAt: number
}

type AutoscalerFacts = {
  /** The workload that it scales. */
  readonly target: { readonly kind: string; readonly name: string }
  readonly least: number
  readonly most: number
  /** Why it cannot scale, and since when; null if it can. */
  readonly fails: { readonly reason: string; readonly message: string; readonly since: number } | null
}
