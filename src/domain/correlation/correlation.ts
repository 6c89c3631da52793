/**
 * Correlation: how likely it is that a change caused a condition of the same service. Start here.
 * The score is the product of three factors: identity, time and kind.
 * `identity`: how certain it is that the change belongs to this service.
 * `time`: whether the condition began during the change or soon after it. The repeat of an earlier condition does not
 * count.
 * `kind`: what the change did, for example a failed deploy.
 * The time alone never creates a link, because each factor can only lower the score.
 */

import { type Occurrence, occurrencesOf, PAUSE, type RepeatedEvent } from '../event/occurrence.ts'
import { isBegun, isDeploy } from '../event/pipeline.ts'
import { ordered } from '../order.ts'
import { type Placed, reaches } from '../service/environment.ts'
import { namesOfProject, relationOf } from '../service/from-project.ts'
import { imageProjects } from '../service/image.ts'
import { formatSeconds, secondsBetween } from '../text.ts'
import { MINUTE } from '../units.ts'
import { type Change, type Outcome, outcomeOf, type PipelineFacts } from './change.ts'

/** An event that shows the condition. */
export type ConditionEvent = RepeatedEvent & { readonly eventId: string }

/** The service, its images, and its rollouts around the same time. */
export type Nearby = {
  readonly service: Placed
  /** Images pulled by the service's pods. */
  readonly images: readonly { readonly path: string; readonly tag: string | null }[]
  /** When new pod templates appeared. */
  readonly rollouts: readonly { readonly startsAt: number }[]
}

type Band = 'strong' | 'probable' | 'possible'
type Reason = { readonly code: string; readonly text: string }

export type Link = {
  /** A number from 0.2 to 1, rounded to three decimals. */
  readonly score: number
  readonly band: Band
  readonly reasons: readonly Reason[]
  /** The event with which the condition began, and how often the condition was observed near the change. */
  readonly evidence: { readonly eventId: string; readonly count: number }
  /** The time from the start of the change to the start of the condition; negative if the condition began first. */
  readonly lagSeconds: number
}

type Factor = { readonly value: number; readonly reason: Reason | null }

/** Tolerance for clock differences and for deploy jobs that take effect before they are reported. */
export const BEFORE = 2 * MINUTE
/** If a condition begins later than this after a change, other causes are more likely. */
export const AFTER = 30 * MINUTE
/** Events in this period before a change show whether the condition already existed. */
export const RELEVANT_BEFORE = BEFORE + PAUSE
const FADES_OVER = 15 * MINUTE
const BEFORE_START = 0.3
const NEW_REPLICASET = 1.15
const BANDS: readonly (readonly [Band, number])[] = [
  ['strong', 0.7],
  ['probable', 0.4],
  ['possible', 0.2],
]

/**
 * Returns the best link between a change and a condition of its service, or null. A condition that existed before the
 * change is never linked, no matter how often it repeats afterwards.
 */
export function correlate(change: Change, sightings: readonly ConditionEvent[], nearby: Nearby): Link | null {
  const [from, to] = [change.startsAt - BEFORE, change.endsAt + AFTER]
  const periods = occurrencesOf(sightings).filter(({ startsAt }) => startsAt >= from && startsAt <= to)
  const links = periods.map((period) => linkOf(change, period, nearby))
  const best = links.sort((a, b) => b.score - a.score || a.startsAt - b.startsAt)[0]
  const band = best && bandOf(best.score)
  if (!best || !band) return null
  const times = sightings.map(({ at }) => at).filter((at) => at >= from && at <= to)
  return {
    score: best.score,
    band,
    reasons: best.reasons,
    evidence: { eventId: best.eventId, count: Math.max(1, new Set(times).size) },
    lagSeconds: Math.round((best.startsAt - change.startsAt) / 1000),
  }
}

function linkOf(change: Change, { startsAt, first }: Occurrence<ConditionEvent>, nearby: Nearby) {
  const factors = [
    identityOf(change, nearby),
    timeOf(change, startsAt),
    kindOf(change),
    replicaSetOf(change, startsAt, nearby),
  ]
  const product = factors.reduce((score, { value }) => score * value, 1)
  const reasons = factors.flatMap(({ reason }) => reason ?? [])
  return { startsAt, eventId: first.eventId, score: Math.round(Math.min(1, product) * 1000) / 1000, reasons }
}

