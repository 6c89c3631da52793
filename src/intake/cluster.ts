/** Parses Kubernetes events sent by kubernetes-event-exporter (with and without a layout), kubewatch and kwatch. */
import { type ClusterDraft, type Intake, type KubernetesObject, type Labels, newLabels } from '../domain/event/event.ts'
import { clusterInLabels } from '../domain/service/cluster.ts'
import {
  at,
  draftLabels,
  type Fields,
  fieldsOf,
  isUnset,
  numberOf,
  optionalText,
  quoted,
  type Receipt,
  rawLabels,
  requireText,
  sentInstantAt,
  unusable,
  type Warn,
} from './fields.ts'
import { MAX_ITEMS, readItems } from './items.ts'
import { cleanText } from './json.ts'
import { redact, redactAndCut } from './redact.ts'

/** A typical layout has about a dozen keys. */
const MAX_FLAT_KEYS = 200

/** Kubernetes stores the count in an int32. */
const MAX_COUNT = 2 ** 31 - 1

/**
 * Kinds that are not namespaced. Kubernetes puts their events in the `default` namespace, which a layout may include.
 */
const CLUSTER_WIDE = new Set(['Node', 'PersistentVolume', 'Namespace'])

/** The field with the event's object: in `v1`, and in `events.k8s.io/v1`. */
const OBJECTS = ['involvedObject', 'regarding'] as const
/** A watch, eventrouter, CloudEvents and Argo Events wrap the event. */
const WRAPPERS = ['object', 'event', 'kubernetes_event', 'data', 'body'] as const
/** Layouts in the documentation of kubernetes-event-exporter describe the event in one of these fields. */
const LAYOUTS = ['details', 'detail', 'data', 'event', 'fields'] as const
const NAMESPACE_PATHS = ['namespace', 'involvedObject.namespace', 'regarding.namespace', 'Namespace'] as const
const FIRST_TIMES = ['firstTime', 'firstTimestamp', 'deprecatedFirstTimestamp', 'eventTime', 'timestamp'] as const
const LAST_TIMES = ['lastTime', 'series.lastObservedTime', 'lastTimestamp', 'deprecatedLastTimestamp'] as const

const WELL_KNOWN = new Set([
  ...['namespace', 'podName', 'name', 'reason', 'message', 'count', 'nodeName', 'involvedObjectKind', 'type', 'labels'],
  ...['firstTime', 'lastTime', 'clusterName', 'container', 'containerName', 'fieldPath', 'ownerReferences'],
])

const CONTAINER_NAME = '([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)'

/** Kubelet messages that name a container. Source: pkg/kubelet/container and pkg/kubelet/kuberuntime. */
const CONTAINER_SENTENCES: readonly RegExp[] = [
  new RegExp(`\\bfailed container[ =]"?${CONTAINER_NAME}"?(?= in pod\\b| pod=)`),
  new RegExp(`^(?:Created|Started|Stopping) container:? "?${CONTAINER_NAME}"?$`),
  new RegExp(`^Container ${CONTAINER_NAME} failed (?:liveness|readiness|startup) probe`),
  new RegExp(`"StartContainer" for "${CONTAINER_NAME}"`),
]

/**
 * Parses a Kubernetes event in one of four formats: flat, an event of `v1` or `events.k8s.io/v1`, or kwatch. In the flat format, a
 * layout may render every value as a string, and unknown keys are treated as labels. An event must have an object name,
 * and a reason or a message. The event's time is its last time, or its first time if there is no last time. If both are
 * missing, `receivedAt` (ms UTC) is used.
 */
export function readCluster(body: unknown, receivedAt: number): Intake {
  return { ...readItems(eventsIn(body), (event, warn) => readEvent(event, { receivedAt, warn })), group: null }
}

/**
 * Returns the events in a body: one event, a list as `kubectl get events -o json` prints it, or an event inside
 * `object` (a watch) or `event` (eventrouter).
 */
function eventsIn(body: unknown): readonly unknown[] {
  const items = Array.isArray(body) ? body : fieldsOf(body)?.items
  if (!Array.isArray(items) || items.length === 0) return [unwrapped(body)]
  if (items.length > MAX_ITEMS) throw unusable(`items: expected at most ${MAX_ITEMS}; send them in smaller parts`)
  return items.map(unwrapped)
}

function unwrapped(item: unknown): unknown {
  const sent = fieldsOf(item)
  const fields = sent && unflattened(sent)
  const inner =
    fields && WRAPPERS.map((name) => fieldsOf(fields[name])).find((one) => one && OBJECTS.some((of) => of in one))
  return inner ?? (fields && (eventOfLayout(fields) ?? eventOfKubewatch(fields))) ?? fields ?? item
}

