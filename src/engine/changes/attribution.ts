/** Attribution: finds the service that an item belongs to. */

import { isUnattributed } from '../../domain/alert/signal.ts'
import type { Draft, Labels } from '../../domain/event/event.ts'
import { EXAMPLE_CLUSTER } from '../../domain/example/recorded.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import { clusterInLabels, type Match, matchCluster } from '../../domain/service/cluster.ts'
import { environmentIn, shareEnvironment } from '../../domain/service/environment.ts'
import { inClustersOf } from '../../domain/service/from-project.ts'
import {
  type AliasRef,
  type Attribution,
  aliasesToFind,
  attribute,
  matchesName,
  type Name,
  namesToFind,
  type ServiceKey,
  type ServiceRule,
  shortened,
} from '../../domain/service/service.ts'
import { aliasKey, alikeKey, namespaceKey, type OrganizationState, serviceKey } from '../state/state.ts'

export type ServiceMatch = {
  /** Null if the service has yet to be created. */
  readonly service: LiveService | null
  /** The names of the service, with the cluster that it has after the item. */
  readonly key: ServiceKey
  readonly attribution: Attribution
  /** The cluster to assign to a service that has none; null to leave the service unchanged. */
  readonly adoptedBy: string | null
}

/** Finds the service for a draft: first by alias, then by the rules in `domain/service`. */
export function matchService(state: OrganizationState, tokenCluster: string, draft: Draft): ServiceMatch {
  const cluster = tokenCluster || realCluster(shortened(clusterOf(draft)))
  const known: LiveService[] = []
  for (const asked of namesToFind(draft)) findNamed(state, cluster, asked, known)
  const project = draft.source === 'ci' ? draft.project?.path.toLowerCase() : undefined
  const images = project === undefined ? [] : servicesOfProject(state, project).filter(canMatch(cluster))
  const attribution = attribute(draft, known, images)
  const alias = state.aliases.size() > 0 ? findAlias(state, aliasesToFind(draft, known), cluster) : null
  if (alias && canMatch(cluster)(alias.service)) {
    const { service, ref } = alias
    const rule = aliasRule(ref)
    return { service, key: service, attribution: { ...nameOf(service), rule, creates: 'event' }, adoptedBy: null }
  }
  const { namespace, name } = attribution
  const found = images.length > 0 ? [...images, ...known] : known
  const isNamed = (one: LiveService) => one.namespace === namespace && one.name === name
  const exact = found.find((one) => one.cluster === cluster && isNamed(one))
  const match = exact ?? (draft.source === 'ci' ? inClustersOf(draft, found.filter(isNamed))[0] : undefined)
  if (match) return { service: match, key: match, attribution, adoptedBy: null }
  const shared = findSharedService(state, { cluster, namespace, name })
  const labels = 'labels' in draft ? draft.labels : {}
  const only = shared || draft.source === 'ci' ? null : onlyNamed(state, { cluster, namespace, name }, labels)
  if (only) {
    const rule = { ...attribution.rule, namespace: only.namespace }
    return { service: only, key: only, attribution: { ...attribution, ...nameOf(only), rule }, adoptedBy: null }
  }
  if (!shared) return { service: null, key: { cluster, namespace, name }, attribution, adoptedBy: null }
  const { service, rule } = shared
  const adoptedBy = service.cluster === cluster || cluster === '' ? null : cluster
  const explained = rule ? { ...attribution, rule: { ...attribution.rule, cluster: rule } } : attribution
  const key = { cluster: adoptedBy ?? service.cluster, namespace: service.namespace, name: service.name }
  return { service, key, attribution: explained, adoptedBy }
}

/** Finds a service by its key. An empty cluster, in the key or in the service, can match any cluster. */
function findSharedService(state: OrganizationState, key: ServiceKey): Match<LiveService> | null {
  if (!isKnown(state, key)) return null
  const exact = findService(state, key)
  if (exact) return { service: exact }
  // `unattributed` and names such as `source/…` do not refer to workloads in a cluster.
  if (isUnattributed(key) || key.name.startsWith('source/')) return null
  return matchCluster(key.cluster, alikeServices(state, key))
}

/**
 * Returns the only service with a name in an environment, by default production, for an item that names no namespace, as
 * most rules of Grafana; or null. Nodes and the other services without a namespace have a slash in their names.
 */
function onlyNamed(state: OrganizationState, key: ServiceKey, labels: Labels): LiveService | null {
  if (key.namespace !== '' || key.name.includes('/') || isUnattributed(key)) return null
  const matches = canMatch(key.cluster)
  const place = { ...key, cluster: environmentIn(labels) || key.cluster }
  const found = servicesIn(state, state.servicesByName.get(key.name)).filter((one) => {
    return matches(one) && (key.cluster === '' || one.cluster === key.cluster) && shareEnvironment(one, place)
  })
  return found.length === 1 ? (found[0] ?? null) : null
}

