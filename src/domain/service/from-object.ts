/** Finds the service that a Kubernetes object belongs to. */

import type { KubernetesObject } from '../event/event.ts'
import { type GeneratedKind, possibleWorkloads, readGenerated, readJobName, readPodName } from './pod-name.ts'
import { labelValue } from './reading.ts'
import { deploymentOf, isRunnerPod, scaledBy } from './run-name.ts'
import type { Attribution, Name, ServiceRule } from './service.ts'

/** Kinds whose names are generated. */
const GENERATED: Readonly<Record<string, GeneratedKind>> = {
  pod: 'pod',
  replicaset: 'replicaset',
  replicationcontroller: 'controller',
  job: 'job',
  persistentvolumeclaim: 'claim',
  revision: 'revision',
  podautoscaler: 'revision',
  analysisrun: 'analysis',
  experiment: 'analysis',
  build: 'controller',
  // cert-manager's steps towards a certificate.
  certificaterequest: 'certificate',
  order: 'certificate',
  challenge: 'certificate',
  // Argo Workflows, Tekton, operators for batch jobs, backups by Velero and CloudNativePG, and machines that Karpenter
  // and Cluster API order for a pool.
  ...Object.fromEntries(
    'workflow taskrun pipelinerun customrun sparkapplication rayjob backup restore nodeclaim machine'
      .split(' ')
      .map((kind) => [kind, 'run']),
  ),
}

/** Kinds that become a service with their first event. */
const WORKLOADS = new Set(['deployment', 'statefulset', 'daemonset', 'cronjob', 'rollout', 'deploymentconfig'])

/** Labels that name the thing of which an object is one run or revision. */
const RUN_LABELS: readonly (readonly [label: string, creates: 'event' | 'alert'])[] = [
  ['workflows.argoproj.io/cron-workflow', 'alert'],
  ['cron-workflow', 'alert'],
  ['tekton.dev/pipeline', 'alert'],
  ['openshift.io/deployment-config.name', 'event'],
  ['deploymentconfig', 'event'],
  ['serving.knative.dev/service', 'event'],
]

type Found = Omit<Attribution, 'rule'> & { readonly how?: string }
type Rule = {
  readonly how: string
  readonly find: (object: KubernetesObject, known: readonly Name[]) => Found | null
}

/** The first matching rule wins. The result can contain a more specific name of the rule. */
const RULES: readonly Rule[] = [
  { how: 'node', find: (it) => (lower(it.kind) === 'node' ? nodeService(it.name) : null) },
  { how: 'label of a run', find: byRunLabel },
  { how: 'pod of a CI job', find: (it) => (isRunnerPod(it.name) ? byName(it) : null) },
  { how: 'workload', find: (it) => (WORKLOADS.has(lower(it.kind)) ? itself(it, 'event') : null) },
  { how: 'own name', find: (it) => (generatedKind(it) ? null : itself(it, 'alert')) },
  { how: 'label app.kubernetes.io/name', find: (it) => (isRun(ownerOf(it) ?? it) ? byChartName(it) : null) },
  { how: 'owner', find: byOwner },
  { how: 'label pod-template-hash', find: byTemplateHash },
  { how: 'label batch.kubernetes.io/job-name', find: (it) => byJobLabel(it, 'batch.kubernetes.io/job-name') },
  { how: 'label job-name', find: (it) => byJobLabel(it, 'job-name') },
  { how: 'label app.kubernetes.io/name', find: byChartName },
  { how: 'label app', find: (it) => byLabel(it, 'app') },
  { how: 'known workload', find: byKnownWorkload },
  { how: 'name', find: byName },
]

/**
 * Returns the service of an object, or null if the object has no name. `known`: the existing services among
 * `objectNames`.
 */
export function attributeObject(object: KubernetesObject, known: readonly Name[]): Attribution | null {
  const named = { ...object, name: object.name.trim(), namespace: object.namespace.trim() }
  if (named.name === '') return null
  for (const rule of RULES) {
    const found = rule.find(named, known)
    if (found) return attributionOf(found, { by: 'object', how: found.how ?? rule.how })
  }
  return null
}

function attributionOf({ namespace, name, creates }: Found, rule: ServiceRule): Attribution {
  return { namespace, name, rule, creates }
}

/** Returns the names that `attributeObject` needs to look up. */
export function objectNames(object: KubernetesObject): Name[] {
  const kind = generatedKind(object)
  if (!kind) return []
  const namespace = object.namespace.trim()
  const own = possibleWorkloads(kind, object.name.trim()).map((name) => ({ namespace, name }))
  const owner = ownerOf(object)
  return owner && lower(owner.kind) !== 'node' ? [...objectNames(owner), ...own] : own
}

