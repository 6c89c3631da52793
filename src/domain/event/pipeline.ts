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

// GitLab's `failure_reason` values. Source: lib/gitlab/ci/status/build/failed.rb, and commit_status.rb in
// app/models/concerns/enums/ci, which also says which newer values replace `stuck_or_timeout_failure`.

/** Failures of the CI system. */
const OWN_TROUBLE = new Set([
  ...['runner_system_failure', 'runner_unsupported', 'no_matching_runner', 'runner_configuration_error'],
  ...['runner_external_dependency_failure', 'runner_interrupted', 'job_router_failure', 'scheduler_failure'],
  ...['stuck_or_timeout_failure', 'stuck_pending_with_matching_runners', 'stuck_pending_no_matching_runners'],
  ...['no_updates_running', 'no_updates_canceling', 'ci_quota_exceeded', 'api_failure', 'data_integrity_failure'],
])

/** Failures of a job that GitLab did not start: a newer deployment was first, or nobody approved, or nobody may run it. */
const NOT_STARTED = new Set([
  ...['failed_outdated_deployment_job', 'forward_deployment_failure', 'deployment_rejected', 'stale_schedule'],
  ...['protected_environment_failure', 'environment_creation_failure', 'missing_dependency_failure'],
  ...['unmet_prerequisites', 'archived_failure', 'user_blocked', 'project_deleted', 'builds_disabled'],
  ...['ip_restriction_failure', 'secrets_provider_not_found', 'pipeline_loop_detected', 'duo_workflow_not_allowed'],
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

/** Returns whether a job was started, and so may have changed something. A job can also wait in vain for a runner. */
export function isBegun({ startedAt, status, failureReason }: Job): boolean {
  if (failureReason !== null && NOT_STARTED.has(failureReason)) return false
  if (startedAt === null && isOwnTrouble(failureReason)) return false
  return startedAt !== null || ['running', 'success', 'failed', 'canceling'].includes(status)
}

/** Returns whether a job is a deploy that was started and failed. */
export function isFailedDeploy(job: Job): boolean {
  return isDeploy(job) && isBegun(job) && isFailed(job)
}

/** Returns whether a pipeline failed only because jobs were not started. */
export function hasOnlyUnstarted(jobs: readonly Job[]): boolean {
  const failed = jobs.filter(isFailed)
  return failed.length > 0 && !failed.some(isBegun)
}

function isFailed({ status, allowFailure }: Job): boolean {
  return status === 'failed' && !allowFailure
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
