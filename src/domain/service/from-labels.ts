/** Finds the service of an alert by its labels. */

import type { Labels } from '../event/event.ts'
import { cacheLast } from '../memoize.ts'
import { concernsExporter, type Exporter, exporterOf, hostOf, targetLabel, trimmed } from './exporter.ts'
import { knownWorkload, nodeService } from './from-object.ts'
import { type GeneratedKind, possibleWorkloads, readGenerated } from './pod-name.ts'
import type { Attribution, Name } from './service.ts'

/** How to interpret a label's value. */
type Reader = 'name' | GeneratedKind | 'node' | 'instance' | 'probe' | 'job label'

type LabelRule = {
  readonly reads: Reader
  /** Labels with the same meaning, most common first. Prometheus labels come before OpenTelemetry labels. */
  readonly labels: readonly string[]
}

/** If the target has several of these labels, the first one in the table is used. */
const TABLE: readonly LabelRule[] = [
  { reads: 'probe', labels: ['target', 'instance'] },
  { reads: 'name', labels: ['deployment', 'k8s_deployment_name'] },
  { reads: 'name', labels: ['statefulset', 'k8s_statefulset_name'] },
  { reads: 'name', labels: ['daemonset', 'k8s_daemonset_name'] },
  { reads: 'name', labels: ['cronjob', 'k8s_cronjob_name'] },
  { reads: 'job', labels: ['job_name', 'k8s_job_name'] },
  { reads: 'pod', labels: ['pod', 'pod_name', 'kubernetes_pod_name', 'k8s_pod_name'] },
  { reads: 'replicaset', labels: ['replicaset'] },
  { reads: 'name', labels: ['horizontalpodautoscaler', 'hpa'] },
  { reads: 'claim', labels: ['persistentvolumeclaim'] },
  { reads: 'name', labels: ['poddisruptionbudget'] },
  { reads: 'name', labels: ['app_kubernetes_io_name'] },
  { reads: 'name', labels: ['app'] },
  { reads: 'name', labels: ['workload'] },
  { reads: 'name', labels: ['service_name'] },
  { reads: 'name', labels: ['service'] },
  { reads: 'name', labels: ['container', 'container_name'] },
  { reads: 'job label', labels: ['job'] },
  { reads: 'node', labels: ['node', 'nodename', 'kubernetes_node', 'k8s_node_name'] },
  { reads: 'instance', labels: ['instance'] },
]

const EXPORTER_TABLE: readonly LabelRule[] = TABLE.filter(({ labels }) =>
  ['pod', 'app', 'service', 'container', 'job'].some((name) => labels.includes(name)),
)

const NAMESPACES = ['namespace', 'kubernetes_namespace', 'k8s_namespace_name']

/** Values that do not identify a service: scrape jobs that cover many services, and every pod's sandbox container. */
const NO_NAMES = new Set([
  ...['kubernetes-pods', 'kubernetes-pods-slow', 'kubernetes-service-endpoints', 'kubernetes-service-endpoints-slow'],
  ...['kubernetes-services', 'kubernetes-ingresses', 'POD'],
])

const NODE_TABLE: readonly LabelRule[] = TABLE.filter(({ reads }) => reads === 'node')
const NODE_OR_ADDRESS_TABLE: readonly LabelRule[] = TABLE.filter(
  ({ reads }) => reads === 'node' || reads === 'instance',
)

type Target = { readonly namespace: string; readonly exporter: Exporter; readonly labels: Labels }
type Choice = { readonly label: string; readonly value: string; readonly reads: Reader }

/** The label that was chosen, and whether it identifies the target or the exporter. */
type Decision = { readonly choice: Choice; readonly target: Target; readonly says: 'label' | 'exporter label' }

/** Returns the service that the labels refer to, or null. `known`: the existing services among `labelNames`. */
export function attributeLabels(labels: Labels, known: readonly Name[]): Attribution | null {
  const decision = decide(labels)
  return decision && read(decision, known)
}

/** Returns the names that `attributeLabels` needs to look up. */
export function labelNames(labels: Labels): Name[] {
  const decision = decide(labels)
  const kind = decision && generated(decision.choice.reads)
  if (!kind) return []
  const { namespace } = decision.target
  return possibleWorkloads(kind, decision.choice.value).map((name) => ({ namespace, name }))
}

/** Returns the namespace and value of the chosen label, or null. An alias can refer to this object. */
export function namedObject(labels: Labels): Name | null {
  const { target, choice } = choiceOf(labels)
  return choice && { namespace: target.namespace, name: choice.value }
}

