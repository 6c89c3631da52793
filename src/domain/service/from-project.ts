/** Finds the service of a CI project. */

import type { Draft, Job } from '../event/event.ts'
import { isBegun, isDefaultBranch, isDeploy } from '../event/pipeline.ts'
import { ordered } from '../order.ts'
import { type Placed, shareEnvironment, tierOf } from './environment.ts'
import type { Attribution, Name } from './service.ts'

/** In lookups, this value matches any namespace. */
export const ANY_NAMESPACE = '*'

/** Suffixes that a project name can have but its service name does not. */
const ENDINGS = ['-api', '-svc', '-service', '-app', '-backend', '-deploy']

/** Names that occur in every group and do not identify a service by themselves. */
const COMMON = new Set(['api', 'svc', 'service', 'app', 'backend', 'frontend', 'web', 'deploy', 'server', 'worker'])

type CiDraft = Extract<Draft, { readonly source: 'ci' }>

type Subject = {
  readonly group: readonly string[]
  readonly slug: string
  readonly environments: readonly string[]
  readonly known: readonly Placed[]
  readonly images: readonly Name[]
}

/** The first matching rule wins. */
const RULES: readonly { readonly rule: string; readonly find: (subject: Subject) => Name | null }[] = [
  { rule: 'image path', find: (it) => best(it.images, it, namesEnvironment, inEnvironment, sameSlug, production) },
  {
    rule: 'environment',
    find: (it) =>
      only(it.known.filter((one) => sameSlug(one, it) && (inEnvironment(one, it) || inCluster(one, it.environments)))),
  },
  { rule: 'environment', find: (it) => only(it.known.filter((name) => namesEnvironment(name, it))) },
  { rule: 'namespace', find: (it) => only(it.known.filter((name) => sameSlug(name, it) && inGroup(name, it))) },
  { rule: 'slug', find: (it) => (COMMON.has(it.slug) ? null : only(it.known.filter((name) => sameSlug(name, it)))) },
  { rule: 'project', find: (it) => ({ namespace: it.group.join('/'), name: it.slug }) },
]

/**
 * Returns the service for a CI draft, or null if it has no project. `known`: the existing services among
 * `projectNames`. `images`: the services that pulled an image of this project. If several services differ only by
 * environment, production wins. If the services differ in any other way, none is chosen, because a wrong link is worse
 * than no link.
 */
export function attributeCi(draft: CiDraft, known: readonly Placed[], images: readonly Name[]): Attribution | null {
  const subject = subjectOf(draft.project?.path, jobsOf(draft), known, images)
  if (!subject) return null
  for (const { rule, find } of RULES) {
    const found = find(subject)
    if (found) return { ...nameOf(found), rule: { by: 'project', how: rule }, creates: createsBy(draft) }
  }
  return null
}

/** Returns the rule that connects a project and a service, or null if only an alias or an image connects them. */
export function relationOf(
  project: string,
  jobs: readonly Job[],
  service: Placed,
): 'environment' | 'namespace' | 'slug' | null {
  const subject = subjectOf(project, jobs, [service], [])
  const found = subject && RULES.find(({ find }) => find(subject))
  return found?.rule === 'environment' || found?.rule === 'namespace' || found?.rule === 'slug' ? found.rule : null
}

/**
 * Returns the names that `attributeCi` looks for: the project's slug with and without each suffix, and its
 * environments.
 */
export function projectNames(draft: CiDraft): Name[] {
  return draft.project ? namesOfProject(draft.project.path, jobsOf(draft)) : []
}

/** Returns the names of the services that the jobs of a project can deploy. */
export function namesOfProject(project: string, jobs: readonly Job[]): Name[] {
  const subject = subjectOf(project, jobs, [], [])
  if (!subject) return []
  const bases = [subject.slug, withoutEnding(subject.slug)]
  const names = [...bases, ...ENDINGS.map((ending) => bases[1] + ending), ...subject.environments.flatMap(parts)]
  return [...new Set(names)].map((name) => ({ namespace: ANY_NAMESPACE, name }))
}

/** Normalizes a name for comparison: lower case, letters and digits of any script, single dashes. */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .join('-')
}

function subjectOf(
  project: string | undefined,
  jobs: readonly Job[],
  known: readonly Placed[],
  images: readonly Name[],
): Subject | null {
  const segments = project?.split('/').map((it) => it.trim())
  const path = segments?.filter(Boolean) ?? []
  const last = path.at(-1)
  if (last === undefined) return null
  const environments = jobs.flatMap((job) => (job.environment ? [slugPath(job.environment.name)] : []))
  return {
    group: path.slice(0, -1),
    slug: slugOf(last) || last,
    environments: [...new Set(environments.filter(Boolean))],
    known: ordered(known, byName),
    images: ordered(images, byName),
  }
}

