/** Joins services that turn out to be the same workload: by cluster, image, project or volume claim. */
import type { Draft } from '../../domain/event/event.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import { imageProjects, imagesOf, type LiveImage } from '../../domain/service/image.ts'
import { claimNamesOf } from '../../domain/service/pod-name.ts'
import { attribute, chosenLabel } from '../../domain/service/service.ts'
import type { Context } from '../state/context.ts'
import type { OrganizationState } from '../state/state.ts'
import { findService, type ServiceMatch, servicesIn } from './attribution.ts'
import { alertsOf } from './conditions.ts'
import { addOwnFingerprints, mergeServices, moveAll } from './services.ts'

const IMAGES_KEPT = 100
const CLAIM = 'PersistentVolumeClaim'
const CLAIM_LABEL = 'persistentvolumeclaim'
/** Matches scheduler and kubelet messages that name the claim a pod is waiting for. */
const NAMED = /\bpersistentvolumeclaim "([a-z0-9.-]+)"/i

/** Assigns a cluster to a service that has none. */
export function adopt(ctx: Context, { service, adoptedBy }: ServiceMatch): void {
  const before = service && ctx.state.services.get(service.rowId)
  if (!before || adoptedBy === null || before.cluster !== '') return
  const after = { ...before, cluster: adoptedBy }
  ctx.put.service(after)
  addOwnFingerprints(ctx, after)
}

/** Records the images that a service runs. Returns whether one of them is new. */
export function learnImages(ctx: Context, service: LiveService, draft: Draft, now: number): boolean {
  const found = imagesOf(draft).map((image) => learnImage(ctx, service, image, { at: draft.at, now }))
  return found.includes(true)
}

function learnImage(
  ctx: Context,
  service: LiveService,
  image: LiveImage,
  { at, now }: { readonly at: number; readonly now: number },
): boolean {
  const { rowId } = service
  const known = ctx.state.images.get(rowId) ?? ctx.fact('images', { serviceId: rowId })
  const { path, tag } = image
  const others = known.filter((one) => one.path !== path || one.tag !== tag)
  const isNew = others.length === known.length
  const projects = imageProjects(path)
  const images = [{ path, tag }, ...others].slice(0, IMAGES_KEPT)
  ctx.put.images(rowId, images)
  ctx.emit({
    kind: 'image-pulled',
    organizationId: ctx.state.rowId,
    serviceId: rowId,
    image: { path, tag, at, projects },
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

/** Returns whether all of the service's events are from CI. */
function isOnlyFromCi(ctx: Context, { rowId, hasOnlyCi }: LiveService): boolean {
  return hasOnlyCi ?? ctx.fact('hasOnlyCi', { serviceId: rowId })
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

/**
 * Merges volume claims into an item's workload. If the workload is new, merges all claims whose names match the
 * workload. Also merges the claim that the item's message names.
 */
export function joinClaims(ctx: Context, draft: Draft, service: LiveService, isNew: boolean, now: number): void {
  if (draft.source === 'cluster' && draft.object.kind === CLAIM) return
  const { cluster, namespace } = service
  if (isNew) {
    for (const name of claimNamesOf(service.name)) {
      const claim = findService(ctx.state, { cluster, namespace, name })
      if (claim && isClaim(ctx.state, claim)) moveAll(ctx, claim, service, now)
    }
  }
  const name = draft.source === 'cluster' && draft.object.kind === 'Pod' ? NAMED.exec(draft.message)?.[1] : undefined
  const used = name === undefined ? null : findService(ctx.state, { cluster, namespace, name })
  // The workload cannot be found from the claim's name, so this merge adds an alias.
  if (used && used.rowId !== service.rowId && isClaim(ctx.state, used)) mergeServices(ctx, used.id, service.id, now)
}

function isClaim(state: OrganizationState, { rowId }: LiveService): boolean {
  const alerts = alertsOf(state, rowId)
  return (
    alerts.length > 0 &&
    alerts.every(({ part, alert }) => part?.kind === CLAIM || chosenLabel(alert.rules.service) === CLAIM_LABEL)
  )
}
