/** Reads the objects of the Kubernetes API. The API server has validated them; missing fields get defaults. */
import { BUDGETS } from '../budgets.ts'
import { cutText } from '../text.ts'
import type { Container, Images, Kind, Owner, PodFacts, Seen, SeenOf, WorkloadFacts } from '../watch/object.ts'

/** A part of an object as parsed from JSON. */
// biome-ignore lint/suspicious/noExplicitAny: the API server validates its objects, and each field is read with a default
type Json = any

/** Kubernetes allows no longer names. */
const MAX_NAME = 253
/** The containers of a pod or a template that are read. */
const MAX_CONTAINERS = BUDGETS['object-items'].value
const MAX_TEXT = BUDGETS['object-text'].value

/** Reads one object. Returns null if it has no uid or no valid name. `now`: used where the object has no time. */
export function readSeen(kind: Kind, object: Json, now: number): Seen | null {
  const { metadata } = object ?? {}
  if (typeof metadata?.uid !== 'string') return null
  const head = {
    uid: metadata.uid,
    version: text(metadata.resourceVersion),
    namespace: text(metadata.namespace),
    name: text(metadata.name),
    owner: ownerOf(metadata),
  }
  if (head.name.length > MAX_NAME || head.namespace.length > MAX_NAME) return null
  switch (kind) {
    case 'Pod':
      return { ...head, kind, facts: podFacts(object, now) }
    case 'ReplicaSet': {
      const revision = numberOf(metadata.annotations?.['deployment.kubernetes.io/revision'])
      return {
        ...head,
        kind,
        facts: { revision, images: imagesOf(object.spec), createdAt: time(metadata.creationTimestamp, now) },
      }
    }
    case 'Deployment':
    case 'StatefulSet':
    case 'DaemonSet':
      return { ...head, kind, facts: workloadFacts(kind, object) }
    case 'Job':
      return { ...head, kind, facts: jobFacts(object, now) }
    case 'CronJob':
      return {
        ...head,
        kind,
        facts: { suspended: object.spec?.suspend === true, images: imagesOf(object.spec?.jobTemplate?.spec) },
      }
    case 'Node':
      return { ...head, kind, facts: nodeFacts(object, now) }
    case 'HorizontalPodAutoscaler':
      return { ...head, kind, facts: autoscalerFacts(object, now) }
    case 'Event':
      return { ...head, kind, facts: null }
  }
}

function ownerOf({ ownerReferences }: Json): Owner | null {
  if (!Array.isArray(ownerReferences)) return null
  const owner = ownerReferences.find((one) => one?.controller === true) ?? ownerReferences[0]
  return owner ? { kind: text(owner.kind), name: text(owner.name) } : null
}

function podFacts({ metadata, spec, status }: Json, now: number): PodFacts {
  const condition = (type: string) => list(status?.conditions).find((one) => one.type === type)
  const scheduled = condition('PodScheduled')
  const ready = condition('Ready')
  const disrupted = condition('DisruptionTarget')
  const createdAt = time(metadata.creationTimestamp, now)
  const stops = metadata.deletionTimestamp
  const grace = numberOf(metadata.deletionGracePeriodSeconds) * 1000
  const isUnscheduled = scheduled?.status === 'False' && scheduled.reason === 'Unschedulable'
  return {
    node: text(spec?.nodeName) || null,
    phase: text(status?.phase),
    reason: text(status?.reason),
    message: text(status?.message),
    createdAt,
    stoppingAt: stops ? time(stops, now) - grace : null,
    disrupted: disrupted?.status === 'True' ? text(disrupted.reason) : null,
    unscheduled: isUnscheduled
      ? { message: text(scheduled.message), since: time(scheduled.lastTransitionTime, createdAt) }
      : null,
    ready: ready?.status === 'True',
    readySince: time(ready?.lastTransitionTime, createdAt),
    containers: [...list(status?.initContainerStatuses), ...list(status?.containerStatuses)]
      .slice(0, MAX_CONTAINERS)
      .map(containerOf),
    told: false,
  }
}

function containerOf({ name, imageID, state, lastState, restartCount }: Json): Container {
  // A container that has just ended shows its end as its state, and only later as its last state.
  const last = state?.terminated ?? lastState?.terminated
  return {
    name: text(name),
    digest: text(imageID).split('@')[1] ?? '',
    waits: state?.waiting ? text(state.waiting.reason) : null,
    message: text(state?.waiting?.message),
    restarts: numberOf(restartCount),
    startedAt: state?.running ? time(state.running.startedAt, 0) : null,
    last: last
      ? {
          exitCode: numberOf(last.exitCode),
          reason: text(last.reason),
          from: time(last.startedAt, 0),
          to: time(last.finishedAt, 0),
        }
      : null,
  }
}

