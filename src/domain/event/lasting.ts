/**
 * Decides how long a condition lasts after its last report. A momentary condition is a single occurrence. A lasting
 * condition continues until its end is reported, its pod is deleted, or it is no longer repeated. How long to wait for
 * a repeat depends on how often Kubernetes repeats the event.
 */
import { HOUR, MINUTE, SECOND } from '../units.ts'
import { type Failure, REASONS, REPORTED_ONCE, STATES, TERMINAL } from './reason-table.ts'

/** How long a momentary condition lasts. A container killed for its memory usage restarts within minutes. */
const MOMENT = 10 * MINUTE
/** How long a condition lasts if its sender never reports repeats. */
const SILENT_SENDER = HOUR

/** After a failure, cert-manager waits for up to 32 hours before it tries again. */
const CERTIFICATE = 32 * HOUR

/** Reasons that Kubernetes reports when it removes a pod. The pod's conditions end with the pod. */
const REMOVALS: ReadonlySet<string> = new Set(['Evicted', 'Preempted', 'Killing', 'TaintManagerEviction'])

/** Reasons of single occurrences. The kubelet and the kernel report each occurrence once and never report an end. */
const MOMENTS: ReadonlySet<string> = new Set([
  ...['Rebooted', 'OOMKilled', 'OOMKilling', 'SystemOOM', 'Preempting', 'NodeShutdown', 'InvalidDiskCapacity'],
  // Problems of the kernel that node-problem-detector reads in the log.
  ...['KernelOops', 'TaskHung', 'UnregisterNetDevice', 'Ext4Error', 'Ext4Warning', 'IOError', 'MemoryReadError'],
  'CorruptDockerImage',
  // A StatefulSet or DaemonSet replaces the pod.
  ...['RecreatingFailedPod', 'FailedDaemonPod'],
  ...REMOVALS,
])

/**
 * After this many probe failures, repeats may become rare. The kubelet reports every failed probe, by default every 10
 * seconds (`periodSeconds`).
 */
const MANY_PROBES = 20
/**
 * The kubelet restarts a container after three failed liveness probes (`failureThreshold`). After three restarts, it
 * waits with the next one as with a container that crashes, and the events of the restarts (`Killing`, `Pulled`,
 * `Created`, `Started`) have used up the burst of the spam filter, so that missing failures say little.
 */
const MANY_RESTARTS = 9
/**
 * Within this time, a container that crashes has been restarted after 10 and 20 seconds, and its next restart is at most
 * 40 seconds away. Its events have not used up the burst of 25 yet (one pod did so in 55 seconds). So the container runs
 * if it is not reported for 5 minutes. Images are different: `Pulled` reports the end.
 */
const YOUNG_LOOP = 40 * SECOND
/**
 * After this many back-offs, repeats are rare. The kubelet waits 10 seconds and then twice as long each time, up to 5
 * minutes (`MaxContainerBackOff`). The event recorder passes a burst of 25 events for each source and object, then one
 * every 5 minutes (`defaultSpamBurst`, `defaultSpamQPS` in client-go's tools/record/events_cache.go). The kubelet's other
 * events about the pod, at least three a restart, take turns with the back-off. If a pod restarts every 5 minutes, they can
 * take the turn several times in a row: gaps of 11 minutes were observed.
 */
const MANY_LOOPS = 25
/**
 * A controller that cannot create a pod waits 5 milliseconds, then twice as long each time, up to 1,000 seconds
 * (`DefaultControllerRateLimiter` in client-go; github.com/kubernetes/kubernetes/issues/98656). So the next failure is as
 * far away as the first one. Kubernetes splits the count between events whose messages differ, so a small count can hide
 * long waits. With 5 minutes until the failures have lasted 4, `npm run truth` loses 4 of 63 incidents of unavailable
 * services ten minutes after the recordings.
 */
const MANY_CREATES = 6

/** Returns whether a condition is momentary. */
export function isMoment(group: string): boolean {
  return MOMENTS.has(group)
}

/** A firing metrics alert of the service keeps a Kubernetes condition only if it was counted this often. */
const COUNTED_OFTEN = 20

