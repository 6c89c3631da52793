/** Rules for pipelines: which jobs deploy, what the default branch is, and which failures are due to the CI system. */

import type { Job, Project } from './event.ts'

/** Words in the name of a job or stage that indicate a deploy. */
const DEPLOY_WORDS = new Set([
  ...['deploy', 'deploys', 'deployment', 'redeploy', 'release', 'rollout', 'rollback', 'helm', 'helmfile', 'kubectl'],
  ...['production', 'prod', 'promote', 'canary', 'argocd'],
])

/** Words that indicate that a job only checks, builds or documents a deploy. */
const HARMLESS_WORDS = new Set([
  ...['lint', 'test', 'tests', 'check', 'validate', 'verify', 'template', 'dry', 'dryrun', 'diff', 'plan', 'scan'],
  ...['build', 'compile', 'package', 'notes', 'docs', 'doc', 'changelog', 'prepare', 'stop', 'undeploy'],
])

const DEFAULT_BRANCHES = new Set(['main', 'master', 'trunk', 'production', 'prod', 'release', 'default'])

/**
 * GitLab's `failure_reason` values for failures of the CI system. Source: `lib/gitlab/ci/status` and the CommitStatus
 * enums.
 */
const OWN_TROUBLE = new Set([
  'runner_system_failure',
  'stuck_or_timeout_failure',
  'runner_unsupported',
  'no_matching_runner',
  'scheduler_failure',
  'ci_quota_exceeded',
  'api_failure',
  'data_integrity_failure',
])

/**
 * Returns whether a job deploys. A job deploys if it starts an environment (action `start` or none). A job also deploys
 * if its name or stage contains a deploy word, unless its name contains a word such as `lint` or `notes`.
 */
export function isDeploy(job: Job): boolean {
  if (job.environment) return job.environment.action === null || ['', 'start'].includes(job.environment.action)
  const name = words(job.name)
  if (name.some((word) => HARMLESS_WORDS.has(word))) return false
  return [...name, ...words(job.stage)].some((word) => DEPLOY_WORDS.has(word))
}

/**
 * Returns whether `ref` is the default branch. If the sender does not name the default branch, the usual names,
 * `release/…` and `release-…` are accepted.
 */
export function isDefaultBranch(project: Project, ref: string): boolean {
  const branch = ref.replace(/^refs\/heads\//, '')
  if (branch === '') return false
  if (project.defaultBranch) return branch === project.defaultBranch
  return DEFAULT_BRANCHES.has(branch) || /^releases?[/-]/.test(branch)
}

/** Returns whether a job failed because of the CI system, which says little about the service. */
export function isOwnTrouble(failureReason: string | null): boolean {
  return failureReason !== null && OWN_TROUBLE.has(failureReason)
}

function words(name: string): string[] {
  return name.toLowerCase().split(/[^\p{L}\p{N}]+/u)
}

/**
 * Returns the last job of each name. GitLab keeps the failed attempts of a job that was retried, and only the last
 * attempt counts. A later attempt has a higher id; without ids, the later position counts.
 */
export function lastOfEachName<J extends Job>(jobs: readonly J[]): J[] {
  const last = new Map<string, J>()
  for (const job of jobs) {
    const known = last.get(job.name)
    if (!known || isLater(job, known)) last.set(job.name, job)
  }
  return jobs.filter((job) => job.name === '' || last.get(job.name) === job)
}

/** Returns whether a job is a later attempt than another job of the same name. */
export function isLater(job: Job, other: Job): boolean {
  const [a, b] = [Number(job.id ?? Number.NaN), Number(other.id ?? Number.NaN)]
  return Number.isNaN(a) || Number.isNaN(b) || a >= b
}
