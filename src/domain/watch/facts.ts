/** The facts that rules read, by kind of object. Times are Unix times in milliseconds. */

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

export type ReplicaSetFacts = { readonly revision: number; readonly images: Images; readonly createdAt: number }

/** Images by container. */
export type Images = Readonly<Record<string, string>>

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

export type NodeFacts = {
  readonly ready: string
  readonly since: number
  /** When the kubelet last reported. */
  readonly heardAt: number
  readonly message: string
  readonly pressures: readonly string[]
  readonly cordoned: boolean
}

export type JobFacts = {
  /** The reason of the failure; null if the Job has not failed. */
  readonly failed: string | null
  readonly message: string
  readonly complete: boolean
  readonly endedAt: number
}

export type AutoscalerFacts = {
  /** The workload that it scales. */
  readonly target: { readonly kind: string; readonly name: string }
  readonly least: number
  readonly most: number
  /** Why it cannot scale, and since when; null if it can. */
  readonly fails: { readonly reason: string; readonly message: string; readonly since: number } | null
}

export type CronJobFacts = { readonly suspended: boolean; readonly images: Images }
