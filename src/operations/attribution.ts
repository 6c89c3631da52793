/** Attribution: the service of a draft, found or made; what is looked up for the rules of `domain/service.ts`. */
import type { Draft } from '../domain/event/event.ts'
import { imageOf, imageProjects } from '../domain/service/image.ts'
import { type AliasRef, type Attribution, aliasesToKnow, attribute, namesToKnow } from '../domain/service/service.ts'
import { findAlias, hasAliases } from '../store/aliases.ts'
import { awaitedName, isOfCiAlone, linkAwaiting } from '../store/event-rows.ts'
import { listServicesOfProject, storeImage } from '../store/images.ts'
import {
  findServiceByKey,
  findServiceNames,
  insertService,
  loadService,
  type ServiceRow,
} from '../store/service-rows.ts'
import type { Deps } from './deps.ts'
import { moveAll } from './services.ts'

export type Place = {
  /** Null where it does not exist and this draft alone does not bring it into being. */
  readonly service: ServiceRow | null
  readonly key: { readonly cluster: string; readonly namespace: string; readonly name: string }
  readonly attribution: Attribution
}

/** The service that a draft belongs to, by a person's alias, else by the rules. */
export function placeOf(deps: Deps, organizationId: number, tokenCluster: string, draft: Draft): Place {
  const { db } = deps
  const cluster = tokenCluster || clusterOf(draft)
  const known = findServiceNames(db, organizationId, cluster, namesToKnow(draft))
  const project = draft.source === 'ci' ? draft.project?.path.toLowerCase() : undefined
  const images = project === undefined ? [] : listServicesOfProject(db, organizationId, project)
  const attribution = attribute(draft, known, images)
  const alias = hasAliases(db, organizationId) ? findAlias(db, organizationId, aliasesToKnow(draft, known)) : null
  if (alias) {
    const service = loadService(db, alias.serviceId)
    return { service, key: service, attribution: { ...service, rule: aliasRule(alias.ref), creates: 'event' } }
  }
  const { namespace, name } = attribution
  const matches = [...images, ...known].filter((one) => one.namespace === namespace && one.name === name)
  const match = matches.find((one) => one.cluster === cluster) ?? matches[0]
  const service = match ? loadService(db, match.id) : findServiceByKey(db, { organizationId, cluster, namespace, name })
  return { service, key: service ?? { cluster, namespace, name }, attribution }
}

function clusterOf(draft: Draft): string {
  if (draft.source === 'cluster') return draft.cluster ?? ''
  return draft.source === 'ci' ? '' : (draft.labels.cluster ?? '')
}

function aliasRule({ kind, value }: AliasRef): string {
  return kind === 'label' ? `alias label ${value}` : `alias ${kind}`
}

/** The place's service, made where it is missing, with the events that waited for it. */
export function settleIn(deps: Deps, organizationId: number, place: Place, now: number): ServiceRow {
  if (place.service) return place.service
  const { cluster, namespace, name } = place.key
  const service = insertService(deps.db, { uuid: deps.newId(), organizationId, cluster, namespace, name }, now)
  linkAwaiting(deps.db, organizationId, awaitedName(place.key), service.id)
  deps.announce({ kind: 'service', id: service.uuid, organizationId })
  return service
}

/** Remembers whose image the service pulls; whether that is news. */
export function learnImage(deps: Deps, organizationId: number, service: ServiceRow, draft: Draft): boolean {
  const image = imageOf(draft)
  if (!image) return false
  const projects = imageProjects(image.path)
  const isNew = storeImage(deps.db, { organizationId, serviceId: service.id, ...image, at: draft.at, projects })
  if (isNew) for (const project of projects) joinPulled(deps, organizationId, service, project)
  return isNew
}

/** The service of a project's own joins the only one that pulls its image. Of several, the next pipeline chooses. */
function joinPulled(deps: Deps, organizationId: number, service: ServiceRow, project: string): void {
  if (listServicesOfProject(deps.db, organizationId, project).length !== 1) return
  const slash = project.lastIndexOf('/')
  const asked = { namespace: '*', name: project.slice(slash + 1) }
  for (const own of findServiceNames(deps.db, organizationId, '', [asked])) {
    const isOwn = own.namespace === project.slice(0, slash) && own.id !== service.id
    if (isOwn && isOfCiAlone(deps.db, own.id)) moveAll(deps, loadService(deps.db, own.id), service)
  }
}

/**
 * A project that had a service of its own joins the one that a rule now finds, as a merge by hand does, but for the
 * alias: the project's name is no workload's, and the rule finds the service again. A workload that merely bears the
 * project's name is not its own service, and stays.
 */
export function joinProject(
  deps: Deps,
  organizationId: number,
  tokenCluster: string,
  draft: Draft,
  found: ServiceRow,
): void {
  if (draft.source !== 'ci' || !draft.project) return
  const { namespace, name } = attribute(draft, [])
  const own = findServiceByKey(deps.db, { organizationId, cluster: tokenCluster, namespace, name })
  if (own && own.id !== found.id && isOfCiAlone(deps.db, own.id)) moveAll(deps, own, found)
}