/** Returns the service for a node. The service's name has the prefix `node/`, because nodes have no namespace. */
export function nodeService(host: string): Found {
  return { namespace: '', name: `node/${host}`, creates: 'alert' }
}

/**
 * Returns the longest known workload name from which the object's name can have been generated. A truncated name
 * matches only if exactly one workload fits.
 */
export function knownWorkload(kind: GeneratedKind, object: Name, known: readonly Name[]): string | null {
  if (known.length === 0) return null
  for (const possible of possibleWorkloads(kind, object.name)) {
    const start = possible.endsWith('*') ? possible.slice(0, -1) : null
    const fits = ({ namespace, name }: Name) =>
      namespace === object.namespace && (start === null ? name === possible : name.startsWith(start))
    const first = known.find(fits)
    const isOnly = start === null || known.every((one) => one.name === first?.name || !fits(one))
    if (first && isOnly) return first.name
  }
  return null
}

function itself(object: KubernetesObject, creates: 'event' | 'alert'): Found {
  const kind = lower(object.kind)
  // Events for cluster-wide objects are in the namespace 'default', which is not the object's own namespace.
  const namespace = ['namespace', 'persistentvolume'].includes(kind) ? '' : object.namespace
  const isDeployed = kind === 'deployment' || kind === 'canary'
  const name = isDeployed ? deploymentOf(object.name) : kind === HPA ? scaledBy(object.name) : object.name
  return { namespace, name, creates }
}

const HPA = 'horizontalpodautoscaler'

function byRunLabel(object: KubernetesObject): Found | null {
  for (const [label, creates] of RUN_LABELS) {
    const name = labelValue(object.labels, label)
    if (name) return { namespace: object.namespace, name, creates, how: `label ${label}` }
  }
  return null
}

function isRun(object: KubernetesObject): boolean {
  return generatedKind(object) === 'run'
}

function byOwner(object: KubernetesObject, known: readonly Name[]): Found | null {
  const owner = ownerOf(object)
  if (!owner) return null
  if (lower(owner.kind) === 'node') {
    const { name, creates } = readPodName(object.name, object.node ?? owner.name, object.namespace)
    return { namespace: object.namespace, name, creates }
  }
  const found = attributeObject(owner, known)
  return found && { namespace: found.namespace, name: found.name, creates: found.creates }
}

function ownerOf(object: KubernetesObject): KubernetesObject | null {
  const owner = object.owners.find((it) => it.name.trim() !== '')
  return owner ? { ...object, kind: owner.kind, name: owner.name.trim(), labels: {}, owners: [] } : null
}

function byTemplateHash(object: KubernetesObject): Found | null {
  const hash = labelValue(object.labels, 'pod-template-hash') ?? ''
  const end = hash === '' ? -1 : object.name.lastIndexOf(`-${hash}`)
  const name = deploymentOf(object.name.slice(0, Math.max(0, end)))
  return end > 0 ? { namespace: object.namespace, name, creates: 'event' } : null
}

function byJobLabel(object: KubernetesObject, label: string): Found | null {
  const value = labelValue(object.labels, label) ?? ''
  if (value === '') return null
  const { name, creates } = readJobName(value)
  return { namespace: object.namespace, name, creates }
}

/**
 * Returns the service that the name label refers to. Returns null if the label is merely the name of a Helm chart,
 * because all releases of the chart have the same label.
 */
function byChartName(object: KubernetesObject): Found | null {
  const chart = labelValue(object.labels, 'app.kubernetes.io/name') ?? ''
  const release = labelValue(object.labels, 'app.kubernetes.io/instance') ?? ''
  const ofRelease = release !== '' && object.name.startsWith(release) && !object.name.startsWith(chart)
  return ofRelease ? null : byLabel(object, 'app.kubernetes.io/name')
}

function byLabel(object: KubernetesObject, label: string): Found | null {
  const name = labelValue(object.labels, label) ?? ''
  return name === '' ? null : { namespace: object.namespace, name, creates: 'event' }
}

function byKnownWorkload(object: KubernetesObject, known: readonly Name[]): Found | null {
  const kind = generatedKind(object)
  const name = kind && knownWorkload(kind, object, known)
  return name ? { namespace: object.namespace, name, creates: 'event' } : null
}

function byName(object: KubernetesObject): Found | null {
  const kind = generatedKind(object)
  return kind && { namespace: object.namespace, ...readGenerated[kind](object) }
}

function generatedKind(object: KubernetesObject): GeneratedKind | null {
  const kind = lower(object.kind)
  return Object.hasOwn(GENERATED, kind) ? (GENERATED[kind] ?? null) : null
}

function lower(kind: string): string {
  return kind.trim().toLowerCase()
}
