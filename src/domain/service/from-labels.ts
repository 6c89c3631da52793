/** Finds the service of an alert by its labels. The tables are in target.ts. */

import type { KubernetesObject, Labels } from '../event/event.ts'
import { cacheLast } from '../memoize.ts'
import { backendsOf, isInCluster, serviceAt } from './backend.ts'
import { type Exporter, exporterOf, probed, withoutFederation } from './exporter.ts'
import { attributeObject, knownWorkload, nodeService, objectNames } from './from-object.ts'
import { hostOf } from './host.ts'
import { asked, type Choice, isExporter, lastName, nameIn, ofDatabase } from './last-name.ts'
import { type GeneratedKind, possibleWorkloads, readGenerated } from './pod-name.ts'
import { type Label, labelValue, type Reading, read } from './reading.ts'
import { deploymentOf, scaledBy } from './run-name.ts'
import type { Attribution, Name } from './service.ts'
import { CALLEE, list, type Reader } from './target.ts'

/** The label that was chosen, and whether it identifies the target or the exporter. */
type Decision = {
  readonly choice: Choice
  readonly namespace: string
  readonly by: 'label' | 'exporter label'
}

/** Returns the service that the labels refer to, or null. `known`: the existing services among `labelNames`. */
export function attributeLabels(sent: Labels, known: readonly Name[]): Attribution | null {
  const labels = withoutFederation(sent)
  const object = objectOf(labels)
  const decision = object ? null : decide(labels)
  const found = object ? byObject(labels, object, known) : decision && place(decision, known)
  if (!found || labels === sent || !('label' in found.rule)) return found
  const [label, renamed] = [found.rule.label, `exported_${found.rule.label}`]
  return { ...found, rule: { ...found.rule, label: renamed in sent ? renamed : label } }
}

/** Returns the names that `attributeLabels` needs to look up. */
export function labelNames(sent: Labels): readonly Name[] {
  const labels = withoutFederation(sent)
  const object = objectOf(labels)
  if (object) return objectNames(object)
  const decision = decide(labels)
  if (!decision) return []
  const { choice, namespace } = decision
  if (choice.reads === 'service') return backendsOf(choice.value, namespace)
  const kind = generated(choice.reads)
  return kind ? possibleWorkloads(kind, choice.value).map((name) => ({ namespace, name })) : []
}

/** Returns the namespace and value of the chosen label, or null. An alias can refer to this object. */
export function namedObject(sent: Labels): Name | null {
  const labels = withoutFederation(sent)
  const object = objectOf(labels)
  if (object) return object
  const { choice, namespace } = choiceOf(labels)
  return choice && { namespace, name: choice.value }
}

/**
 * Returns the node of an alert or of its target, without the port: the `node` label, or the `instance` label of a node
 * exporter. Ignores the node on which kube-state-metrics runs.
 */
export function nodeOfLabels(sent: Labels): string | null {
  const labels = withoutFederation(sent)
  const object = objectOf(labels)
  if (object?.kind.toLowerCase() === 'node') return object.name
  const exporter = exporterOf(labels)
  const { choice } = choiceOf(labels)
  if (exporter.kind === 'state' && choice?.reads !== 'node') return null
  const isAddress = exporter.kind === 'host' || exporter.kind === 'kubelet' || choice?.reads === 'instance'
  const named = choose(read(labels), exporter, ({ reads }) => reads === 'node' || (isAddress && reads === 'instance'))
  const host = named ? hostOf(named.value) : ''
  return host === '' || isInCluster(host) ? null : host
}

/** Returns the Kubernetes object that the labels describe, as an event does, or null. */
function objectOf(labels: Labels): KubernetesObject | null {
  const { object } = read(labels)
  return object && { ...object, labels: {}, owners: [], node: null, container: null }
}