function identityOf(change: Change, { service, images }: Nearby): Factor {
  if (change.kind === 'rollout') return factor(1, 'same_service', 'the rollout belongs to this service')
  const { project, jobs, rule } = change.facts
  const own = images.filter(({ path }) => imageProjects(path).includes(project.toLowerCase()))
  const tagged = taggedBy(own, change.facts)
  if (!tagged && !reaches(change.facts, service)) return { value: 0, reason: null }
  if (tagged)
    return factor(
      1,
      'image_tag_is_sha',
      `the service uses the image ${tagged.path}:${tagged.tag}, which was built from this commit`,
    )
  if (rule === 'alias') return factor(1, 'alias', `somebody assigned ${project} to this service`)
  if (own[0]) return factor(0.95, 'image_path', `the service uses an image of ${project}`)
  const kin = relationOf(project, jobs, service)
  if (!kin && isFor(change.facts, service))
    return factor(0.9, 'upstream', `${change.facts.upstream}, the project of this service, started the pipeline`)
  if (!kin) return { value: 0, reason: null }
  const [value, code, text] = KINSHIPS[kin]
  return factor(value, code, `the project ${project} ${text}`)
}

const KINSHIPS = {
  environment: [0.9, 'same_environment', 'has the same name as this service and deploys to its environment'],
  namespace: [0.9, 'same_namespace', 'has the namespace and name of this service'],
  slug: [0.8, 'same_name', 'has the same name as this service'],
} as const

/** Returns the band of a score, or null if it is below 0.2. */
export function bandOf(score: number): Band | null {
  return BANDS.find(([, least]) => score >= least)?.[0] ?? null
}

type Image = Nearby['images'][number]
type Commit = Pick<PipelineFacts, 'project' | 'sha'>

/** Returns whether a service runs an image that was built from a pipeline's commit. */
export function runsCommit(images: readonly Image[], of: Commit): boolean {
  const own = images.filter(({ path }) => imageProjects(path).includes(of.project.toLowerCase()))
  return taggedBy(own, of) !== undefined
}

/** Returns whether the deploy jobs of a pipeline name a service or its environment, and have changed it. */
export function deploysTo(facts: PipelineFacts, service: Placed): boolean {
  const isNamed = relationOf(facts.project, facts.jobs, service) === 'environment' || isFor(facts, service)
  return isNamed && reaches(facts, service)
}

/** Names of projects that deploy the services of other projects: `ops/deployer`, `shop/helm-charts`, `gitops/production` */
const DEPLOYER =
  /(?:^|[/_-])(?:deploy(?:er|ments?|s)?|releases?|delivery|gitops|ops|infra(?:structure)?|helm|charts?|manifests?|k8s|kubernetes|environments?|config)(?:$|[/_-])/i

/** Returns whether a project deployed a service for the service's own project, which started the pipeline. */
function isFor({ project, upstream, jobs }: PipelineFacts, service: Placed): boolean {
  if (upstream === undefined || !DEPLOYER.test(project)) return false
  if (!jobs.some((job) => isDeploy(job) && isBegun(job))) return false
  const kin = relationOf(upstream, jobs, service)
  return kin === 'namespace' || kin === 'environment'
}

/** Returns the services that a pipeline deployed by name. `named` returns the services with a name. */
export function deployedServices<Service extends Placed>(
  facts: PipelineFacts,
  named: (name: string) => readonly Service[],
): Service[] {
  const projects = [facts.project, facts.upstream ?? '']
  const names = new Set(projects.flatMap((one) => namesOfProject(one, facts.jobs)).map(({ name }) => name))
  return [...names].flatMap(named).filter((service) => deploysTo(facts, service))
}

function taggedBy(images: readonly Image[], { sha }: Commit): Image | undefined {
  return sha === null ? undefined : images.find(({ tag }) => tag !== null && isOf(tag, sha))
}

/**
 * Returns whether a tag refers to a commit. Such a tag contains at least 7 digits of the hash, for example
 * `main-3f2a9c1`.
 */
