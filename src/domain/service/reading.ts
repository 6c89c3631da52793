/** Reads the labels of an alert once: which labels can name its target, its namespace and its object. */

import type { Labels } from '../event/event.ts'
import { cacheByName, cacheLast } from '../memoize.ts'
import { isPlaceholder } from '../placeholder.ts'
import { OBJECT_PREFIXES, OBJECTS_OF } from './described-object.ts'
import { hostOf } from './host.ts'
import { CALLEE, type ExporterKind, isOfMesh, list, NAMESPACES, PREFIXES, type Reader, TARGETS } from './target.ts'

const EXPORTED = 'exported_'

type Known = {
  /** The position in the table. The lowest rank wins. */
  readonly rank: number
  readonly reads: Reader
  /** Whether programs of any kind have this label, so that a machine's exporter can have it, too. */
  readonly weak: boolean
  /** The name without the prefix `exported_`; null if the name has no such prefix. */
  readonly exported: string | null
}

/** A label that can name the target. */
export type Label = { readonly name: string; readonly value: string; readonly known: Known }

export type Reading = {
  /** In the order in which they were sent. */
  readonly labels: readonly Label[]
  /** The labels with a namespace. */
  readonly namespaces: readonly { readonly name: string; readonly value: string; readonly rank: number }[]
  /** The names of the labels that have the prefix `exported_`, without this prefix. */
  readonly exported: ReadonlySet<string>
  readonly marker: ExporterKind | null
  /** Whether a service mesh names the target, as `CALLEE` does. */
  readonly mesh: boolean
  /** Whether a label is typical for a machine. */
  readonly aboutMachine: boolean
  /** The Kubernetes object that the labels describe, or null. */
  readonly object: {
    readonly kind: string
    readonly name: string
    readonly namespace: string
    readonly label: string
  } | null
}

/** Labels that a scrape configuration adds to programs of any kind. They come after the labels of workloads. */
const FIRST_WEAK = 'app_kubernetes_io_name'

const NONE: ReadonlySet<string> = new Set()
const KNOWN = new Map<string, Known>()
const NAMESPACE_RANKS = new Map<string, number>()

function fillTables(): void {
  let rank = 0
  let weak = false
  for (const [reads, names] of TARGETS) {
    weak ||= names === FIRST_WEAK
    for (const name of names.split(' ')) {
      for (const prefix of ['', ...PREFIXES]) {
        const full = prefix + name
        if (KNOWN.has(full)) continue
        KNOWN.set(full, { rank, reads, weak, exported: prefix === EXPORTED ? name : null })
        rank += 1
      }
    }
  }
  NAMESPACES.forEach((name, at) => {
    NAMESPACE_RANKS.set(name, at)
  })
}
fillTables()

/**
 * OpenTelemetry, Elastic and Kubernetes separate words with other characters: `k8s.pod.name`, `app.kubernetes.io/name`.
 * Elasticsearch appends `.keyword`. In Grafana, people write names with a capital, and so does Azure: `PodName`.
 */
function plainName(name: string): string {
  const plain = name.replace(/\.keyword$/, '').replace(/[./-]/g, '_')
  if (KNOWN.has(plain)) return plain
  const words = plain.replace(/(?<=[a-z\d])(?=[A-Z])/g, '_').toLowerCase()
  return KNOWN.has(words) ? words : plain.toLowerCase()
}

/** Reads labels once. Several functions need the result for the same labels. */
export const read: (labels: Labels) => Reading = cacheLast(readOnce)

/**
 * Values that name no service: scrape jobs that cover many services, the sandbox of a pod, Falco's container outside of
 * all containers, Istio's unknown targets.
 */
const NO_NAMES: ReadonlySet<string> = new Set(
  list(`kubernetes-pods kubernetes-pods-slow kubernetes-service-endpoints kubernetes-service-endpoints-slow
    kubernetes-services kubernetes-ingresses POD host PassthroughCluster BlackHoleCluster`),
)

/** Labels of metrics about a machine, and names that people give to the jobs that scrape or read machines. */
const HOST_LABELS: ReadonlySet<string> = new Set(
  list('device mountpoint fstype cpu nodename zpool ifName ifDescr sysName'),
)