function byObject(labels: Labels, object: KubernetesObject, known: readonly Name[]): Attribution | null {
  const found = attributeObject(object, known)
  const label = read(labels).object?.label ?? ''
  const how = found && 'by' in found.rule && 'how' in found.rule ? found.rule.how : undefined
  return found && { ...found, rule: { by: 'label', label, ...(how ? { how } : {}) }, creates: 'alert' }
}

/** The decision is cached, because several functions need it for the same labels. */
const choiceOf = cacheLast((labels: Labels): { readonly choice: Choice | null; readonly namespace: string } => {
  const reading = read(labels)
  const exporter = exporterOf(labels)
  const found =
    (exporter.kind === 'probe' ? (namedByUser(reading, exporter) ?? probed(labels)) : null) ??
    choose(reading, exporter) ??
    managed(labels)
  const choice = isExporter(found) ? (ofExporter(labels, exporter) ?? found ?? lastName(labels, exporter)) : found
  const namespace = namespaceIn(reading, exporter) || namespaceOfJob(labels, choice)
  const isPod = exporter.kind === 'other' && choice?.reads === 'instance' && isPodName(choice.value, namespace)
  return { choice: isPod ? { ...choice, reads: 'pod' } : choice, namespace }
})

/** Returns what an exporter without a kind of its own asked. */
function ofExporter(labels: Labels, { kind }: Exporter): Choice | null {
  return ofDatabase(labels) ?? (kind === 'other' ? asked(labels) : null)
}

/** An agent can name the pod in `instance`. A machine belongs to no namespace. */
function isPodName(instance: string, namespace: string): boolean {
  if (namespace === '' || !/^[a-z\d-]+$/.test(instance) || MACHINE.test(instance)) return false
  const { how } = readGenerated.pod({ namespace, name: instance, node: null })
  return ['deployment pod', 'statefulset pod', 'cronjob pod'].includes(how)
}
const MACHINE = /(?:^|-)(?:node|worker|master|host|server|vm)-?\d+$/

/** OpenTelemetry writes the namespace and the name of a service into the job: `shop/checkout`. */
function namespaceOfJob(labels: Labels, choice: Choice | null): string {
  const end = `/${choice?.value ?? ''}`
  const job = [labels.exported_job, labels.job].find((one) => one?.endsWith(end) && !AGENT_JOB.test(one))
  return job?.slice(0, -end.length) ?? ''
}

/** Returns the service that people give to a probed address, or null. A prober in Kubernetes has such labels itself. */
function namedByUser(reading: Reading, exporter: Exporter): Choice | null {
  const isOfPod = reading.labels.some(({ name, known }) => known.reads === 'pod' || name === 'container')
  if (reading.marker || isOfPod) return null
  return choose(reading, exporter, ({ reads }) => reads === 'name' || reads === 'service')
}

/** An operator names the resource that it manages in `name`, and Prometheus renames the namespace of the resource. */
function managed(labels: Labels): Choice | null {
  return labelValue(labels, 'exported_namespace') === undefined ? null : nameIn(labels, ['name'])
}

/** Labels with which kube-state-metrics names other objects than workloads. Such an alert is not about itself. */
const STATE_OBJECTS = list('resourcequota persistentvolume storageclass limitrange configmap secret phase')

const decide = cacheLast((labels: Labels): Decision | null => {
  const { choice, namespace } = choiceOf(labels)
  if (choice) return { choice, namespace, by: 'label' }
  const { kind, own } = exporterOf(labels)
  // Only an alert without any other object is about the exporter itself, as `TargetDown` is.
  if ((kind === 'other' && own.size === 0) || STATE_OBJECTS.some((name) => labelValue(labels, name) !== undefined))
    return null
  const reading = read(labels)
  const itself = choose(reading, BARE, ({ reads, weak }) => reads === 'pod' || (weak && !NODE.has(reads)))
  return itself && { choice: itself, namespace: namespaceIn(reading, BARE), by: 'exporter label' }
})