function createsBy(draft: CiDraft): 'event' | 'alert' {
  if (draft.kind === 'other') return 'alert'
  const merge = draft.kind === 'pipeline' && draft.mergeRequest
  const counts = draft.tag || (!merge && isDefaultBranch(draft.project, draft.ref))
  return (draft.kind === 'pipeline' && counts) || jobsOf(draft).some((job) => isDeploy(job) && isBegun(job))
    ? 'event'
    : 'alert'
}

function jobsOf(draft: CiDraft): readonly Job[] {
  if (draft.kind === 'pipeline') return draft.jobs
  return draft.kind === 'job' ? [draft.job] : []
}

function sameSlug(name: Name, { slug }: Subject): boolean {
  return withoutEnding(slugOf(name.name)) === withoutEnding(slug)
}

/**
 * Returns whether the namespace is for one of the environments: `production` or `prod`, `shop-production` for the group
 * `shop`, or `checkout-production` for the project `checkout`.
 */
function inEnvironment(name: Name, { environments, group, slug }: Subject): boolean {
  const namespace = slugOf(name.namespace)
  const owners = [...group.map(slugOf), slug, withoutEnding(slug)]
  const base = stem(namespace)
  const isOwn = base === '' || owners.includes(base)
  return environments
    .flatMap(parts)
    .some(
      (it) =>
        namespace === it || owners.some((own) => namespace === `${own}-${it}`) || (isOwn && isAlso(namespace, it)),
    )
}

/** Returns whether an environment is named after a cluster: `prod-us`, `production/us` or `us` for the cluster `prod-us`. */
function inCluster({ cluster = '' }: Placed, environments: readonly string[]): boolean {
  const placed = (name: string) => ({ namespace: '', name: '', cluster: name })
  const isNamed = (it: string) => stem(cluster) !== '' && parts(it).some((part) => stem(part) === stem(cluster))
  return environments.some((it) => isNamed(it) && shareEnvironment(placed(it), placed(cluster)))
}

/** Of services that only their clusters tell apart, returns those of the clusters to which a draft deploys, if any. */
export function inClustersOf<One extends Placed>(draft: CiDraft, services: readonly One[]): readonly One[] {
  const environments = subjectOf(draft.project?.path, jobsOf(draft).filter(isDeploy), [], [])?.environments ?? []
  const named = services.filter((one) => inCluster(one, environments))
  return named.length > 0 ? named : services
}

/** Returns whether a namespace and an environment have different words for the same tier: `prod`, `production`. */
function isAlso(namespace: string, environment: string): boolean {
  const tier = tierOf(environment)
  return (tier === 'production' || tier === 'staging') && tierOf(namespace) === tier
}

/** Returns whether an environment is named after the service: `checkout`, `production/checkout`. */
function namesEnvironment(name: Name, { environments }: Subject): boolean {
  const slug = slugOf(name.name)
  // Review environments are named after their branch.
  const named = environments.filter((it) => !it.startsWith('review'))
  return !isEnvironmentWord(slug) && named.flatMap(parts).includes(slug)
}

function inGroup(name: Name, { group, slug }: Subject): boolean {
  const namespace = slugOf(name.namespace)
  return [...group.map(slugOf), slug, withoutEnding(slug)].includes(namespace)
}

function production(name: Name): boolean {
  return tierOf(name.namespace) === 'production'
}

/** Returns the shortest name that passes a test. Earlier tests take precedence. */
function best(
  names: readonly Name[],
  subject: Subject,
  ...tests: readonly ((name: Name, subject: Subject) => boolean)[]
): Name | null {
  const ranked = ordered(names, (name) => [...tests.map((test) => (test(name, subject) ? 0 : 1)), name.name.length])
  return ranked[0] ?? null
}

/** Returns the only matching name, or the one in production if the namespaces differ only by environment. */
function only(names: readonly Name[]): Name | null {
  const stems = new Set(names.map((name) => `${stem(name.namespace)}/${withoutEnding(slugOf(name.name))}`))
  return stems.size === 1 ? (names.find(production) ?? names[0] ?? null) : null
}

function stem(namespace: string): string {
  const words = slugOf(namespace).split('-')
  return words.filter((word) => !isEnvironmentWord(word)).join('-')
}

function isEnvironmentWord(word: string): boolean {
  return word === 'canary' || tierOf(word) !== null
}

function withoutEnding(slug: string): string {
  const ending = ENDINGS.find((it) => slug.endsWith(it) && slug.length > it.length)
  return ending ? slug.slice(0, -ending.length) : slug
}

function slugPath(environment: string): string {
  return environment.split('/').map(slugOf).filter(Boolean).join('/')
}

/** Returns the slugs of an environment and its parts. */
function parts(environment: string): string[] {
  return [environment.replaceAll('/', '-'), ...environment.split('/')]
}

function nameOf({ namespace, name }: Name): Name {
  return { namespace, name }
}

function byName({ name, namespace }: Name): readonly string[] {
  return [name, namespace]
}