/** The name of the object in an event that was made flat: `event_involvedObject_name`, `involvedObject.name`. */
const FLAT_NAME = /^(.*?)(?:involvedObject|regarding)([._])name$/

/** Returns an event whose fields eventrouter or a log collector has made flat with its objects, other fields as sent. */
function unflattened(fields: Fields): Fields {
  const found = Object.keys(fields)
    .slice(0, MAX_FLAT_KEYS)
    .map((key) => FLAT_NAME.exec(key))
  const [, prefix = '', separator = '_'] = found.find((one) => one !== null) ?? []
  if (found.every((one) => one === null)) return fields
  const event: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(fields)) {
    if (!key.startsWith(prefix)) continue
    const [name = '', ...rest] = key.slice(prefix.length).split(separator)
    event[name] = rest.length === 0 ? value : { ...fieldsOf(event[name]), [rest.join(separator)]: value }
  }
  return event
}

/** Returns the event that a layout describes in a field of its own, without the fields around it, or null. */
function eventOfLayout(fields: Fields): Fields | null {
  if (OBJECTS.some((of) => of in fields) || 'podName' in fields || 'reason' in fields) return null
  const layouts = LAYOUTS.map((name) => fieldsOf(fields[name]))
  return layouts.find((one) => one && ['reason', 'kind', 'name'].every((name) => typeof one[name] === 'string')) ?? null
}

/** kubewatch calls these events of a node or pod a kind of their own. */
const KUBEWATCH_EVENTS: ReadonlyMap<string, readonly [kind: string, reason: string]> = new Map([
  ['backoff', ['Pod', 'BackOff']],
  ['nodenotready', ['Node', 'NodeNotReady']],
  ['nodeready', ['Node', 'NodeReady']],
  ['noderebooted', ['Node', 'Rebooted']],
])

/** kubewatch writes kinds in lower case or in the plural of the API. */
const KUBEWATCH_KINDS = new Map(
  [
    ...['Pod', 'Node', 'Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob', 'Service', 'Ingress'],
    ...['ReplicationController', 'HorizontalPodAutoscaler', 'PersistentVolume', 'Namespace', 'ConfigMap', 'Secret'],
  ].map((kind) => [kind.toLowerCase(), kind]),
)

/** Returns kubewatch's `{eventmeta: {kind, name, namespace, reason}, text, time}` as an event of `v1`, or null. */
function eventOfKubewatch(body: Fields): Fields | null {
  const meta = fieldsOf(body.eventmeta)
  if (!meta) return null
  const [kind, name] = [optionalText(meta, 'kind') ?? '', optionalText(meta, 'name') ?? '']
  const told = KUBEWATCH_EVENTS.get(kind.toLowerCase())
  const known =
    KUBEWATCH_KINDS.get(kind.toLowerCase()) ?? KUBEWATCH_KINDS.get(kind.toLowerCase().replace(/s$/, '')) ?? kind
  const namespace = optionalText(meta, 'namespace') ?? (name.includes('/') ? name.slice(0, name.indexOf('/')) : '')
  return {
    involvedObject: { kind: told?.[0] ?? known, name: name.slice(name.lastIndexOf('/') + 1), namespace },
    reason: told?.[1] ?? optionalText(meta, 'reason'),
    message: body.text,
    lastTimestamp: body.time,
  }
}

/** Parses one event; see `readCluster`. */
export function readEvent(event: Fields, receipt: Receipt): ClusterDraft {
  const object = readObject(event, receipt.warn)
  const reason = requireText(event, ['reason', 'Reason'])
  const message = requireText(event, ['message', 'note', 'Message'], Number.POSITIVE_INFINITY)
  if (reason === '' && message === '') throw unusable('reason: expected a reason or a message')
  const first = sentInstantAt(event, receipt, ...FIRST_TIMES)
  const last = sentInstantAt(event, receipt, ...LAST_TIMES) ?? first ?? receipt.receivedAt
  const startsAt = Math.min(first ?? last, last)
  return {
    source: 'cluster',
    at: Math.min(last, receipt.receivedAt),
    startsAt: Math.min(startsAt, receipt.receivedAt),
    ...(last > receipt.receivedAt ? { sent: { at: last, startsAt } } : {}),
    reason,
    message,
    count: readCount(event, receipt.warn),
    type: readType(event),
    object: { ...object, container: object.kind === 'Pod' ? readContainer(event, message) : null },
    cluster: optionalText(event, 'clusterName') || clusterInLabels(object.labels) || null,
    payload: JSON.stringify(redact(event)),
  }
}