/**
 * Returns from how many observations on a condition does not end for lack of repeats; null if it always does. A condition
 * cannot continue if its pod was removed. `metricsFiring`: whether a metrics alert of the same service is firing.
 */
export function lastsFrom(group: string, metricsFiring: boolean): number | null {
  return metricsFiring && !REMOVALS.has(group) ? COUNTED_OFTEN : null
}

/** Returns whether the state of an object shows whether a condition goes on, if the cluster is watched. */
export function isState(group: string): boolean {
  return STATES.has(group)
}

/** Returns whether the node controller says with this condition that a pod's node is lost. */
export function isLostNode(group: string): boolean {
  return group === 'NodeNotReady (pod)'
}

const PROBES = /^(?:Unhealthy(?: \((?:readiness|liveness|startup)\))?|ProbeError)$/

/** Returns whether a condition is a failing probe. */
export function isProbe(group: string): boolean {
  return PROBES.test(group)
}

/**
 * Returns how long to wait for a repeat, in milliseconds, before the condition is considered over. `count`: the number
 * of occurrences, from the sender's count or from separate events. `repeats`: whether the sender reports repeats. If
 * the sender never reports repeats, missing events say nothing about the end of a lasting condition. `lasted`: the
 * milliseconds from the first to the last occurrence; 0 if unknown.
 */
export function quietPeriodOf(group: string, count: number, repeats: boolean, lasted = 0): number {
  if (isMoment(group)) return MOMENT
  return repeats ? quietOf(group, count, lasted) : SILENT_SENDER
}

function quietOf(group: string, count: number, lasted: number): number {
  const failure: Failure | null = REASONS.get(group)?.failure ?? null
  const isRestarted = group === 'Unhealthy (liveness)' && count >= MANY_RESTARTS
  if (isLoop(group, failure) || isRestarted) {
    const isYoung = count === 1 || (failure !== 'image' && lasted > 0 && lasted < YOUNG_LOOP)
    return isYoung ? 5 * MINUTE : count < MANY_LOOPS ? 15 * MINUTE : 30 * MINUTE
  }
  // Probes fail every 10 seconds. From the 26th event on, the spam filter passes only one event every 5 minutes.
  if (isProbe(group)) return count >= MANY_PROBES ? 6 * MINUTE : 150 * SECOND
  // The scheduler reports an unschedulable pod once, and again only after the cluster has changed.
  if (group === 'FailedScheduling') return HOUR
  // Node states and final failures are reported only once.
  if (REPORTED_ONCE.has(group) || TERMINAL.has(group) || isLostNode(group)) return HOUR
  if (group === 'Failed (Certificate)') return CERTIFICATE
  if (group === 'FailedCreate') return count >= MANY_CREATES ? 20 * MINUTE : 5 * MINUTE
  if (group === 'FailedBinding' || group === 'ProvisioningFailed') return 10 * MINUTE
  return 15 * MINUTE
}

/** Returns whether the kubelet is restarting a container or pulling an image with a growing back-off. */
function isLoop(group: string, failure: Failure | null): boolean {
  return group === 'CrashLoopBackOff' || group === 'BackOff' || failure === 'image'
}

/** Conditions in which a pod is unavailable, or a workload cannot create its pods. */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  ...['CrashLoopBackOff', 'BackOff', 'ImagePullBackOff', 'ErrImageNeverPull', 'InvalidImageName', 'InspectFailed'],
  ...['Failed', 'CreateContainerConfigError', 'CreateContainerError', 'RunContainerError', 'FailedPostStartHook'],
  ...['FailedScheduling', 'FailedMount', 'FailedAttachVolume', 'FailedMapVolume', 'FailedCreate'],
  ...['FailedCreatePodSandBox', 'NetworkNotReady', 'NodeNotReady (pod)', 'CrashLoop', 'WorkloadUnavailable'],
])

/** Returns whether a pod is unavailable while it has this condition. */
export function meansUnavailable(group: string): boolean {
  return UNAVAILABLE.has(group) || isProbe(group)
}