/**
 * Returns the services with this namespace and name in any cluster, but at most two, because more of them are as
 * ambiguous as two.
 */
function alikeServices(state: OrganizationState, key: ServiceKey): LiveService[] {
  const found: LiveService[] = []
  const matches = canMatch(key.cluster)
  for (const rowId of state.servicesAlike.get(alikeKey(key))) {
    const service = state.services.get(rowId)
    if (service && matches(service)) found.push(service)
    if (found.length === 2) break
  }
  return found
}

/** Most names that are looked up belong to no service, and a name alone is a cheaper key. */
function isKnown(state: OrganizationState, { name }: ServiceKey): boolean {
  return state.servicesByName.get(name).size > 0
}

export function findService(state: OrganizationState, key: ServiceKey): LiveService | null {
  if (!isKnown(state, key)) return null
  const rowId = state.serviceByKey.get(serviceKey(key))
  return rowId === undefined ? null : (state.services.get(rowId) ?? null)
}

/**
 * Returns the service for the first alias that exists, or null. `cluster`: that of the item; '' if it names none, or if
 * the alias itself is wanted. A workload of another cluster is another workload, unless the alias names the cluster.
 */
export function findAlias(
  state: OrganizationState,
  refs: readonly AliasRef[],
  cluster = '',
): { readonly service: LiveService; readonly ref: AliasRef } | null {
  const serviceOf = (ref: AliasRef) => state.services.get(state.aliases.get(aliasKey(ref)) ?? 0)
  for (const ref of refs) {
    const isPlaced = ref.kind === 'workload' && cluster !== ''
    const own = isPlaced ? serviceOf(inCluster(ref, cluster)) : undefined
    if (own) return { service: own, ref }
    const service = serviceOf(ref)
    if (service && (!isPlaced || service.cluster === '' || service.cluster === cluster)) return { service, ref }
  }
  return null
}

/** Returns the alias of a workload in one cluster: `cluster/namespace/name`. */
export function inCluster({ kind, value }: AliasRef, cluster: string): AliasRef {
  return { kind, value: `${cluster}/${value}` }
}

/** The maximum number of services that a name pattern can match. */
const MAX_NAMED = 50

/** Adds the services with a name to `into`. */
function findNamed(state: OrganizationState, cluster: string, asked: Name, into: LiveService[]): void {
  const { namespace, name } = asked
  if (namespace === '*') {
    into.push(...servicesIn(state, state.servicesByName.get(name)).filter(canMatch(cluster)))
  } else if (name.endsWith('*')) {
    const inside = servicesIn(state, state.servicesByNamespace.get(namespaceKey({ cluster, namespace })))
    const matching = inside.filter((service) => matchesName(asked, service)).sort((a, b) => (a.name < b.name ? -1 : 1))
    into.push(...matching.slice(0, MAX_NAMED))
  } else if (state.servicesByName.get(name).size > 0) {
    const found = findSharedService(state, { cluster, namespace, name })
    if (found) into.push(found.service)
  }
}

export function servicesIn(state: OrganizationState, rowIds: ReadonlySet<number>): LiveService[] {
  return [...rowIds].sort((a, b) => a - b).flatMap((rowId) => state.services.get(rowId) ?? [])
}

/**
 * Returns a filter for the services that items from this cluster can belong to. The example data has separate services
 * because removing the example deletes everything that belongs to them.
 */
function canMatch(cluster: string): (service: LiveService) => boolean {
  return (service) => (service.cluster === EXAMPLE_CLUSTER) === (cluster === EXAMPLE_CLUSTER)
}

/**
 * Returns the cluster that the sender reported, or ''. Senders cannot use the cluster name reserved for the example
 * data.
 */
function realCluster(cluster: string): string {
  return cluster === EXAMPLE_CLUSTER ? '' : cluster
}

/** Returns the services that pulled an image of the project. `project`: the path in lower case. */
function servicesOfProject(state: OrganizationState, project: string): LiveService[] {
  return servicesIn(state, state.projects.get(project))
}

/** Returns the cluster that an item names; '' if none. */
export function clusterOf(draft: Draft): string {
  if (draft.source === 'cluster') return draft.cluster ?? ''
  return draft.source === 'ci' ? '' : clusterInLabels(draft.labels)
}

function aliasRule({ kind, value }: AliasRef): ServiceRule {
  if (kind !== 'label') return { by: 'alias', alias: kind }
  const equals = value.indexOf('=')
  return { by: 'alias', alias: kind, label: value.slice(0, equals), value: value.slice(equals + 1) }
}

function nameOf({ namespace, name }: LiveService): Name {
  return { namespace, name }
}
