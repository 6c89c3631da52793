/**
 * Changes that can cause problems: a pipeline, combined from all of its notifications, or a new pod template in a
 * Deployment.
 */

import type { Job, JobDraft, PipelineDraft } from '../event/event.ts'
import { isBegun, isDeploy, isFailedDeploy, isLater, isOwnTrouble } from '../event/pipeline.ts'
import { earliest } from '../instant.ts'
import { type Placed, reachesBy } from '../service/environment.ts'
import { DAY } from '../units.ts'

/** Times in ms UTC. `service`: the UUID of the changed service. */
export type Change = PipelineChange | RolloutChange

type Common = {
  /** `group/project#31` or `shop/cart@5d4f8c7b9`. */
  readonly ref: string
  readonly service: string
  /** The UUID of the newest event about the change. */
  readonly eventId: string
  readonly startsAt: number
  /** When the change ended, or the latest known time if the pipeline is still running. */
  readonly endsAt: number
}

export type RolloutChange = Common & {
  readonly kind: 'rollout'
  /** The hash of the ReplicaSet. A new hash means a new pod template. */
  readonly hash: string
  /** The images that a watched cluster shows, and who changed them: `app: cart:1.0 → cart:1.1; by kubectl-set`. */
  readonly template?: string
  /** What happened instead of a new pod template: nothing serves any more. */
  readonly emptied?: Emptied
  /** Whether the Deployment had this pod template before. */
  readonly isRollback?: boolean
}
export type Emptied = 'scaled to zero' | 'endpoints removed'

export type PipelineChange = Common & { readonly kind: 'pipeline'; readonly facts: PipelineFacts }

/** The combined facts from a pipeline's notifications. The order of arrival does not matter. */
export type PipelineFacts = Pick<
  PipelineDraft,
  'sha' | 'createdAt' | 'finishedAt' | 'mergeRequest' | 'commit' | 'jobs' | 'upstream'
> & {
  readonly project: string
  /** The branch or tag. */
  readonly branch: string
  readonly status: string
  /** When the pipeline reached this status. */
  readonly statusAt: number
  /** The pipeline's page in GitLab; null if the sender did not include it. */
  readonly url: string | null
  /** The code of the rule that matched the project to the service; see `ruleCode`. */
  readonly rule: string
}

export type Outcome =
  | 'deploy failed'
  | 'failed, jobs unknown'
  | 'failed before a deploy'
  | 'deployed'
  | 'deploying'
  | 'success, jobs unknown'
  | 'success without a deploy'
  | 'CI system failure'
  | 'under way'

/** Adds a notification to its pipeline. The order of arrival does not matter. */
export function absorbNotification(
  before: PipelineFacts | null,
  draft: PipelineDraft | JobDraft,
  rule: string,
): PipelineFacts {
  const told = factsOf(draft, rule)
  if (!before) return told
  const newest = isNewer(told, before) ? told : before
  return {
    ...newest,
    rule,
    sha: newest.sha ?? before.sha ?? told.sha,
    createdAt: earliest([before.createdAt, told.createdAt]),
    finishedAt: newest.finishedAt ?? before.finishedAt ?? told.finishedAt,
    mergeRequest: before.mergeRequest || told.mergeRequest,
    commit: newest.commit ?? before.commit ?? told.commit,
    url: newest.url ?? before.url ?? told.url,
    jobs: mergeJobs(before.jobs, told.jobs),
    ...startedBy(before.upstream ?? told.upstream),
  }
}

/** Older versions of GitLab do not name the other project in their notifications about jobs. */
function startedBy(upstream: string | undefined): Pick<PipelineFacts, 'upstream'> {
  return upstream === undefined ? {} : { upstream }
}

function factsOf(draft: PipelineDraft | JobDraft, rule: string): PipelineFacts {
  // A job proves only that its pipeline was running.
  const { status, createdAt, duration, finishedAt, mergeRequest, jobs } =
    draft.kind === 'pipeline' ? draft : { ...RUNNING, jobs: [draft.job] }
  return {
    project: draft.project.path,
    branch: draft.ref,
    sha: draft.sha,
    status,
    statusAt: draft.at,
    createdAt: createdAt ?? (duration === null ? null : draft.at - Math.round(duration * 1000)),
    // While a retried pipeline is running, its notifications still contain the end of the first attempt.
    finishedAt: ENDED.has(status) ? finishedAt : null,
    mergeRequest,
    commit: draft.commit,
    url: draft.links.pipeline ?? null,
    jobs,
    ...startedBy(draft.upstream),
    rule,
  }
}

