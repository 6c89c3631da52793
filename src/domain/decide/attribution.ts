/** Attribution: finds or creates the service that an item belongs to. */

import type { ReceivedEvent } from '../alert/late-events.ts'
import { isUnattributed } from '../alert/signal.ts'
import type { Draft } from '../event/event.ts'
import { EXAMPLE_CLUSTER } from '../example.ts'
import { clusterInLabels, type Match, matchCluster } from '../service/cluster.ts'
import { imageOf, imageProjects } from '../service/image.ts'
import {
  type AliasRef,
  type Attribution,
  aliasesToFind,
  attribute,
  matchesName,
  type Name,
  namesToFind,
} from '../service/service.ts'
import type { Context } from '../state/context.ts'
import type { LiveService } from '../state/live.ts'
import { aliasKey, awaitedName, namespaceKey, type OrganizationState, serviceKey } from '../state/state.ts'
import { addOwnFingerprints, moveAll } from './services.ts'

const IMAGES_KEPT = 100

export type ServiceKey = { readonly cluster: string; readonly namespace: string; readonly name: string }

export type ServiceMatch = {
  /** Null if the service has yet to be created. */
  readonly service: LiveService | null
  readonly key: ServiceKey
  readonly attribution: Attribution
  /** The cluster to assign to a service that has none; null to leave the service unchanged. */
  readonly adoptedBy: string | null
}

/** Finds the service for a draft: first by alias, then by the rules in `domain/service`. */
export function matchService(state: OrganizationState, tokenCluster: string, draft: Draft): ServiceMatch {
  const cluster = tokenCluster || realCluster(clusterOf(draft))
  const known = namesToFind(draft).flatMap((asked) => servicesNamed(state, cluster, asked))
  const project = draft.source === 'ci' ? draft.project?.path.toLowerCase() : undefined
  const images = project === undefined ? [] : servicesOfProject(state, project).filter(canMatch(cluster))
  const attribution = attribute(draft, known, images)
  const alias = state.aliases.size() > 0 ? findAlias(state, aliasesToFind(draft, known)) : null
  if (alias && canMatch(cluster)(alias.service)) {
    const { service } = alias
    const attribution = { ...nameOf(service), rule: aliasRule(alias.ref), creates: 'event' } as const
    return { service, key: service, attribution, adoptedBy: null }
  }
  const { namespace, name } = attribution
  const found = images.length > 0 ? [...images, ...known] : known
  const matches = found.filter((one) => one.namespace === namespace && one.name === name)
  const match = matches.find((one) => one.cluster === cluster) ?? (draft.source === 'ci' ? matches[0] : undefined)
  if (match) return { service: match, key: match, attribution, adoptedBy: null }
  const shared = findSharedService(state, { cluster, namespace, name })
  if (!shared) return { service: null, key: { cluster, namespace, name }, attribution, adoptedBy: null }
  const { service, rule } = shared
  const adoptedBy = service.cluster === cluster || cluster === '' ? null : cluster
  const explained = rule === null ? attribution : { ...attribution, rule: `${attribution.rule}; ${rule}` }
  return { service, key: service, attribution: explained, adoptedBy }
}

/** Finds a service by its key. An empty cluster, in the key or in the service, can match any cluster. */
export function findSharedService(state: OrganizationState, key: ServiceKey): Match<LiveService> | null {
  const exact = findService(state, key)
  if (exact) return { service: exact, rule: null }
  // `unattributed` and names such as `source/…` do not refer to workloads in a cluster.
  if (isUnattributed(key) || key.name.startsWith('source/')) return null
  const sameName = servicesIn(state, state.servicesByName.get(key.name))
  return matchCluster(
    key.cluster,
    sameName.filter(({ namespace }) => namespace === key.namespace).filter(canMatch(key.cluster)),
  )
}

/** Assigns a cluster to a service that has none. */
export function adopt(ctx: Context, { service, adoptedBy }: ServiceMatch): void {
  const before = service && ctx.state.services.get(service.rowId)
  if (!before || adoptedBy === null || before.cluster !== '') return
  const after = { ...before, cluster: adoptedBy }
  ctx.emit({ kind: 'service-changed', before, after })
  addOwnFingerprints(ctx, after)
}

export function findService(state: OrganizationState, key: ServiceKey): LiveService | null {
  const rowId = state.serviceByKey.get(serviceKey(key))
  return rowId === undefined ? null : (state.services.get(rowId) ?? null)
}

/** Returns the service for the first alias that exists, or null. */
export function findAlias(
  state: OrganizationState,
  refs: readonly AliasRef[],
): { readonly service: LiveService; readonly ref: AliasRef } | null {
  for (const ref of refs) {
    const rowId = state.aliases.get(aliasKey(ref))
    const service = rowId === undefined ? undefined : state.services.get(rowId)
    if (service) return { service, ref }
  }
  return null
}

/** The maximum number of services that a name pattern can match. */
const MAX_NAMED = 50