/** What the name of a label says. Senders use a few hundred names, so each is looked up in the tables once. */
const readName = cacheByName((name) => {
  const plain = plainName(name)
  const [ofMachine, isKind] = [HOST_LABELS.has(name), plain.endsWith('kind')]
  return { known: KNOWN.get(plain), rank: namespaceRank(plain), mark: MARKS.get(name), ofMachine, isKind }
})

function readOnce(labels: Labels): Reading {
  const found: Label[] = []
  const namespaces: Reading['namespaces'][number][] = []
  let exported: Set<string> | null = null
  let marker: ExporterKind | null = null
  let [mesh, aboutMachine, object] = [false, false, false]
  let marked = programOfAlert(labels.alertname ?? '') ?? programOfJob(labels.job ?? '')
  for (const name in labels) {
    const { known: named, rank, mark, ofMachine, isKind } = readName(name)
    const known = named?.reads !== 'container name' || isContainer(labels) ? named : undefined
    aboutMachine ||= ofMachine
    object ||= isKind
    if (!known && rank === null && mark === undefined) continue
    if (typeof mark === 'object') marked = mark
    const value = labelValue(labels, name)
    if (value === undefined || (value === 'unknown' && CALLEE.test(name))) continue
    if (known && !NO_NAMES.has(value) && !(known.reads === 'service' && IP.test(value)))
      found.push({ name, value, known })
    if (rank !== null) namespaces.push({ name, value, rank })
    if (name.startsWith(EXPORTED)) exported = (exported ?? new Set()).add(name.slice(EXPORTED.length))
    if ((typeof mark === 'string' && !isOnlyCalled(name, value, labels)) || isOfTraefik(known, value)) {
      marker = typeof mark === 'string' ? mark : 'proxy'
      mesh ||= CALLEE.test(name)
    }
  }
  const described =
    (object ? objectIn(labels, found.length === 0) : null) ?? (marked === null ? null : objectOfProgram(labels, marked))
  return { labels: found, namespaces, exported: exported ?? NONE, marker, mesh, aboutMachine, object: described }
}

/** No service is called by its address, as the servers that a resolver asks are. */
const IP = /^\d+(?:\.\d+){3}(?::\d+)?$/

/** The containers of Docker are named by cAdvisor's label `name`. Which alerts have it: by their job, by their name. */
const CONTAINER_JOB = /cadvisor|docker/i
const CONTAINER_ALERT = /^(?:docker[ _-]?)?container/i

function isContainer({ job = '', alertname = '' }: Labels): boolean {
  return CONTAINER_JOB.test(job) || CONTAINER_ALERT.test(alertname)
}

/** Returns the trimmed value of a label, or undefined if it is missing or a placeholder. */
export function labelValue(labels: Labels, name: string): string | undefined {
  const value = Object.hasOwn(labels, name) ? labels[name] : undefined
  return value === undefined || isPlaceholder(value) ? undefined : value.trim()
}

/**
 * Returns whether a label names what a workload calls, and not the target. People use the labels of meshes for this, too:
 * a name as `destination_service`, where Istio writes a host name, or beside the workload that their rule is about.
 */
function isOnlyCalled(name: string, value: string, labels: Labels): boolean {
  return CALLEE.test(name) && ((name === 'destination_service' && !value.includes('.')) || !isOfMesh(labels))
}

/** Traefik writes `service="production-my-api-80@kubernetes"`. */
function isOfTraefik(known: Known | undefined, value: string): boolean {
  return known?.reads === 'service' && /@[a-z]+$/.test(value)
}

const NAMESPACE_ENDS = ['namespace', 'namespace_name'] as const

/** Namespaces of a program that only reports about the target, or that calls it. */
const FOREIGN_NAMESPACE = /^(?:source|controller|client|scrape|prometheus|exporter|agent|collector|monitor)_/

function namespaceRank(name: string): number | null {
  const rank = NAMESPACE_RANKS.get(name)
  if (rank !== undefined) return rank
  const isNamespace = NAMESPACE_ENDS.some((end) => name.endsWith(end)) && !FOREIGN_NAMESPACE.test(name)
  return isNamespace ? NAMESPACES.length : null
}

