/**
 * Classifies Kubernetes events: the condition, its severity, which events end it, and which alerts report the same
 * failure. Start here.
 */
import { cacheByName } from '../memoize.ts'
import { rank, type Severity } from '../severity.ts'
import { addsNode, isHarmless, leavesCluster } from './going-away.ts'
import { endedByRun, FAILURE_END, FAILURE_START, isAllWell, isRun, oppositesOf, undoneBy } from './opposite.ts'
import { hintOf } from './reason-hint.ts'
import {
  EXPECTED,
  nodeCondition,
  plainMessage,
  type ReasonJudgement,
  reasonOf,
  subtypeOf,
  TURNS,
} from './reason-message.ts'
import {
  ENDS,
  type Failure,
  GROUPS,
  NODE_ONLY,
  NORMAL,
  NORMAL_OF_NODES,
  REASONS,
  REPORTED,
  TERMINAL,
} from './reason-table.ts'
import { removesEndpoints, rolloutOf } from './rollout.ts'

/** The kinds of objects that lead requests to pods. */
const SERVING: ReadonlySet<string> = new Set(['Service', 'Endpoints', 'EndpointSlice'])

/** A controller or a watched cluster reports a new pod template. */
const CHANGES: ReadonlySet<string> = new Set(['ScalingReplicaSet', 'RolloutStarted', 'WorkloadScaled'])

type ReasonFinding = ReasonJudgement & {
  /** The Kubernetes event type, inferred if the sender omits it. */
  readonly type: 'Normal' | 'Warning'
  /** Whether repeats raise the severity to critical; see `isRepeated`. */
  readonly escalates: boolean
  /** Whether a Deployment scaled a ReplicaSet. A new hash means a new pod template. */
  readonly change: boolean
  /** The usual cause, and what to check first. */
  readonly hint: string | null
}

/** The fields of an event that rules read. `kind`: the kind of its object. */
type KubernetesEvent = { readonly reason: string; readonly message: string; readonly kind: string }
type TypedEvent = KubernetesEvent & { readonly type: 'Normal' | 'Warning' | null }

const GROUP_LENGTH = 100
const FAILED_MESSAGE = /^(?:failed|failure|error|err\b|invalid|unable)/i

/**
 * Classifies an event by its reason, and by its message if the reason is missing or too general. The type `Warning`
 * raises info to warning. The type `Normal` affects only unknown reasons, which stay at info. Kubernetes also uses this
 * type for problems such as NodeNotReady and FailedBinding.
 */
export function judgeReason(event: TypedEvent): ReasonFinding {
  const message = plainMessage(event.message)
  const reason = reasonOf(event.reason, message)
  const judged = lift(judge(reason, message, event), event.type)
  return {
    ...judged,
    type:
      event.type ??
      (judged.severity === 'info' || isCalledNormal(reason, judged.group, event.kind) ? 'Normal' : 'Warning'),
    escalates: judged.severity === 'error',
    change: CHANGES.has(reason) || (SERVING.has(event.kind) && removesEndpoints(message)),
    hint: judged.severity === 'info' ? null : hintOf(judged.group, message),
  }
}

/**
 * Returns whether Kubernetes reports this problem with type Normal: node conditions, kills, image back-off, unbound
 * claims.
 */
function isCalledNormal(reason: string, group: string, kind: string): boolean {
  if (reason === 'BackOff') return group === 'ImagePullBackOff'
  return kind === 'Node' ? NORMAL_OF_NODES.has(reason) : NORMAL.has(reason)
}

function judge(reason: string, message: string, event: TypedEvent): ReasonJudgement {
  const subtype = subtypeOf(reason, message, event.kind)
  if (subtype) return subtype
  const row = REASONS.get(reason)
  if (!row) return judgeUnknown(reason, message, event)
  const severity = NODE_ONLY.has(reason) && event.kind !== 'Node' ? 'warning' : row.severity
  const rule = event.reason.trim() === '' ? `message subtype: ${reason}` : 'reason table'
  return { group: GROUPS.get(reason) ?? reason, severity, failure: row.failure, rule }
}

