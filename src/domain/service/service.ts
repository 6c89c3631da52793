/** Finds the service that an event belongs to. Start here. */
import type { ClusterDraft, Draft, KubernetesObject } from '../event/event.ts'
import { copyOf } from '../memoize.ts'
import { cutText } from '../text.ts'
import { attributeLabels, labelNames, namedObject, nodeOfLabels } from './from-labels.ts'
import { attributeObject, objectNames } from './from-object.ts'
import { ANY_NAMESPACE, attributeCi, projectNames } from './from-project.ts'
import { imagesOf } from './image.ts'

export type Attribution = {
  readonly namespace: string
  readonly name: string
  /** Why this service was chosen. */
  readonly rule: ServiceRule
  /** `event`: any event creates the service. `alert`: only an alert creates the service. */
  readonly creates: 'event' | 'alert'
}

export type Name = { readonly namespace: string; readonly name: string }
export type ServiceKey = Name & { readonly cluster: string }

export const ALIAS_KINDS = ['ci-project', 'image', 'label', 'workload'] as const
type AliasKind = (typeof ALIAS_KINDS)[number]
export type AliasRef = { readonly kind: AliasKind; readonly value: string }

/** Returns the name in the alias of a workload: `namespace/name` or `cluster/namespace/name`. */
export function workloadName(value: string): string {
  return value.slice(value.lastIndexOf('/') + 1)
}

/** The service for events that do not name a workload. The namespace of this service is ''. */
export const UNATTRIBUTED = 'unattributed'

/** The maximum length of a Kubernetes name. A label can be longer. */
const MAX_NAME = 253

/**
 * Returns the names that the rules need to look up, without duplicates. The caller looks up these names and passes the
 * existing services to `attribute`. The namespace `*` means any namespace, and `*` at the end of a name means any name
 * with this prefix; see `matchesName`.
 */
export function namesToFind(draft: Draft): readonly Name[] {
  const names = namesOf(draft)
  // Only an object and its owner can have names in common.
  if (draft.source !== 'cluster' || names.length < 2) return names
  return names.filter(
    (one, at) => names.findIndex((it) => it.name === one.name && it.namespace === one.namespace) === at,
  )
}

/** Returns whether a service matches one of `namesToFind`. */
export function matchesName(asked: Name, service: Name): boolean {
  if (asked.namespace !== ANY_NAMESPACE && asked.namespace !== service.namespace) return false
  return asked.name.endsWith('*') ? service.name.startsWith(asked.name.slice(0, -1)) : service.name === asked.name
}

/**
 * Returns the service of a draft by the first rule that matches, or `unattributed` for heartbeats, tests, and drafts
 * that no rule matches. `known`: the existing services among `namesToFind`. `images`: for CI, the services that pulled
 * an image of the project (see `imageProjects`).
 */
export function attribute(draft: Draft, known: readonly Name[], images: readonly Name[] = []): Attribution {
  const found = find(draft, known, images)
  if (found) return { ...found, name: shortened(found.name), namespace: shortened(found.namespace) }
  return { namespace: '', name: UNATTRIBUTED, rule: { by: 'none' }, creates: 'alert' }
}

/**
 * Returns the aliases to look up, most specific first. Aliases take precedence over all rules.
 * The value of a `workload` alias is the `namespace/name` of the object, or of the workload that the rules found.
 * The value of a `label` alias is `name=value`. The value of an `image` alias is the image path. The value of a
 * `ci-project` alias is the project path.
 */
export function aliasesToFind(draft: Draft, known: readonly Name[] = []): AliasRef[] {
  const byRules = attribute(draft, known)
  const rules: AliasRef[] = byRules.name === UNATTRIBUTED ? [] : [workload(byRules)]
  const project: AliasRef[] =
    draft.source === 'ci' && draft.project ? [{ kind: 'ci-project', value: draft.project.path }] : []
  const refs = draft.source === 'ci' ? [...project, ...rules] : [...rules, ...foreignAliases(draft)]
  return [...new Map(refs.map((ref) => [`${ref.kind} ${ref.value}`, ref])).values()]
}

/** Returns the node that a draft is about, or the node on which the draft's object runs, or null. */
export function nodeOf(draft: Draft): string | null {
  if (draft.source === 'ci') return null
  if (draft.source !== 'cluster') {
    const node = nodeOfLabels(draft.labels)
    return node === null ? null : copyOf(shortened(node))
  }
  const { kind, name, node } = draft.object
  return shortened((kind.toLowerCase() === 'node' ? name : node)?.trim() ?? '') || null
}

function namesOf(draft: Draft): readonly Name[] {
  if (draft.source === 'ci') return projectNames(draft)
  return draft.source === 'cluster' ? objectNames(subjectOf(draft)) : labelNames(draft.labels)
}