/**
 * Returns the node of an alert or of its target, without the port: the `node` label, or the `instance` label of a node
 * exporter. Ignores the node on which kube-state-metrics runs.
 */
export function nodeOfLabels(labels: Labels): string | null {
  const { target, choice } = choiceOf(labels)
  const { exporter } = target
  if (exporter.kind === 'state' && choice?.reads !== 'node') return null
  const named = choose(measuresNodes(exporter, choice) ? NODE_OR_ADDRESS_TABLE : NODE_TABLE, target)
  return named ? hostOf(named.value) || null : null
}

function measuresNodes(exporter: Exporter, chosen: Choice | null): boolean {
  return exporter.kind === 'host' || exporter.kind === 'kubelet' || chosen?.reads === 'instance'
}

function decide(labels: Labels): Decision | null {
  const { target, choice } = choiceOf(labels)
  if (choice) return { choice, target, says: 'label' }
  if (target.exporter.kind === 'other' || !concernsExporter(labels)) return null
  const exporter = bare(labels)
  const itself = choose(EXPORTER_TABLE, exporter)
  return itself && { choice: itself, target: exporter, says: 'exporter label' }
}

/** The choice is cached, because three functions need it for the same labels. */
const choiceOf = cacheLast((labels: Labels) => {
  const target = targetOf(labels)
  return { target, choice: choose(TABLE, target) }
})

function targetOf(labels: Labels): Target {
  const exporter = exporterOf(labels)
  for (const name of NAMESPACES) {
    const found = targetLabel(labels, exporter, name)
    if (found) return { namespace: found.value, exporter, labels }
  }
  return { namespace: '', exporter, labels }
}

/** Returns the labels as if the exporter were unknown. */
function bare(labels: Labels): Target {
  const namespace = NAMESPACES.map((name) => trimmed(labels, name)).find((value) => value !== '')
  const { exported } = exporterOf(labels)
  return { namespace: namespace ?? '', exporter: { kind: 'other', own: new Set(), renamed: false, exported }, labels }
}

function choose(table: readonly LabelRule[], { labels, exporter }: Target): Choice | null {
  for (const { reads, labels: names } of table) {
    if (reads === 'probe' && exporter.kind !== 'probe') continue
    for (const name of names) {
      const found = targetLabel(labels, exporter, name)
      if (found && !NO_NAMES.has(found.value) && !isEmpty(reads, found.value))
        return { label: found.name, value: found.value, reads }
    }
  }
  return null
}

function isEmpty(reads: Reader, value: string): boolean {
  return ['node', 'instance', 'probe'].includes(reads) && hostOf(value) === ''
}

function read({ choice, target, says }: Decision, known: readonly Name[]): Attribution {
  const { name, namespace, rule } = place(choice, target, known)
  const label = `${says} ${choice.label}`
  return { namespace, name, rule: rule ? `${label}: ${rule}` : label, creates: 'alert' }
}

function place({ reads, value }: Choice, { namespace }: Target, known: readonly Name[]): Name & { rule?: string } {
  const kind = generated(reads)
  if (kind) {
    const object = { namespace, name: value, node: null }
    const workload = knownWorkload(kind, object, known)
    const { name, rule } = workload ? { name: workload, rule: 'known workload' } : readGenerated[kind](object)
    return { namespace, name, rule }
  }
  if (reads === 'node' || reads === 'instance') return nodeService(hostOf(value))
  if (reads === 'probe') return placeProbed(hostOf(value))
  if (reads === 'job label') return placeJob(value, namespace)
  return { namespace, name: value }
}

/** Returns the service behind a probed cluster address, for example `web.shop.svc.cluster.local`. */
function placeProbed(host: string): Name {
  const [name, namespace, svc] = host.split('.')
  return name && namespace && svc === 'svc' ? { namespace, name } : { namespace: '', name: host }
}

/** Splits a Prometheus operator job name, which has the format `namespace/monitor`. */
function placeJob(value: string, namespace: string): Name {
  const slash = value.lastIndexOf('/')
  const name = value.slice(slash + 1)
  return name === '' || slash < 1 ? { namespace, name: value } : { namespace: namespace || value.slice(0, slash), name }
}

function generated(reads: Reader): GeneratedKind | null {
  return reads === 'pod' || reads === 'replicaset' || reads === 'job' || reads === 'claim' ? reads : null
}