function servicesNamed(state: OrganizationState, cluster: string, asked: Name): LiveService[] {
  if (asked.namespace === '*') return servicesIn(state, state.servicesByName.get(asked.name)).filter(canMatch(cluster))
  if (asked.name.endsWith('*')) {
    const inNamespace = servicesIn(state, state.servicesByNamespace.get(namespaceKey({ cluster, ...asked })))
    return inNamespace
      .filter((service) => matchesName(asked, service))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, MAX_NAMED)
  }
  const found = findSharedService(state, { cluster, ...asked })
  return found ? [found.service] : []
}

function servicesIn(state: OrganizationState, rowIds: ReadonlySet<number>): LiveService[] {
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

function aliasRule({ kind, value }: AliasRef): string {
  return kind === 'label' ? `alias label ${value}` : `alias ${kind}`
}

function nameOf({ namespace, name }: LiveService): Name {
  return { namespace, name }
}

/** Creates a service. New services are healthy. */
export function createLiveService(ctx: Context, key: ServiceKey, now: number): LiveService {
  const { cluster, namespace, name } = key
  const service: LiveService = {
    rowId: ctx.rowId('services'),
    id: ctx.newId(),
    organizationId: ctx.state.rowId,
    ...{ cluster, namespace, name },
    health: { status: 'healthy', score: 100, penalties: [] },
    healthySince: now,
    suppressed: false,
    lastAlertAt: null,
    lastEventAt: null,
    createdAt: now,
    evaluateAt: null,
    // Null means that the value is not loaded yet. Earlier events may belong to the new service.
    ...{ endingEventAt: null, changeAt: null, hasOnlyCi: null },
  }
  ctx.emit({ kind: 'service-created', service })
  return service
}

/** Records the image that a service pulled. Returns whether the image is new. */
export function learnImage(ctx: Context, service: LiveService, draft: Draft, now: number): boolean {
  const image = imageOf(draft)
  if (!image) return false
  const { rowId } = service
  const known = ctx.state.images.get(rowId) ?? ctx.fact('images', { serviceId: rowId })
  const { path, tag } = image
  const others = known.filter((one) => one.path !== path || one.tag !== tag)
  const isNew = others.length === known.length
  const projects = imageProjects(path)
  const images = [{ path, tag }, ...others].slice(0, IMAGES_KEPT)
  ctx.emit({
    kind: 'image-pulled',
    organizationId: ctx.state.rowId,
    serviceId: rowId,
    image: { path, tag, at: draft.at, projects },
    images,
    isNew,
  })
  if (isNew) for (const project of projects) joinPulled(ctx, service, project, now)
  return isNew
}

/**
 * Merges the project's own service into the service that pulls the project's image. If several services pull the image,
 * nothing is merged until a pipeline shows which service the project deploys.
 */
function joinPulled(ctx: Context, service: LiveService, project: string, now: number): void {
  if (ctx.state.projects.get(project).size !== 1) return
  const slash = project.lastIndexOf('/')
  const namespace = project.slice(0, slash)
  for (const own of servicesIn(ctx.state, ctx.state.servicesByName.get(project.slice(slash + 1)))) {
    if (own.namespace === namespace && own.rowId !== service.rowId && isOnlyFromCi(ctx, own))
      moveAll(ctx, own, service, now)
  }
}

/**
 * Merges the project's own service into the service that a rule found. No alias is needed, because the same rule will
 * find the service again. A workload that merely has the same name as the project is not merged.
 */
export function joinProject(ctx: Context, tokenCluster: string, draft: Draft, found: LiveService, now: number): void {
  if (draft.source !== 'ci' || !draft.project) return
  const { namespace, name } = attribute(draft, [])
  const own = findService(ctx.state, { cluster: tokenCluster, namespace, name })
  if (own && own.rowId !== found.rowId && isOnlyFromCi(ctx, own)) moveAll(ctx, own, found, now)
}

function isOnlyFromCi(ctx: Context, { rowId, hasOnlyCi }: LiveService): boolean {
  return hasOnlyCi ?? ctx.fact('hasOnlyCi', { serviceId: rowId })
}

/** Returns the times (ms UTC) of the service's newest change and of its newest event that can end a condition. */
export function newestOf(
  ctx: Context,
  { rowId }: LiveService,
): { readonly endingEventAt: number; readonly changeAt: number } {
  const before = ctx.state.services.get(rowId)
  if (!before) return { endingEventAt: 0, changeAt: 0 }
  const { endingEventAt, changeAt } = before
  if (endingEventAt !== null && changeAt !== null) return { endingEventAt, changeAt }
  const saved = ctx.fact('newest', { serviceId: rowId, awaited: awaitedName(before) })
  const unsaved = ctx.state.unsavedEndings.get(rowId) ?? []
  const times = (of: readonly ReceivedEvent[]) => of.map(({ at }) => at)
  const found = {
    endingEventAt: Math.max(saved.endingEventAt, ...times(unsaved)),
    changeAt: Math.max(saved.changeAt, ...times(unsaved.filter(({ kind }) => kind === 'change'))),
  }
  ctx.emit({ kind: 'service-loaded', before, after: { ...before, ...found } })
  return found
}
