/** Interprets the message of a Kubernetes event: refines the reason, or replaces it if none was sent. */

import type { Severity } from '../severity.ts'
import { isHarmless, leavesCluster } from './going-away.ts'
import { isRun } from './opposite.ts'
import { type Failure, REASONS } from './reason-table.ts'

export type ReasonJudgement = {
  /**
   * The condition, which is also the alert's name. This is the reason, or a common name for several reasons, for
   * example 'CrashLoopBackOff'.
   */
  readonly group: string
  /** The severity of this event alone, ignoring repeats. */
  readonly severity: Severity
  /** Null for info. */
  readonly failure: Failure | null
  /** 'reason table', 'message subtype: …', 'failure pattern', 'type Warning', 'type Normal' or 'unknown'. */
  readonly rule: string
}

/** The event reports the normal start or end of a pod, node or program as a failure. */
export const EXPECTED = 'message subtype: expected'

/** The condition for each kind of `Failed` message. The first match wins. */
const FAILED: readonly (readonly [RegExp, string])[] = [
  [/ErrImageNeverPull|not present with pull policy of Never/i, 'ErrImageNeverPull'],
  [/InvalidImageName/, 'InvalidImageName'],
  [/ImageInspectError/, 'InspectFailed'],
  [/ErrImagePull|ImagePullBackOff|failed to pull (?:and unpack )?image/i, 'ImagePullBackOff'],
  [/CreateContainerConfigError|couldn't find key|runAsNonRoot/i, 'CreateContainerConfigError'],
  [/^Error: (?:secret|configmap) "[^"]*" not found/i, 'CreateContainerConfigError'],
  [/RunContainerError|StartError|ContainerCannotRun|failed to start container/i, 'RunContainerError'],
  [/failed to create (?:containerd |shim )?task|OCI runtime|executable file not found/i, 'RunContainerError'],
  [/CreateContainerError|Error response from daemon|failed to create containerd container/i, 'CreateContainerError'],
  [/failed to (?:generate (?:container|spec)|reserve container|prepare subPath)/i, 'CreateContainerError'],
]

/**
 * What controllers report with the type Normal, and only in the message: that something fails, and that it is over.
 * Source: OpenShift's library-go (pkg/operator/status), Argo CD's events, Longhorn's volume controller, Flagger.
 */
export const TURNS: readonly {
  readonly reason: string
  readonly group: string
  /** Missing if another reason reports the failure. */
  readonly fails?: RegExp
  readonly ends: RegExp
}[] = [
  {
    reason: 'OperatorStatusChanged',
    group: 'OperatorDegraded',
    fails: /\b(?:Degraded changed from \w+ to True|Available changed from \w+ to False)\b/,
    ends: /\b(?:Degraded changed from True to False|Available changed from \w+ to True)\b/,
  },
  {
    reason: 'ResourceUpdated',
    group: 'HealthDegraded',
    fails: /^Updated health status: .*-> Degraded$/,
    ends: /^Updated health status: .*-> Healthy$/,
  },
  // Flagger reports each step of a canary with this reason.
  {
    reason: 'Synced',
    group: 'RolloutAborted',
    fails: /^(?:Rolling back|Canary failed|Halt )/,
    ends: /^Promotion completed/,
  },
  // Google's controller for Ingresses. `Scheduled for sync` with the same reason ends nothing.
  { reason: 'Sync', group: 'Translate', ends: /^\w+ "\S+" (?:created|updated)/ },
  // AKS: the node is back from its upgrade.
  { reason: 'Update', group: 'NodeNotSchedulable', ends: /^Successfully (?:upgraded|reimaged) node\b/ },
  { reason: 'Upgrade', group: 'NodeNotSchedulable', ends: /^Successfully (?:upgraded|reimaged) node\b/ },
  // The end has the reason `Healthy`, too.
  { reason: 'Degraded', group: 'VolumeDegraded', fails: /\bbecame degraded$/, ends: /\bbecame healthy$/ },
]

/** The reason for a message that was sent without a reason. The first match wins. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^back-?off (?:\S+ )?(?:restarting|pulling) /i, 'BackOff'],
  [/\bCrashLoopBackOff\b/i, 'CrashLoopBackOff'],
  [/\bOOM-?Kill(?:ed|ing)\b|\bout of memory\b/i, 'OOMKilled'],
  [/^(?:liveness|readiness|startup) probe (?:failed|errored|error)\b/i, 'Unhealthy'],
  [/\bfailed (?:liveness|startup) probe\b|^Stopping container /i, 'Killing'],
  [/\bnodes are available\b/i, 'FailedScheduling'],
  [/^successfully assigned /i, 'Scheduled'],
  [/^scaled (?:up|down) replica ?set /i, 'ScalingReplicaSet'],
  [/^Error creating: /i, 'FailedCreate'],
  [/^failed to create pod sandbox/i, 'FailedCreatePodSandBox'],
  [/^MountVolume\.|^unable to (?:attach or )?mount volumes/i, 'FailedMount'],
  [/^AttachVolume\.Attach succeeded/i, 'SuccessfulAttachVolume'],
  [/^AttachVolume\.|^Multi-Attach error/i, 'FailedAttachVolume'],
  [/\bNodeNotReady\b/, 'NodeNotReady'],
  [/\bNodeReady\b/, 'NodeReady'],
]

const COMBINED = /^(?:\(combined from similar events\): \s*)+/

/** Returns the message trimmed and without the prefix for combined events. */
export function plainMessage(message: string): string {
  return message.trim().replace(COMBINED, '')
}

/** Matches the UID in the kubelet's notation for pods: `checkout-x2kqp_shop(6d0f2b7e-5f1c-4a55-9d35-0c6a1b2f3e4d)`. */
const POD_UID = /(?<=[a-z\d]_[a-z\d][a-z\d-]{0,62})\([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\)/g

/** Removes the UIDs that the kubelet appends to pod names. */
export function withoutPodUid(message: string): string {
  return message.replace(POD_UID, '')
}

/** Returns the node to which the scheduler assigned a pod, or null. */
export function assignedNode(message: string): string | null {
  return /^Successfully assigned \S+ to (\S+)$/.exec(message)?.[1] ?? null
}

/** Returns the node that a stored event of a pod names, or null. `body`: JSON. */
export function nodeIn({ text, body }: { readonly text: string; readonly body: string | null }): string | null {
  return assignedNode(text) ?? reportedNode(body)
}

/** Returns the node that a Kubernetes event names as the pod's or as its own source. `body`: the event's payload. */
export function reportedNode(body: string | null): string | null {
  const { nodeName, source, deprecatedSource, Node } = JSON.parse(body ?? '{}')
  const named = [nodeName, source?.host, deprecatedSource?.host, Node]
  return named.find((one): one is string => typeof one === 'string' && one !== '') ?? null
}

/** Returns the reason as sent, the reason implied by the message, or ''. `message`: the result of `plainMessage`. */
export function reasonOf(reason: string, message: string): string {
  const given = reason.trim()
  if (given !== '') return given
  return [...MESSAGES, ...FAILED].find(([pattern]) => pattern.test(message))?.[1] ?? ''
}

/**
 * Uses the kubelet's message to distinguish conditions that share a reason. Returns null if the reason is specific
 * enough.
 */
export function subtypeOf(reason: string, message: string, kind: string): ReasonJudgement | null {
  if (isHarmless(reason, message) || leavesCluster({ reason, kind }))
    return { group: reason || 'Message', severity: 'info', failure: null, rule: EXPECTED }
  switch (reason) {
    case 'BackOff':
      return backOff(message)
    case 'Failed':
      return kind === 'Pod' ? failed(message) : ofObject(reason, kind)
    case 'Unhealthy':
      return kind === 'Pod' ? probe(message) : ofObject(reason, kind)
    case 'Error':
      return isRun(kind) ? ofObject(reason, kind) : null
    case 'ProbeError':
      return probe(message)
    case 'Killing':
      return killing(message)
    case 'OOMKilling':
      return containerLimit(message, kind)
    case 'NodeNotReady':
      return podOfNode(message, kind)
    case 'PolicyViolation':
    case 'PolicyError':
      return /(?::|\]) pass\b/.test(message)
        ? { group: reason, severity: 'info', failure: null, rule: 'message subtype: pass' }
        : null
    default:
      return reason.startsWith('Issuing')
        ? { group: reason, severity: 'info', failure: null, rule: 'reason table' }
        : (turned(reason, message) ?? conditionOfNode(reason, message, kind))
  }
}

/** Returns the condition of a node that node-problem-detector reports with a state, or null. */
export function nodeCondition(message: string, kind: string, state: 'True' | 'False'): string | null {
  const [, condition = null, found] = (kind === 'Node' && CONDITION.exec(message)) || []
  return found === state ? condition : null
}
const CONDITION = /^Node condition (\w+) is now: (True|False)\b/

/** A plugin can report any condition, and its end with any reason. So the condition names the alert. */
function conditionOfNode(reason: string, message: string, kind: string): ReasonJudgement | null {
  const group = REASONS.has(reason) ? null : nodeCondition(message, kind, 'True')
  if (group === null) return null
  return { group, severity: 'warning', failure: 'node', rule: 'message subtype: condition of a node' }
}

function turned(reason: string, message: string): ReasonJudgement | null {
  const turn = TURNS.find((one) => one.reason === reason && one.fails?.test(message))
  if (turn === undefined) return null
  const failure = REASONS.get(turn.group)?.failure ?? 'other'
  return { group: turn.group, severity: 'warning', failure, rule: 'message subtype: fails' }
}

/**
 * Only the kubelet reports a container with the reason `Failed`, or a probe with `Unhealthy`. Other controllers mean
 * their own object, as ECK does with `Elasticsearch cluster health degraded`.
 */
function ofObject(reason: string, kind: string): ReasonJudgement {
  const failure = isRun(kind) ? 'job' : 'other'
  return { group: `${reason} (${kind})`, severity: 'warning', failure, rule: 'message subtype: not a pod' }
}

function backOff(message: string): ReasonJudgement | null {
  const rule = 'message subtype: '
  if (/^back-?off (?:\S+ )?restarting /i.test(message))
    return { group: 'CrashLoopBackOff', severity: 'error', failure: 'crash', rule: `${rule}restarting` }
  if (/^back-?off (?:\S+ )?pulling /i.test(message))
    return { group: 'ImagePullBackOff', severity: 'error', failure: 'image', rule: `${rule}pulling` }
  return null
}

function failed(message: string): ReasonJudgement | null {
  const group = FAILED.find(([pattern]) => pattern.test(message))?.[1]
  if (group === undefined) return null
  const row = REASONS.get(group)
  // The kubelet reports Failed if the container could not start, so the severity is at least the severity of Failed.
  const severity = row?.severity === 'critical' ? 'critical' : 'error'
  return { group, severity, failure: row?.failure ?? 'other', rule: `message subtype: ${group}` }
}

function probe(message: string): ReasonJudgement | null {
  const which = /^(liveness|readiness|startup) probe\b/i.exec(message)?.[1]?.toLowerCase()
  if (which === undefined) return null
  const severity = which === 'liveness' ? 'error' : 'warning'
  return { group: `Unhealthy (${which})`, severity, failure: 'probe', rule: `message subtype: ${which}` }
}

function killing(message: string): ReasonJudgement | null {
  const which =
    /\bfailed (liveness|startup) probe\b/i.exec(message)?.[1]?.toLowerCase() ??
    (/\bliveness probe failed\b|\bis unhealthy\b/i.test(message) ? 'liveness' : null)
  if (which === null) return null
  return { group: `Unhealthy (${which})`, severity: 'warning', failure: 'probe', rule: `message subtype: ${which}` }
}

/**
 * A container that reached its memory limit says nothing about its node. The kernel's message names no container, and
 * the kubelet reports the pod. If the node itself is out of memory, the message does not name a cgroup.
 */
function containerLimit(message: string, kind: string): ReasonJudgement | null {
  if (kind !== 'Node' || !/\bcgroup out of memory\b/i.test(message)) return null
  return { group: 'OOMKilling (container)', severity: 'info', failure: null, rule: EXPECTED }
}

// No event on the pod reports that the pod's node is ready again. The pod's condition therefore has a different name
// and ends earlier.
function podOfNode(message: string, kind: string): ReasonJudgement | null {
  if (kind !== 'Pod' || /\bstatus is now\b/.test(message)) return null
  return { group: 'NodeNotReady (pod)', severity: 'critical', failure: 'node', rule: 'reason table' }
}