function judgeUnknown(reason: string, message: string, { type, kind }: TypedEvent): ReasonJudgement {
  const group = (reason === '' ? 'Message' : reason).slice(0, GROUP_LENGTH).toWellFormed()
  if (oppositesOf(reason).length > 0) return { group, severity: 'info', failure: null, rule: 'opposite of a problem' }
  const fails = reason === '' ? FAILED_MESSAGE.test(message) : FAILURE_START.test(reason) || FAILURE_END.test(reason)
  if (!fails) return { group, severity: 'info', failure: null, rule: 'unknown' }
  if (type === 'Normal') return { group, severity: 'info', failure: null, rule: 'type Normal' }
  return { group, severity: 'warning', failure: isRun(kind) ? 'job' : 'other', rule: 'failure pattern' }
}

function lift(judged: ReasonJudgement, type: 'Normal' | 'Warning' | null): ReasonJudgement {
  if (type !== 'Warning' || judged.severity !== 'info' || judged.rule === EXPECTED) return judged
  return { ...judged, severity: 'warning', failure: 'other', rule: 'type Warning' }
}

/**
 * Returns whether an error is critical: it was counted at least 5 times, affects at least 2 pods, or has at least 3
 * events within 10 minutes.
 */
export function isRepeated(seen: { count: number; pods: number; inTenMinutes: number }): boolean {
  return seen.count >= 5 || seen.pods >= 2 || seen.inTenMinutes >= 3
}

/**
 * Returns the conditions that an event ends, on its own object or on the workload of a claim, Job or ReplicaSet. A
 * `Started` event ends no problem of a container, because every restart in a crash loop emits one. It ends what keeps a
 * pod from starting its containers.
 */
export function ends(event: KubernetesEvent): readonly string[] {
  const message = plainMessage(event.message)
  const reason = reasonOf(event.reason, message)
  if (reason === 'Completed' && event.kind !== 'Job') return endedByRun(event.kind)
  if (reason === 'SawCompletedJob' && FAILED_JOB.test(message)) return []
  if (reason === 'Issuing') return /\bsuccessfully issued\b/i.test(message) ? [`Failed (${event.kind})`] : []
  const turned = TURNS.flatMap((one) => (one.reason === reason && one.ends.test(message) ? [one.group] : []))
  const over = nodeCondition(message, event.kind, 'False')
  const ended = ENDS.get(reason) ?? [...oppositesOf(reason), ...undoneBy(reason)]
  return [...turned, ...(over === null ? [] : [over]), ...ended]
}

const FAILED_JOB = /\b(?:status|condition): Failed\b/i

/** Returns whether an event says that an object has no problem, and so ends a condition that no row of the tables ends. */
export function endsAll(event: KubernetesEvent, group: string): boolean {
  const kind = OF_KIND.exec(group)?.[1] ?? event.kind
  return isAllWell(event) && !REASONS.has(group) && kind === event.kind
}
/** `Failed (PipelineRun)` */
const OF_KIND = / \(([A-Z]\w+)\)$/

/** An event that reports progress or trouble and not success. */
const UNDER_WAY = /\b(?:fail|error|degrad|unable|retry|retries|wait|start|schedul)/i

/**
 * Returns whether an event with the type Normal reports the success of what the same reason reported as failed with the
 * type Warning. Argo CD and other controllers use one reason for both.
 */
export function succeeds({ reason, message, kind }: KubernetesEvent): boolean {
  const isKnown = REASONS.has(reason) || reason === '' || FAILURE_START.test(reason) || FAILURE_END.test(reason)
  return !isKnown && !UNDER_WAY.test(message) && subtypeOf(reason, message, kind) === null
}

/**
 * Returns the object that was deleted according to an event, or null. A name that ends in `*` stands for all pods of a
 * ReplicaSet. A `Killing` event from the kubelet that says only "Stopping container" means that the pod was deleted. If
 * the container is restarted, the message also contains a reason. Controllers write `Deleted pod: NAME`. A Job that is
 * complete needs none of its pods any more. A StatefulSet writes `delete Pod NAME in …`. The scheduler writes `skip schedule deleting pod: NAMESPACE/NAME`.
 */