const RUNNING = { status: 'running', createdAt: null, duration: null, finishedAt: null, mergeRequest: false } as const

const ENDED = new Set(['success', 'failed', 'canceled', 'skipped'])

/**
 * Returns whether `one` is newer than `other`. A final status is newer than any other status. If both statuses are
 * final or neither is, the status with the later time is newer, because a retry ends later.
 */
function isNewer(one: PipelineFacts, other: PipelineFacts): boolean {
  if (ENDED.has(one.status) !== ENDED.has(other.status)) return ENDED.has(one.status)
  if (one.statusAt !== other.statusAt) return one.statusAt > other.statusAt
  return one.status > other.status
}

/** Merges jobs by name. Keeps the last attempt of each job, in its later state. */
function mergeJobs(known: readonly Job[], told: readonly Job[]): readonly Job[] {
  const jobs = new Map<string, Job>()
  for (const job of [...known, ...told]) {
    const key = job.name === '' ? (job.id ?? '') : job.name
    const before = jobs.get(key)
    const isNew = !before || (job.id === before.id ? isFurther(job, before) : isLater(job, before))
    if (isNew) jobs.set(key, job)
  }
  return [...jobs.values()].sort((a, b) => ((a.id ?? a.name) < (b.id ?? b.name) ? -1 : 1))
}

function isFurther(job: Job, before: Job): boolean {
  const progress = (one: Job) => [one.finishedAt ?? 0, one.startedAt ?? 0, ENDED.has(one.status) ? 1 : 0]
  const [a, b] = [progress(job), progress(before)]
  const difference = a.map((value, index) => value - (b[index] ?? 0)).find((value) => value !== 0)
  return difference === undefined ? job.status > before.status : difference > 0
}

/**
 * Returns the effect of a pipeline on the running system. The jobs are unknown if the sender did not report any jobs. A
 * deploy that never started (skipped, manual, created) changed nothing.
 */
export function outcomeOf(facts: PipelineFacts): Outcome {
  const failed = facts.jobs.filter((job) => job.status === 'failed' && !job.allowFailure)
  const deploys = facts.jobs.filter((job) => isDeploy(job) && isBegun(job))
  if (facts.status === 'failed') {
    if (facts.jobs.length === 0) return 'failed, jobs unknown'
    if (failed.length > 0 && failed.every((job) => isOwnTrouble(job.failureReason))) return 'CI system failure'
    if (failed.some(isFailedDeploy)) return 'deploy failed'
    return deploys.length > 0 ? 'deployed' : 'failed before a deploy'
  }
  if (deploys.some(isFailedDeploy)) return 'deploy failed'
  if (isDeploying(facts)) return 'deploying'
  if (deploys.length > 0) return 'deployed'
  if (facts.status === 'success' && facts.jobs.length === 0 && !facts.mergeRequest) return 'success, jobs unknown'
  return ENDED.has(facts.status) ? 'success without a deploy' : 'under way'
}

/** Returns whether a deploy job of the pipeline is running. */
export function isDeploying({ status, jobs }: PipelineFacts): boolean {
  return !ENDED.has(status) && jobs.some((job) => isDeploy(job) && job.status === 'running')
}

/**
 * Returns the period in which a pipeline changed the system, limited to one day. If the deploy jobs are known, returns
 * the period of those that can have changed the service, because a manual gate can keep a pipeline waiting for days.
 * Otherwise returns the period from the pipeline's creation to its end.
 */
export function intervalOf(
  facts: PipelineFacts,
  service: Placed,
): { readonly startsAt: number; readonly endsAt: number } {
  const begun = facts.jobs.filter((job) => isDeploy(job) && isBegun(job))
  const own = begun.filter((job) => reachesBy(job, facts.project, service))
  const deploys = own.length > 0 ? own : begun
  const starts = deploys.flatMap(({ startedAt }) => startedAt ?? [])
  const ends = deploys.flatMap(({ finishedAt, startedAt }) => finishedAt ?? startedAt ?? [])
  const endsAt = ends.length > 0 ? Math.max(...ends) : (facts.finishedAt ?? facts.statusAt)
  const startsAt = starts.length > 0 ? Math.min(...starts) : (facts.createdAt ?? facts.statusAt)
  return { startsAt: Math.min(Math.max(startsAt, endsAt - DAY), endsAt), endsAt }
}

export type LivePipeline = PipelineChange & { readonly serviceId: number }
