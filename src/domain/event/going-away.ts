/**
 * What is meant to go away is no outage: the events that announce it, and the events that it causes. Add a row for
 * another autoscaler or controller.
 */

/** Events about a node that leaves the cluster on purpose, by who reports them. All its conditions end with it. */
export const LEAVING_NODE: readonly (readonly [string, string])[] = [
  ['node-controller', 'RemovingNode'],
  ['cloud-node-lifecycle-controller', 'DeletingNode'],
  ['kubelet', 'Shutdown'],
  ['cluster-autoscaler', 'ScaleDown ScaleDownEmpty'],
  ['karpenter', 'DisruptionTerminating Disrupted TerminatingNode Terminating'],
  // The cloud takes the machine back, with a notice of 30 seconds to 2 minutes.
  ['karpenter', 'SpotInterrupted TerminatingOnInterruption InstanceTerminating InstanceStopping'],
  ['aws-node-termination-handler', 'SpotInterruption ASGLifecycle CordonAndDrain'],
  ['node-problem-detector on AKS', 'PreemptScheduled TerminateScheduled'],
]

/** Events about a pod for which an autoscaler adds a node. */
export const ADDS_NODE: readonly (readonly [string, string])[] = [
  ['cluster-autoscaler', 'TriggeredScaleUp'],
  ['karpenter', 'Nominated'],
]

/**
 * What the scheduler says of nodes that are being drained. `alone`: a taint that only a drain has. Otherwise a node must
 * have been cordoned lately, because a cordon can be forgotten.
 */
const DRAINED: readonly { readonly alone: boolean; readonly message: RegExp }[] = [
  // kubectl cordon and kubectl drain
  { alone: false, message: /\bnode\(s\) were unschedulable\b|\btaint \{node\.kubernetes\.io\/unschedulable\b/ },
  // Karpenter
  { alone: true, message: /\btaint \{karpenter\.sh\/disrupt/ },
  // cluster-autoscaler
  { alone: true, message: /\btaint \{ToBeDeletedByClusterAutoscaler\b/ },
  // aws-node-termination-handler
  { alone: true, message: /\btaint \{aws-node-termination-handler\// },
  // GKE
  { alone: true, message: /\btaint \{cloud\.google\.com\/impending-node-termination\b/ },
]

/**
 * Advice that controllers of Kubernetes and the clouds give with the type Warning: nothing has failed. If a pull without
 * a secret fails, another event reports it.
 */
const ADVICE: ReadonlySet<string> = new Set([
  ...['CgroupV1', 'FailedToRetrieveImagePullSecret', 'MultiplePodDisruptionBudgets', 'NodeSysctlChange'],
  ...['PossibleMemoryBackedVolumesOnDisk', 'ProbeWarning', 'TopologyAwareHintsDisabled', 'UnexpectedJob'],
  'UnmanagedPods',
])

/**
 * Messages about a pod that is finished, deleted or stays after all, about a node's programs that start, and about work
 * that goes on. Null stands for every reason.
 */
const HARMLESS: readonly (readonly [string | null, RegExp])[] = [
  // A controller read an object that changed since, and tries again at once.
  [null, /\bthe object has been modified; please apply your changes to the latest version\b/],
  // The namespace is being deleted with everything in it.
  [null, /\bnamespace \S+ because it is being terminated\b/],
  // The driver of the volume expands it. Older versions send this with the type Warning.
  ['ExternalExpanding', /\bwaiting for (?:an )?external (?:controller|resizer)\b/],
  // The taint manager reports that it does not evict the pod.
  ['TaintManagerEviction', /^Cancelling deletion\b/],
  // The kubelet has forgotten the volumes of a finished pod: github.com/kubernetes/kubernetes/issues/105204
  ['FailedMount', /\bobject "[^"]*"\/"[^"]*" not registered\b/],
  // Karpenter drains a node. The kubelet writes the same reason if a node has no memory or disk left.
  ['Evicted', /^Evicted pod\b/],
  // Kueue: a workload waits in its queue until others are done, or makes room for one with a higher priority.
  ['Pending', /\binsufficient unused quota\b|^Workload no longer fits\b/],
  ['Preempted', /^Preempted to accommodate\b/],
  // The kubelet has just started and has not measured its disks yet.
  ['ImageGCFailed', /\bunable to find data (?:in memory cache|for container \/)/],
  // node-problem-detector's systemd monitor reports each start with the type Warning.
  ['KubeletStart', /^Start(?:ed|ing)\b/],
  ['DockerStart', /^Start(?:ed|ing)\b/],
  ['ContainerdStart', /^Start(?:ed|ing)\b/],
  // The scheduler skips a pod that is being deleted.
  ['FailedScheduling', /^skip schedule deleting pod:/],
]

/** The conditions of a pod that say nothing once the pod is deleted. */
export const FAILS_WHILE_STOPPING =
  /^(?:Unhealthy\b|ProbeError|FailedPreStopHook|FailedMount|FailedUnMount|FailedKillPod|ExceededGracePeriod|(?:CrashLoop|ImagePull)?BackOff|Failed$|FailedCreatePodSandBox|NetworkNotReady|(?:Create|Run)Container|FailedAttachVolume)/

/** What pods on a node report whose network and volumes are not ready yet, because the node has just started. */
export const FAILS_ON_NEW_NODE: ReadonlySet<string> = new Set([
  'FailedCreatePodSandBox',
  'NetworkNotReady',
  'FailedMount',
])

/** What a kubelet reports when it starts, until it has seen its node and the container runtime. */
export const FAILS_WHILE_STARTING: ReadonlySet<string> = new Set(['InvalidDiskCapacity', 'NodeNotReady'])

/** What a node that was told to leave, and the pods on it, report until the machine is gone. */
export const FAILS_WHILE_LEAVING: ReadonlySet<string> = new Set([
  ...['NodeNotReady', 'NodeNotReady (pod)', 'TaintManagerEviction', 'NodeNotSchedulable', 'FailedDraining'],
  ...['KubeletIsDown', 'NodeShutdown'],
])

const LEAVING: ReadonlySet<string> = reasonsOf(LEAVING_NODE)
const ADDING: ReadonlySet<string> = reasonsOf(ADDS_NODE)

function reasonsOf(rows: readonly (readonly [string, string])[]): ReadonlySet<string> {
  return new Set(rows.flatMap(([, reasons]) => reasons.split(' ')))
}

/** Returns whether a node leaves the cluster on purpose. */
export function leavesCluster({ reason, kind }: { readonly reason: string; readonly kind: string }): boolean {
  return kind === 'Node' && LEAVING.has(reason)
}

/** Returns whether an autoscaler is adding a node for a pending pod. */
export function addsNode(reason: string): boolean {
  return ADDING.has(reason)
}

/** Returns whether an event reports nothing but the normal course of things. */
export function isHarmless(reason: string, message: string): boolean {
  return ADVICE.has(reason) || HARMLESS.some(([of, pattern]) => (of ?? reason) === reason && pattern.test(message))
}

/**
 * Returns whether a pod waits because nodes are being drained. `cordoned`: whether a node was cordoned lately.
 */
export function waitsForDrain(message: string, cordoned: () => boolean): boolean {
  return DRAINED.some(({ alone, message: pattern }) => pattern.test(message) && (alone || cordoned()))
}