function find(draft: Draft, known: readonly Name[], images: readonly Name[]): Attribution | null {
  if (draft.source === 'ci') return attributeCi(draft, known, images)
  if (draft.source === 'cluster') return attributeObject(subjectOf(draft), known)
  return draft.nature === 'heartbeat' || draft.nature === 'test' ? null : attributeLabels(draft.labels, known)
}

function foreignAliases(draft: Exclude<Draft, { readonly source: 'ci' }>): AliasRef[] {
  const object = draft.source === 'cluster' ? draft.object : namedObject(draft.labels)
  const labels = draft.source === 'cluster' ? draft.object.labels : draft.labels
  const images = imagesOf(draft)
  return [
    ...(object && object.name !== '' ? [workload(object)] : []),
    ...Object.entries(labels).map(([name, value]): AliasRef => ({ kind: 'label', value: `${name}=${value}` })),
    ...images.map(({ path }): AliasRef => ({ kind: 'image', value: path })),
  ]
}

function workload({ namespace, name }: Name): AliasRef {
  return { kind: 'workload', value: `${namespace}/${name}` }
}

/** Cuts a name, because each live record keeps its names in memory. */
export function shortened(name: string): string {
  return cutText(name, MAX_NAME)
}

/** Kinds that report about other objects: Kyverno's policies, and reports in the format of the policy working group. */
const REPORTERS = new Set(['policy', 'clusterpolicy', 'policyreport', 'clusterpolicyreport', 'validatingpolicy'])

/** How the message of a policy names the object that violates the policy. */
const VIOLATORS: readonly RegExp[] = [
  /^(?<kind>[A-Z]\w+) (?:(?<namespace>[a-z\d-]+)\/)?(?<name>[a-z\d][a-z\d.-]*): /,
  /\b(?<kind>[A-Z]\w+)\/(?<namespace>[a-z\d-]+)\/(?<name>[a-z\d][a-z\d.-]*[a-z\d])/,
]

/** Returns the object that an event is about. A policy's event is about the object that violates the policy. */
function subjectOf({ object, message }: Pick<ClusterDraft, 'object' | 'message'>): KubernetesObject {
  if (!REPORTERS.has(object.kind.trim().toLowerCase())) return object
  for (const pattern of VIOLATORS) {
    const { kind, namespace = '', name } = pattern.exec(message)?.groups ?? {}
    if (kind && name) return { kind, namespace, name, labels: {}, owners: [], node: null, container: null }
  }
  return object
}

// Why an item belongs to a service, as data. `ruleText` is the only function that turns it into a sentence.

/** How a name was read: the shape of a generated name, a known workload, the owner of an object, a project's slug. */
type How = string

export type ServiceRule = (
  | { readonly by: 'label'; readonly label: string; readonly how?: How }
  /** The alert is about the exporter itself. */
  | { readonly by: 'exporter label'; readonly label: string; readonly how?: How }
  | { readonly by: 'object' | 'project'; readonly how: How }
  /** `label`: the name of the label that an alias for a label names. */
  | { readonly by: 'alias'; readonly alias: AliasRef['kind']; readonly label?: string; readonly value?: string }
  | { readonly by: 'none' }
  /** A sentence that an older version stored. */
  | { readonly code: 'text'; readonly text: string }
) & {
  /** How a missing cluster was found: the service exists in only one cluster, or was adopted into the item's cluster. */
  readonly cluster?: { readonly by: 'only' | 'adopted'; readonly name: string }
  /** The namespace of the only service with this name, if the item names none. */
  readonly namespace?: string
}

/** Returns the rule as shown to people, for example `label pod: deployment pod`. */
export function ruleText(rule: ServiceRule): string {
  const { cluster, namespace } = rule
  if (namespace !== undefined) return `${wayText(rule)}; the only service with this name is in ${namespace}`
  if (!cluster) return wayText(rule)
  const found = cluster.by === 'only' ? 'the only cluster with this service is' : 'adopted into the cluster'
  return `${wayText(rule)}; ${found} ${cluster.name}`
}

function wayText(rule: ServiceRule): string {
  if ('code' in rule) return rule.text
  switch (rule.by) {
    case 'label':
    case 'exporter label':
      return rule.how ? `${rule.by} ${rule.label}: ${rule.how}` : `${rule.by} ${rule.label}`
    case 'alias':
      return rule.label === undefined ? `alias ${rule.alias}` : `alias label ${rule.label}=${rule.value ?? ''}`
    case 'none':
      return 'unattributed'
    default:
      return rule.how
  }
}

/** Returns the code of a rule for a pipeline, such as `alias` or `slug`. */
export function ruleCode(rule: ServiceRule): string {
  return 'code' in rule ? rule.code : rule.by === 'project' ? rule.how : rule.by
}

/** Returns the label that chose the service, also by an alias, or null. */
export function chosenLabel(rule: ServiceRule): string | null {
  return 'by' in rule && 'label' in rule ? (rule.label ?? null) : null
}
