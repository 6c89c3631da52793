/** Services: which one an event belongs to, and what must be looked up to know. */

import type { Draft } from '../event/event.ts'
import { attributeLabels, labelNames, namedObject, nodeOfLabels } from './from-labels.ts'
import { attributeObject, objectNames } from './from-object.ts'
import { ANY_NAMESPACE, attributeCi, projectNames } from './from-project.ts'
import { imageOf } from './image.ts'

export type Attribution = {
  readonly namespace: string
  readonly name: string
  /** The rule that decided: `owner`, `label app`, `known workload`, `deployment pod`, `label pod: deployment pod`, … */
  readonly rule: string
  /** `event`: the service comes into being with any event; `alert`: only with its first alert. */
  readonly creates: 'event' | 'alert'
}

export type Name = { readonly namespace: string; readonly name: string }

export const ALIAS_KINDS = ['ci-project', 'image', 'label', 'workload'] as const
export type AliasKind = (typeof ALIAS_KINDS)[number]
export type AliasRef = { readonly kind: AliasKind; readonly value: string }

/** The service of what names nothing; its namespace is ''. */
export const UNATTRIBUTED = 'unattributed'

/** As long as the longest name of Kubernetes; a label may be longer. */
const LONGEST_NAME = 253

/**
 * The names whose existence the rules ask about, without duplicates: the caller passes those that are services to
 * `attribute`. Namespace `*` asks in every namespace, a name ending in `*` for every name that begins so: see `asksFor`.
 */
export function namesToKnow(draft: Draft): Name[] {
  const names = namesOf(draft)
  if (names.length < 2) return names
  return [...new Map(names.map((name) => [JSON.stringify([name.namespace, name.name]), name])).values()]
}

/** Whether a service's name answers one of `namesToKnow`. */
export function asksFor(asked: Name, service: Name): boolean {
  if (asked.namespace !== ANY_NAMESPACE && asked.namespace !== service.namespace) return false
  return asked.name.endsWith('*') ? service.name.startsWith(asked.name.slice(0, -1)) : service.name === asked.name
}

/**
 * The service a draft belongs to, by the first rule that holds of the table for its source; `unattributed` where none
 * does, for heartbeats and for tests. `known`: those of `namesToKnow` that are services. `images`, for ci alone: the
 * services for which an image was pulled that `imageProjects` joins to the project's path in lower case.
 */
export function attribute(draft: Draft, known: readonly Name[], images: readonly Name[] = []): Attribution {
  const found = find(draft, known, images)
  if (found) return { ...found, name: shortened(found.name), namespace: shortened(found.namespace) }
  return { namespace: '', name: UNATTRIBUTED, rule: UNATTRIBUTED, creates: 'alert' }
}

/**
 * The aliases to look up, the most particular first; the first that a person has set wins over all rules.
 * `workload`: `namespace/name` of what the rules give and of the object as sent; `label`: `name=value`; `image`: the
 * image's path; `ci-project`: the project's path.
 */
export function aliasesToKnow(draft: Draft, known: readonly Name[] = []): AliasRef[] {
  const byRules = attribute(draft, known)
  const rules: AliasRef[] = byRules.name === UNATTRIBUTED ? [] : [workload(byRules)]
  const refs = draft.source === 'ci' ? [...projectAliases(draft), ...rules] : [...rules, ...foreignAliases(draft)]
  return [...new Map(refs.map((ref) => [`${ref.kind} ${ref.value}`, ref])).values()]
}

/** The node a draft concerns or runs on, for suspected causes; null where it is not told. */
export function nodeOf(draft: Draft): string | null {
  switch (draft.source) {
    case 'cluster':
      return (draft.object.kind.toLowerCase() === 'node' ? draft.object.name : draft.object.node)?.trim() || null
    case 'metrics':
    case 'dashboard':
      return nodeOfLabels(draft.labels)
    case 'ci':
      return null
  }
}

function namesOf(draft: Draft): Name[] {
  switch (draft.source) {
    case 'cluster':
      return objectNames(draft.object)
    case 'metrics':
    case 'dashboard':
      return labelNames(draft.labels)
    case 'ci':
      return projectNames(draft)
  }
}

function find(draft: Draft, known: readonly Name[], images: readonly Name[]): Attribution | null {
  switch (draft.source) {
    case 'cluster':
      return attributeObject(draft.object, known)
    case 'metrics':
    case 'dashboard':
      return draft.nature === 'heartbeat' || draft.nature === 'test' ? null : attributeLabels(draft.labels, known)
    case 'ci':
      return attributeCi(draft, known, images)
  }
}

function projectAliases(draft: Extract<Draft, { readonly source: 'ci' }>): AliasRef[] {
  return draft.project ? [{ kind: 'ci-project', value: draft.project.path }] : []
}

function foreignAliases(draft: Exclude<Draft, { readonly source: 'ci' }>): AliasRef[] {
  const object = draft.source === 'cluster' ? draft.object : namedObject(draft.labels)
  const labels = draft.source === 'cluster' ? draft.object.labels : draft.labels
  const image = imageOf(draft)
  return [
    ...(object && object.name !== '' ? [workload(object)] : []),
    ...Object.entries(labels).map(([name, value]): AliasRef => ({ kind: 'label', value: `${name}=${value}` })),
    ...(image ? [{ kind: 'image', value: image.path } as const] : []),
  ]
}

function workload({ namespace, name }: Name): AliasRef {
  return { kind: 'workload', value: `${namespace}/${name}` }
}

function shortened(name: string): string {
  return name.length > LONGEST_NAME ? name.slice(0, LONGEST_NAME).toWellFormed() : name
}
