/** Pipelines: which jobs deploy, which branch counts, and which failures are the CI's own. */

import type { Job, Project } from '../event/event.ts'

/** Words of a job's or stage's name that mean it changes what runs. */
const DEPLOY_WORDS = new Set([
  ...['deploy', 'deploys', 'deployment', 'redeploy', 'release', 'rollout', 'rollback', 'helm', 'helmfile', 'kubectl'],
  ...['production', 'prod', 'promote', 'canary', 'argocd'],
])

/** Words by which a job with such a name only looks, builds or writes about it. */
const HARMLESS_WORDS = new Set([
  ...['lint', 'test', 'tests', 'check', 'validate', 'verify', 'template', 'dry', 'dryrun', 'diff', 'plan', 'scan'],
  ...['build', 'compile', 'package', 'notes', 'docs', 'doc', 'changelog', 'prepare', 'stop', 'undeploy'],
])

const DEFAULT_BRANCHES = new Set(['main', 'master', 'trunk', 'production', 'prod', 'release', 'default'])

/** GitLab's `failure_reason` values that accuse the CI, not the code: lib/gitlab/ci/status and CommitStatus enums. */
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
 * Whether the job changes what runs: with an environment, where it starts one (action `start` or none); else by a word
 * of its name or stage, unless its name has a word like `lint` or `notes`.
 */
export function isDeploy(job: Job): boolean {
  if (job.environment) return job.environment.action === null || ['', 'start'].includes(job.environment.action)
  const name = words(job.name)
  if (name.some((word) => HARMLESS_WORDS.has(word))) return false
  return [...name, ...words(job.stage)].some((word) => DEPLOY_WORDS.has(word))
}

/**
 * Whether `ref` is the branch that counts: the project's default branch where the sender tells it, else one of the usual
 * names or `release/…`, `release-…`.
 */
export function isDefaultBranch(project: Project, ref: string): boolean {
  const branch = ref.replace(/^refs\/heads\//, '')
  if (branch === '') return false
  if (project.defaultBranch) return branch === project.defaultBranch
  return DEFAULT_BRANCHES.has(branch) || /^releases?[/-]/.test(branch)
}

/** Whether a job's failure was the CI's own trouble, and so hardly evidence against the service. */
export function isOwnTrouble(failureReason: string | null): boolean {
  return failureReason !== null && OWN_TROUBLE.has(failureReason)
}

function words(name: string): string[] {
  return name.toLowerCase().split(/[^\p{L}\p{N}]+/u)
}