export function deletedObjectOf(event: KubernetesEvent & { readonly object: string }): string | null {
  const message = plainMessage(event.message)
  const reason = reasonOf(event.reason, message)
  if (leavesCluster({ reason, kind: event.kind })) return event.object
  switch (reason) {
    case 'PodDeleted':
    case 'PodFinished':
    case 'WorkloadDeleted':
      return event.object
    case 'Preempted':
      return event.kind === 'Pod' ? event.object : null
    case 'Killing':
      return event.kind === 'Pod' && /^Stopping container \S+$/.test(message) ? event.object : null
    case 'SuccessfulDelete':
      return /^(?:Deleted pod:|delete Pod) ([^\s,]+)/.exec(message)?.[1] ?? null
    case 'Completed':
      return event.kind === 'Job' ? `${event.object}-*` : null
    case 'SawCompletedJob':
      return FAILED_JOB.test(message)
        ? null
        : (/^Saw completed job: ([^\s,]+)/.exec(message)?.[1]?.concat('-*') ?? null)
    case 'FailedScheduling':
    case 'FailedMount':
    case 'Evicted':
      return isHarmless(reason, message) ? event.object : null
    case 'ScalingReplicaSet': {
      const scaled = rolloutOf(message)
      return scaled?.to === 0 ? `${scaled.replicaSet}-*` : null
    }
    default:
      return null
  }
}

/** Returns whether an event can end or explain earlier conditions of its service. */
export function tellsOfEnds(event: KubernetesEvent & { readonly object: string }): boolean {
  const { reason } = event
  const isEnd = ends(event).length > 0 || deletedObjectOf(event) !== null || succeeds(event) || isAllWell(event)
  return addsNode(reason) || isEnd || reason === 'Started'
}

/** Returns whether the end of a condition is always reported. If so, missing repeats do not mean recovery. */
export function hasCounterpart(group: string): boolean {
  return REPORTED.has(group)
}

/** Returns whether a condition is a final failure, which is never repeated. */
export function isTerminal(group: string): boolean {
  return TERMINAL.has(group)
}

/**
 * Returns the failure that an alert name implies, following the conventions of the Kubernetes mixin. 'workload' means
 * that pods are missing or not ready for any reason. Returns null if no event could show the failure.
 */
export const failureOfAlert: (name: string) => Failure | 'workload' | null = cacheByName((name) => {
  const words = name
    .replace(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, ' ')
    .replace(/[^A-Za-z\d]/g, ' ')
    .toLowerCase()
  return ALERT_NAMES.find(([patterns]) => patterns.every((pattern) => pattern.test(words)))?.[1] ?? null
})

/**
 * The failure that an alert name implies. The patterns are matched against the words of the name in lower case. All
 * patterns must match. The first row wins.
 */
const ALERT_NAMES: readonly (readonly [readonly RegExp[], Failure | 'workload' | null])[] = [
  [[/overcommit|quota|filling up|maxed out|mis ?scheduled|certificate/], null],
  [[/\bjobs? (?:failed|failing|failure|not completed|slow|deadline)|\bcron ?jobs?\b/], 'job'],
  [[/\boom|out of memory|\bmemory\b/], 'memory'],
  [[/\bnode systemd\b/], 'node'],
  [[/crash|\brestart/], 'crash'],
  [
    [
      /\bkubelet\b|\bnode (?!exporter|port|js)|\bnode$/,
      /ready|readiness|unreachable|pressure|evict|\bdown\b|\bdisk|file ?system|reboot/,
    ],
    'node',
  ],
  [[/\bimages?\b|image ?pull/], 'image'],
  [[/config error/], 'config'],
  [[/liveness|readiness|startup probe|unhealthy/], 'probe'],
  [[/\bnot scheduled|unschedulable|scheduling/], 'scheduling'],
  [[/\bvolumes?\b|\bpvc?\b/], 'volume'],
  [[/generation mismatch|progress deadline/], 'rollout'],
  [[/\bnetwork\b|\bcni\b|\bsandbox\b/], 'network'],
  [
    [
      /\b(?:pods?|containers?|deployments?|(?:stateful|daemon|replica) ?sets?|replicas|rollout|workload)\b/,
      /not ready|not healthy|not enough|mismatch|stuck|unavailable|waiting|pending|missing|failed|failing|not rolled out/,
    ],
    'workload',
  ],
  [[/\bdown\b|\bprobe fail/], 'workload'],
]

/**
 * Returns whether a Kubernetes condition and an alert of the same service report the same failure. An alert with
 * severity error or critical matches every condition.
 */
export function isSameFailure(condition: Failure, alert: { name: string; severity: Severity }): boolean {
  if (rank(alert.severity) >= rank('error')) return true
  const failure = failureOfAlert(alert.name)
  if (failure === null || condition === 'other') return false
  if (failure === 'workload') return condition !== 'job'
  // A container loops if it exits, cannot start, or is killed for its memory usage or by its liveness probe.
  if (failure === 'crash') return ['crash', 'memory', 'probe', 'config'].includes(condition)
  return failure === condition
}