function isOf(tag: string, sha: string): boolean {
  const words = tag.toLowerCase().split(/[^0-9a-f]+/)
  return words.some((word) => word.length >= 7 && sha.toLowerCase().startsWith(word))
}

function timeOf({ startsAt, endsAt }: Change, at: number): Factor {
  const text = `began ${lagText(secondsBetween(startsAt, at))}`
  if (at < startsAt) return factor(BEFORE_START, 'before_start', text)
  return at <= endsAt
    ? factor(1, 'during_run', text)
    : factor(Math.exp(-(at - endsAt) / FADES_OVER), 'within_30m', text)
}

/** The codes of the reasons that say when a condition began. */
export const TIME_CODES: ReadonlySet<string> = new Set(['before_start', 'during_run', 'within_30m'])

/**
 * Says when a condition began: `2 min 5 s after the change started`. Every text uses this function. `seconds`: the time
 * from the start of the change to the start of the condition.
 */
export function lagText(seconds: number): string {
  return `${offsetText(seconds, 'as')} the change started`
}

/** Returns `2 min 5 s after`, `40 s before` for negative seconds, or the word for a difference of 0. */
export function offsetText(seconds: number, none: string): string {
  return seconds === 0 ? none : `${formatSeconds(Math.abs(seconds))} ${seconds < 0 ? 'before' : 'after'}`
}

/** Sorts links: confirmed ones first, then by score and by the time between the change and the condition. */
export function rankLinks<L extends Pick<Link, 'score' | 'lagSeconds'> & Judged>(links: readonly L[]): readonly L[] {
  return ordered(links, ({ verdict, score, lagSeconds, change }) => [
    verdict === 'confirmed' ? 0 : 1,
    -score,
    Math.abs(lagSeconds),
    change.ref,
  ])
}

type Judged = { readonly verdict: string | null; readonly change: Pick<Change, 'ref'> }

function kindOf(change: Change): Factor {
  if (change.kind === 'rollout')
    return factor(ROLLOUT_KIND, 'rollout', `${change.isRollback ? 'an earlier' : 'a new'} pod template was rolled out`)
  const outcome = outcomeOf(change.facts)
  const [value, code, text] = KINDS[outcome]
  return factor(value, code, text)
}

/** The factor of each kind of change. docs/decisions.md has this table. */
export const ROLLOUT_KIND = 0.8
export const KINDS: Readonly<Record<Outcome, readonly [number, string, string]>> = {
  'deploy failed': [1, 'deploy_job_failed', 'the deploy job failed'],
  'failed, jobs unknown': [0.7, 'pipeline_failed', 'the pipeline failed; the failed job is unknown'],
  'failed before a deploy': [0.1, 'failed_before_deploy', 'the pipeline failed before it deployed anything'],
  deployed: [0.8, 'deployed', 'the pipeline deployed'],
  deploying: [0.8, 'deploying', 'the deploy had begun, and no end of it is recorded'],
  'success, jobs unknown': [0.56, 'pipeline_succeeded', 'the pipeline succeeded; it is unknown whether it deployed'],
  'success without a deploy': [0.2, 'no_deploy', 'the pipeline deployed nothing'],
  'CI system failure': [0.2, 'ci_trouble', 'the CI system itself failed'],
  'under way': [0.2, 'under_way', 'the pipeline is still running and has deployed nothing yet'],
}

/** A new pod template around the time of a pipeline confirms that the pipeline changed the service. */
function replicaSetOf(change: Change, at: number, { rollouts }: Nearby): Factor {
  const appeared = rollouts.some(({ startsAt }) => startsAt >= change.startsAt - BEFORE && startsAt <= at)
  if (change.kind === 'pipeline' && !appeared) return { value: 1, reason: null }
  // That a new pod template was rolled out is a reason already.
  if (change.kind === 'rollout') return { value: NEW_REPLICASET, reason: null }
  return factor(NEW_REPLICASET, 'new_replicaset', 'a new ReplicaSet appeared before the problem')
}

function factor(value: number, code: string, text: string): Factor {
  return { value, reason: { code, text } }
}