function readObject(event: Fields, warn: Warn): Omit<KubernetesObject, 'container'> {
  const name = requireText(event, ['podName', 'involvedObject.name', 'regarding.name', 'Name', 'name'])
  if (name === '') throw unusable('podName: expected the name of the object that the event is about')
  const namespace = requireText(event, [...NAMESPACE_PATHS])
  const told = requireText(event, ['involvedObjectKind', 'involvedObject.kind', 'regarding.kind', 'kind'])
  // An event of Kubernetes has a kind, too: `Event`.
  const kind = told === '' || told === 'Event' ? 'Pod' : told
  const node = optionalText(event, 'nodeName', 'source.host', 'deprecatedSource.host', 'Node', 'host')
  return {
    kind,
    namespace: CLUSTER_WIDE.has(kind) ? '' : namespace,
    name,
    labels: draftLabels(readLabels(event, warn, name)),
    owners: readOwners(ownerPaths(event)),
    node: kind === 'Node' ? name : node,
  }
}

/**
 * Returns the labels of an object. In a flat event, unknown keys are labels as well. A layout for Loki has an `app` that
 * names its stream, so this key is a label only if the object's name contains it.
 */
function readLabels(event: Fields, warn: Warn, object: string): Labels {
  const labels = newLabels()
  if (!OBJECTS.some((name) => fieldsOf(event[name])) && event.Name === undefined) {
    for (const [key, value] of Object.entries(event).slice(0, MAX_FLAT_KEYS)) {
      if (typeof value !== 'string' || value.length > 253 || WELL_KNOWN.has(key) || isUnset(value)) continue
      if (key !== 'app' || object.includes(value)) labels[key] = value
    }
  }
  for (const source of [
    event.labels,
    at(event, 'involvedObject.labels'),
    at(event, 'regarding.labels'),
    event.Labels,
  ]) {
    if (source !== undefined) Object.assign(labels, usableLabels(source, warn))
  }
  return labels
}

/**
 * Returns the labels, or none if the value is not a valid set of labels. The payload still contains the original value.
 */
function usableLabels(value: unknown, warn: Warn): Labels {
  try {
    return rawLabels(typeof value === 'string' ? JSON.parse(value) : value, 'labels', warn)
  } catch {
    return {}
  }
}

function ownerPaths(event: Fields): unknown {
  const paths = ['involvedObject.ownerReferences', 'regarding.ownerReferences', 'ownerReferences']
  return paths.map((path) => at(event, path)).find(Array.isArray)
}

function readOwners(value: unknown): { kind: string; name: string }[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, 20).flatMap((item) => {
    const owner = fieldsOf(item)
    const kind = owner && optionalText(owner, 'kind')
    const name = owner && optionalText(owner, 'name')
    return kind && name ? [{ kind, name }] : []
  })
}

function readCount(event: Fields, warn: Warn): number {
  if (!isUnset(event.count) && !((numberOf(event.count) ?? 0) >= 1))
    warn(`count: ${quoted(event.count)} is not a valid count; the event is counted once`)
  const counts = [at(event, 'series.count'), event.count, event.deprecatedCount].map((value) => numberOf(value) ?? 1)
  return Math.min(Math.max(1, ...counts.map(Math.floor)), MAX_COUNT)
}

function readType(event: Fields): 'Normal' | 'Warning' | null {
  // The README of kubernetes-event-exporter writes the type into `tip`, other layouts into `severity`.
  for (const type of [event.type, event.tip, event.severity]) if (type === 'Normal' || type === 'Warning') return type
  // Flux sends its own severity instead of a type.
  return event.severity === 'error' ? 'Warning' : event.severity === 'info' ? 'Normal' : null
}

function readContainer(event: Fields, message: string): string | null {
  const named = optionalText(event, 'container', 'containerName', 'Container')
  if (named) return named
  const path = optionalText(event, 'involvedObject.fieldPath', 'regarding.fieldPath', 'fieldPath') ?? ''
  const inPath = /^spec\.(?:containers|initContainers|ephemeralContainers)\{([^{}]+)\}$/.exec(path)?.[1]
  return inPath ?? containerInMessage(message)
}

/** Matches only unambiguous messages, because a wrong container name would split one condition into two alerts. */
function containerInMessage(message: string): string | null {
  const sentence = redactAndCut(cleanText(message), 1024).replace(/^\(combined from similar events\): /, '')
  for (const pattern of CONTAINER_SENTENCES) {
    const name = pattern.exec(sentence)?.[1]
    if (name) return name
  }
  return null
}