const NODE: ReadonlySet<Reader> = new Set(['node', 'instance'])

/** Used as if the exporter were unknown. */
const BARE: Exporter = { kind: 'other', own: new Set(), prefersExported: false }

function namespaceIn({ namespaces }: Reading, { own, prefersExported }: Exporter): string {
  let best: { rank: number; value: string } | null = null
  for (const { name, value, rank } of namespaces) {
    if (own.has(name)) continue
    const order = prefersExported && name.startsWith('exported_') ? -1 : rank
    if (!best || order < best.rank) best = { rank: order, value }
  }
  return best?.value ?? ''
}

/** More than there are labels that can name a target. */
const FIRST = 10_000

function choose(
  reading: Reading,
  exporter: Exporter,
  fits: (of: Label['known']) => boolean = () => true,
): Choice | null {
  let best: Label | null = null
  let rank = Number.POSITIVE_INFINITY
  for (const one of reading.labels) {
    const { name, value, known } = one
    if (exporter.own.has(name) || !fits(known)) continue
    const order = orderOf(one, exporter, reading)
    if (order >= rank || (NODE.has(known.reads) && hostOf(value) === '')) continue
    best = one
    rank = order
  }
  return best && { label: best.name, value: best.value, reads: best.known.reads }
}

/**
 * A label that Prometheus renamed comes right before or right after the label with which it clashed. The callee of a
 * service mesh comes before the caller.
 */
function orderOf({ name, known }: Label, { own, prefersExported }: Exporter, { labels, mesh }: Reading): number {
  if (mesh && CALLEE.test(name)) return known.rank - FIRST
  if (known.exported === null) return known.rank
  const clash = labels.find(({ name }) => name === known.exported)
  if (!clash || own.has(clash.name)) return known.rank
  return clash.known.rank + (prefersExported ? -0.5 : 0.5)
}

function place({ choice, namespace, by }: Decision, known: readonly Name[]): Attribution {
  const { how, ...name } = placeOf(choice, namespace, known)
  const rule = how ? { by, label: choice.label, how } : { by, label: choice.label }
  return { ...name, rule, creates: 'alert' }
}

function placeOf({ reads, value }: Choice, namespace: string, known: readonly Name[]): Name & { how?: string } {
  switch (reads) {
    case 'name':
    case 'container name':
      return { namespace, name: value }
    case 'deployment':
      return { namespace, name: deploymentOf(value) }
    case 'autoscaler':
      return { namespace, name: scaledBy(value) }
    case 'service':
      return serviceAt(value, namespace, known)
    case 'node':
    case 'instance': {
      const host = hostOf(value)
      return isInCluster(host) ? serviceAt(host, '', known) : { namespace: '', name: nodeService(host).name }
    }
    case 'probe':
      return serviceAt(hostOf(value), '', known)
    case 'job label':
      return placeJob(value, namespace)
    default:
      return placeGenerated(reads, { namespace, name: value }, known)
  }
}

function placeGenerated(kind: GeneratedKind, object: Name, known: readonly Name[]): Name & { how: string } {
  const { namespace } = object
  const workload = knownWorkload(kind, object, known)
  if (workload) return { namespace, name: workload, how: 'known workload' }
  const { name, how } = readGenerated[kind]({ ...object, node: null })
  return { namespace, name, how }
}

const AGENT_JOB = /^integrations\//
/** Splits a Prometheus operator job name, which has the format `namespace/monitor`. Grafana's agents have a prefix. */
function placeJob(job: string, namespace: string): Name {
  const value = job.replace(AGENT_JOB, '')
  const slash = value.lastIndexOf('/')
  const name = value.slice(slash + 1)
  return name === '' || slash < 1 ? { namespace, name: value } : { namespace: namespace || value.slice(0, slash), name }
}

function generated(reads: Choice['reads']): GeneratedKind | null {
  return reads in readGenerated ? (reads as GeneratedKind) : null
}
