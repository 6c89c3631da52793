/**
 * The environments of deploys and services. A deploy changes the services of its own environment, and nothing else. Add
 * a row to `TIERS` if an environment is not recognized.
 */
import type { Job, Labels } from '../event/event.ts'
import { isBegun, isDeploy } from '../event/pipeline.ts'
import { cacheByName } from '../memoize.ts'
import type { Name } from './service.ts'

type Tier = 'production' | 'staging' | 'testing' | 'development'

/**
 * Words in the name of an environment, a namespace or a cluster. The first row with a word wins. Source: GitLab's
 * `deployment_tier` and its guesses in app/models/environment.rb; `review` is GitLab's name for review apps.
 */
const TIERS: readonly (readonly [Tier, string])[] = [
  ['development', 'review preview previews dev devel development sandbox mr pr ephemeral'],
  ['testing', 'test tests testing tst qa uat acceptance integration int e2e'],
  ['staging', 'staging stage stg preprod preproduction nonprod demo'],
  ['production', 'production prod prd live'],
]

const TIER_OF_WORD: ReadonlyMap<string, Tier> = new Map(
  TIERS.flatMap(([tier, words]) => words.split(' ').map((word) => [word, tier] as const)),
)

/** Two words that mean another tier together than the second one alone. */
const JOINED: readonly (readonly [RegExp, string])[] = [[/\b(?:pre|non|not)-prod(?:uction)?\b/, 'staging']]

/** Returns the tier that a name indicates, or null. Of several words, the first row of the table wins. */
export const tierOf = cacheByName((name): Tier | null => {
  const slug = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-')
  const plain = JOINED.reduce((text, [pattern, word]) => text.replace(pattern, word), slug)
  const found = new Set(plain.split('-').flatMap((word) => TIER_OF_WORD.get(word.replace(/\d+$/, '')) ?? []))
  return TIERS.find(([tier]) => found.has(tier))?.[0] ?? null
})

const ENVIRONMENT_LABEL = /^(?:deployment[._])?env(?:ironment)?(?:[._]name)?$/i

/** Returns the environment that a label such as `env` names, or '' if none has a known word. */
export function environmentIn(labels: Labels): string {
  const isNamed = ([name, value]: readonly [string, string]) => ENVIRONMENT_LABEL.test(name) && tierOf(value) !== null
  return Object.entries(labels).find(isNamed)?.[1] ?? ''
}

/** A service as far as its environment is concerned. */
export type Placed = Name & { readonly cluster?: string }

/** Returns the tier of a service, from its namespace, else from its cluster; null if neither names one. */
function tierOfService({ namespace, cluster = '' }: Placed): Tier | null {
  return tierOf(namespace) ?? tierOf(cluster)
}

/** Returns whether a service without another sign serves customers. */
function isProductive(tier: Tier | null): boolean {
  return tier === null || tier === 'production'
}

/**
 * Returns the tier of a deploy job: as GitLab says, else from the environment's name, else from the names of the job
 * and the stage.
 */
export function tierOfJob({ environment, name, stage }: Job): Tier | null {
  if (!environment) return tierOf(name) ?? tierOf(stage)
  const said = environment.tier ?? null
  const known = TIERS.find(([tier]) => tier === said)?.[0]
  return known ?? tierOf(environment.name)
}

type Deploys = { readonly project: string; readonly jobs: readonly Job[] }

/**
 * Returns whether a pipeline can have changed a service, given the environments of its deploy jobs. Returns true if no
 * job says anything about an environment.
 */
export function reaches({ project, jobs }: Deploys, service: Placed): boolean {
  const deploys = jobs.filter(isDeploy)
  if (deploys.length === 0) return true
  const begun = deploys.filter(isBegun)
  const told = (begun.length > 0 ? begun : deploys).filter((job) => reachesBy(job, project, service))
  const isLeftOut = (job: Job) => !isBegun(job) && told.every((one) => isForAnother(one, job, service))
  return told.length > 0 && !deploys.some(isLeftOut)
}

/** Returns whether `own` deploys a service of a monorepo and `job` does the same for another one, as their names say. */
function isForAnother(job: Job, own: Job, { name }: Placed): boolean {
  const named = ({ environment, ...one }: Job) => [environment?.name ?? '', one.name].map(slugOf)
  const others = named(job)
  return named(own).some((text, index) => {
    const [before, after, ...more] = `-${text}-`.split(`-${slugOf(name)}-`)
    const other = `-${others[index]}-`
    if (before === undefined || after === undefined || more.length > 0) return false
    const isAlike = other.startsWith(`${before}-`) && other.endsWith(`-${after}`)
    const middle = other.slice(before.length + 1, other.length - after.length - 1)
    return isAlike && middle !== slugOf(name) && /\w/.test(middle) && tierOf(middle) === null
  })
}

/** Returns whether a deploy job can have changed a service. */
export function reachesBy(job: Job, project: string, service: Placed): boolean {
  const [from, to] = [tierOfJob(job), tierOfService(service)]
  if (from === to || (isProductive(from) && isProductive(to))) return true
  // A namespace such as `dev-tools` is the group of the project and not an environment.
  const isOwn = project.toLowerCase().split('/').includes(service.namespace.toLowerCase())
  if (isOwn && isProductive(from) && isProductive(tierOf(service.cluster ?? ''))) return true
  return job.environment !== null && slugOf(job.environment.name) === slugOf(service.namespace)
}

/** Returns whether two services are in one environment, so that a problem of one can have a cause in the other. */
export function shareEnvironment(one: Placed, other: Placed): boolean {
  const [a, b] = [tierOfService(one), tierOfService(other)]
  return a === b || (isProductive(a) && isProductive(b))
}

function slugOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-')
}