/** Labels that only one kind of exporter writes. */
const MARKERS: Readonly<Record<string, ExporterKind>> = {
  controller_pod: 'proxy',
  controller_class: 'proxy',
  envoy_cluster_name: 'proxy',
  destination_workload: 'proxy',
  destination_service: 'proxy',
  destination_service_name: 'proxy',
  destination_canonical_service: 'proxy',
  dst_service: 'proxy',
  dst_deployment: 'proxy',
  dst_statefulset: 'proxy',
  // Uptime Kuma, ssl_exporter
  monitor_url: 'probe',
  issuer_cn: 'probe',
}

/** What labels that only one program writes say: the kind of its exporter, or which labels name the object. */
const MARKS = new Map<string, ExporterKind | Program>([
  ...Object.entries(MARKERS),
  ...OBJECTS_OF.flatMap((program) => (program.marker ? [[program.marker, program] as const] : [])),
])
const programOfAlert = cacheByName((alert) => OBJECTS_OF.find(({ alerts }) => alerts?.test(alert)) ?? null)
const programOfJob = cacheByName((job) => OBJECTS_OF.find(({ jobs }) => jobs?.test(job)) ?? null)

/** Returns the object that the labels of a program name without its kind, or null. A guest can be a node. */
function objectOfProgram(labels: Labels, { kind, name, namespace }: Program): Reading['object'] {
  if (kind === 'Guest' && labels.name !== undefined && labels.name === labels.node) return null
  // The id of a host says what it is. Its name does not.
  const names = kind === 'Guest' && labels.id?.startsWith('node/') ? 'id' : name
  const label = names.split(' ').find((one) => labelValue(labels, one) !== undefined)
  if (label === undefined) return null
  const namespaces = namespace.split(' ').flatMap((one) => labelValue(labels, one) ?? [])
  const value = labelValue(labels, label) ?? ''
  return { kind, name: kind === 'Node' ? hostOf(value) : value, namespace: namespaces[0] ?? '', label }
}
type Program = (typeof OBJECTS_OF)[number]

/** Flux and programs that turn events into metrics or log lines describe the object of an event. */
function objectIn(labels: Labels, isAlone: boolean): Reading['object'] {
  for (const prefix of prefixesOf(labels, isAlone)) {
    const kind = labelValue(labels, `${prefix}kind`) ?? (prefix === '' ? labelValue(labels, CUSTOM_KIND) : undefined)
    const name = labelValue(labels, `${prefix}name`)
    if (!kind || !name) continue
    const own = prefix === '' ? [] : [`${prefix}namespace`]
    const names = [...own, 'k8s_namespace_name', ...NAMESPACES_OF_OBJECTS, 'namespace']
    const namespace = names.map((one) => labelValue(labels, one)).find((one) => one !== undefined) ?? ''
    return { kind, name, namespace, label: `${prefix}name` }
  }
  return null
}

/** kube-state-metrics writes this label about resources of other programs, for example of Flux. */
const CUSTOM_KIND = 'customresource_kind'

/** The labels with which an operator names the namespace of its object, because `namespace` is that of the operator. */
const NAMESPACES_OF_OBJECTS = ['exported_namespace', 'resource_namespace'] as const
/** Kinds of Kubernetes: `Kafka`, `HelmRelease` */
const KIND = /^[A-Z][A-Za-z\d]+$/

/** `kind` and `name` describe an object if the sender is known to mean one, or if no label names a workload, as of Flux. */
function prefixesOf(labels: Labels, isAlone: boolean): readonly string[] {
  const { alertname = '', job = '', source = '' } = labels
  const isEvent =
    /^flux[A-Z]?/i.test(alertname) ||
    /event/i.test(job) ||
    /kyverno|policy.?reporter/i.test(source + job) ||
    CUSTOM_KIND in labels ||
    (KIND.test(labels.kind ?? '') && (isAlone || NAMESPACES_OF_OBJECTS.some((name) => name in labels)))
  return isEvent ? [...OBJECT_PREFIXES, ''] : OBJECT_PREFIXES
}
