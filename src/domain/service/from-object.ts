/** Finds the service that a Kubernetes object belongs to. */

import type { KubernetesObject } from '../event/event.ts'
import { trimmed } from './exporter.ts'
import { type GeneratedKind, possibleWorkloads, readGenerated, readJobName, readPodName } from './pod-name.ts'
import type { Attribution, Name } from './service.ts'

const GENERATED: Readonly<Record<string, GeneratedKind>> = {
  pod: 'pod',
  replicaset: 'replicaset',
  job: 'job',
  persistentvolumeclaim: 'claim',
}

/** Kinds that become a service with their first event. */
const WORKLOADS = new Set(['deployment', 'statefulset', 'daemonset', 'cronjob', 'rollout', 'deploymentconfig'])

type Rule = {
  readonly rule: string
  readonly find: (object: KubernetesObject, known: readonly Name[]) => Omit<Attribution, 'rule'> | Attribution | null
}

/** The first matching rule wins. The result can contain a more specific rule name. */
const RULES: readonly Rule[] = [
  { rule: 'node', find: (it) => (lower(it.kind) === 'node' ? nodeService(it.name) : null) },
  { rule: 'workload', find: (it) => (WORKLOADS.has(lower(it.kind)) ? itself(it, 'event') : null) },
  { rule: 'own name', find: (it) => (generatedKind(it) ? null : itself(it, 'alert')) },
  { rule: 'owner', find: byOwner },
  { rule: 'label pod-template-hash', find: byTemplateHash },
  { rule: 'label batch.kubernetes.io/job-name', find: (it) => byJobLabel(it, 'batch.kubernetes.io/job-name') },
  { rule: 'label job-name', find: (it) => byJobLabel(it, 'job-name') },
  { rule: 'label app.kubernetes.io/name', find: byChartName },
  { rule: 'label app', find: (it) => byLabel(it, 'app') },
  { rule: 'known workload', find: byKnownWorkload },
  { rule: 'name', find: byName },
]

/**
 * Returns the service of an object, or null if the object has no name. `known`: the existing services among
 * `objectNames`.
 */
export function attributeObject(object: KubernetesObject, known: readonly Name[]): Attribution | null {
  const named = { ...object, name: object.name.trim(), namespace: object.namespace.trim() }
  if (named.name === '') return null
  for (const { rule, find } of RULES) {
    const found = find(named, known)
    if (found) return { rule, ...found }
  }
  return null
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
export function nodeService(host: string): Omit<Attribution, 'rule'> {
  return { namespace: '', name: `node/${host}`, creates: 'alert' }
}

/**
 * Returns the longest known workload name from which the object's name can have been generated. A truncated name
 * matches only if exactly one workload fits.
 */
export function knownWorkload(kind: GeneratedKind, object: Name, known: readonly Name[]): string | null {
  const names = known.filter(({ namespace }) => namespace === object.namespace).map(({ name }) => name)
  if (names.length === 0) return null
  for (const possible of possibleWorkloads(kind, object.name)) {
    if (!possible.endsWith('*')) {
      if (names.includes(possible)) return possible
      continue
    }
    const longer = new Set(names.filter((name) => name.startsWith(possible.slice(0, -1))))
    if (longer.size === 1) return [...longer][0] ?? null
  }
  return null
}

function itself(object: KubernetesObject, creates: 'event' | 'alert'): Omit<Attribution, 'rule'> {
  // Events for cluster-wide objects are in the namespace 'default', which is not the object's own namespace.
  const namespace = ['namespace', 'persistentvolume'].includes(lower(object.kind)) ? '' : object.namespace
  return { namespace, name: object.name, creates }
}

function byOwner(object: KubernetesObject, known: readonly Name[]): Omit<Attribution, 'rule'> | null {
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

function byTemplateHash(object: KubernetesObject): Omit<Attribution, 'rule'> | null {
  const hash = trimmed(object.labels, 'pod-template-hash')
  const end = hash === '' ? -1 : object.name.lastIndexOf(`-${hash}`)
  return end > 0 ? { namespace: object.namespace, name: object.name.slice(0, end), creates: 'event' } : null
}

function byJobLabel(object: KubernetesObject, label: string): Omit<Attribution, 'rule'> | null {
  const value = trimmed(object.labels, label)
  if (value === '') return null
  const { name, creates } = readJobName(value)
  return { namespace: object.namespace, name, creates }
}

/**
 * Returns the service that the name label refers to. Returns null if the label is merely the name of a Helm chart,
 * because all releases of the chart have the same label.
 */
function byChartName(object: KubernetesObject): Omit<Attribution, 'rule'> | null {
  const chart = trimmed(object.labels, 'app.kubernetes.io/name')
  const release = trimmed(object.labels, 'app.kubernetes.io/instance')
  const ofRelease = release !== '' && object.name.startsWith(release) && !object.name.startsWith(chart)
  return ofRelease ? null : byLabel(object, 'app.kubernetes.io/name')
}

function byLabel(object: KubernetesObject, label: string): Omit<Attribution, 'rule'> | null {
  const name = trimmed(object.labels, label)
  return name === '' ? null : { namespace: object.namespace, name, creates: 'event' }
}

function byKnownWorkload(object: KubernetesObject, known: readonly Name[]): Omit<Attribution, 'rule'> | null {
  const kind = generatedKind(object)
  const name = kind && knownWorkload(kind, object, known)
  return name ? { namespace: object.namespace, name, creates: 'event' } : null
}

function byName(object: KubernetesObject): Attribution | null {
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