function workloadFacts(
  kind: 'Deployment' | 'StatefulSet' | 'DaemonSet',
  { metadata, spec, status }: Json,
): WorkloadFacts {
  const isDaemon = kind === 'DaemonSet'
  const wanted = isDaemon ? numberOf(status?.desiredNumberScheduled) : numberOf(spec?.replicas, 1)
  const ready = numberOf(isDaemon ? status?.numberReady : status?.readyReplicas)
  const updated = numberOf(isDaemon ? status?.updatedNumberScheduled : status?.updatedReplicas)
  const available = numberOf(isDaemon ? status?.numberAvailable : status?.availableReplicas)
  const progressing = list(status?.conditions).find((one) => one?.type === 'Progressing')
  const isObserved = numberOf(status?.observedGeneration) >= numberOf(metadata.generation)
  return {
    ...{ wanted, ready, available },
    images: imagesOf(spec),
    revision: revisionOf(kind, metadata, status, spec),
    by: managerOf(metadata.managedFields, 'f:template'),
    scaledBy: managerOf(metadata.managedFields, 'f:replicas'),
    finished: isObserved && updated >= wanted && available >= wanted,
    stuck: progressing?.reason === 'ProgressDeadlineExceeded' ? text(progressing.message) : null,
    ...{ noneSince: null, fewSince: null, told: null },
  }
}

function revisionOf(kind: string, metadata: Json, status: Json, spec: Json): string {
  if (kind === 'Deployment') return text(metadata.annotations?.['deployment.kubernetes.io/revision'])
  if (kind === 'StatefulSet') return text(status?.updateRevision)
  const text_ = JSON.stringify(spec?.template ?? null)
  let hash = 2_166_136_261
  for (let index = 0; index < text_.length; index += 1) hash = Math.imul(hash ^ text_.charCodeAt(index), 16_777_619)
  return `${metadata.name}-${(hash >>> 0).toString(16).padStart(8, '0')}`
}

/** Returns the client that last changed a field of the specification. Kubernetes' own controllers are named as such. */
function managerOf(managedFields: Json, field: string): string {
  const owners = list(managedFields).filter(
    (one) => one?.subresource !== 'status' && one?.fieldsV1?.['f:spec']?.[field],
  )
  const last = owners.sort((a, b) => (text(a.time) < text(b.time) ? -1 : 1)).at(-1)
  return text(last?.manager)
}

function imagesOf(spec: Json): Images {
  const containers = list(spec?.template?.spec?.containers).slice(0, MAX_CONTAINERS)
  return Object.fromEntries(containers.map((one) => [text(one?.name), text(one?.image)]))
}

const PRESSURES = new Map([
  ['MemoryPressure', 'NodeHasInsufficientMemory'],
  ['DiskPressure', 'NodeHasDiskPressure'],
  ['PIDPressure', 'NodeHasInsufficientPID'],
])

function nodeFacts({ spec, status, metadata }: Json, now: number): SeenOf<'Node'>['facts'] {
  const conditions = list(status?.conditions)
  const ready = conditions.find((one) => one?.type === 'Ready')
  const since = time(ready?.lastTransitionTime, time(metadata.creationTimestamp, now))
  const pressures = conditions.flatMap((one) => (one?.status === 'True' ? (PRESSURES.get(one.type) ?? []) : []))
  return {
    ready: text(ready?.status ?? 'Unknown'),
    since,
    heardAt: time(ready?.lastHeartbeatTime, since),
    message: text(ready?.message),
    pressures,
    cordoned: spec?.unschedulable === true,
  }
}

function jobFacts({ status }: Json, now: number): SeenOf<'Job'>['facts'] {
  const condition = (type: string) =>
    list(status?.conditions).find((one) => one?.type === type && one.status === 'True')
  const failed = condition('Failed')
  const ended = failed ?? condition('Complete')
  return {
    failed: failed ? text(failed.reason) : null,
    message: text(failed?.message),
    complete: condition('Complete') !== undefined,
    endedAt: time(ended?.lastTransitionTime, now),
  }
}

/** `autoscaling/v1` has no conditions. */
function autoscalerFacts({ spec, status, metadata }: Json, now: number): SeenOf<'HorizontalPodAutoscaler'>['facts'] {
  const active = list(status?.conditions).find((one) => one?.type === 'ScalingActive')
  // Somebody has scaled the workload to zero, which switches the autoscaler off.
  const fails = active?.status === 'False' && active.reason !== 'ScalingDisabled'
  const since = time(active?.lastTransitionTime, time(metadata.creationTimestamp, now))
  return {
    target: { kind: text(spec?.scaleTargetRef?.kind), name: text(spec?.scaleTargetRef?.name) },
    least: numberOf(spec?.minReplicas, 1),
    most: numberOf(spec?.maxReplicas),
    fails: fails ? { reason: text(active.reason), message: text(active.message), since } : null,
  }
}

function list(value: Json): Json[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []
}

function text(value: Json): string {
  return typeof value === 'string' ? cutText(value, MAX_TEXT) : ''
}

/** Returns a finite number. People can set annotations to any text. */
function numberOf(value: Json, fallback = 0): number {
  const number = typeof value === 'object' ? fallback : Number(value ?? fallback)
  return Number.isFinite(number) ? number : fallback
}

/** Returns an RFC 3339 time in ms UTC. */
function time(value: Json, fallback: number): number {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? fallback : at
}
