/** Parses GitLab pipeline and job hooks. Also accepts any other hook that GitLab sends to the same URL. */

import type { Commit, Intake, Job, JobDraft, OtherDraft, PipelineDraft, Project } from '../domain/event/event.ts'
import { lastOfEachName } from '../domain/event/pipeline.ts'
import { cutText } from '../domain/text.ts'
import {
  at,
  type Fields,
  fieldsOf,
  instantAt,
  isTrue,
  linksOf,
  numberOf,
  optionalText,
  quoted,
  type Receipt,
  requireText,
  unusable,
} from './fields.ts'
import { readItems } from './items.ts'
import { redact } from './redact.ts'

/** No GitLab plan allows this many jobs in a pipeline. */
const MAX_JOBS = 5000
const MAX_TITLE = 200

/** No pipeline runs for longer than a year. In seconds. */
const LONGEST_S = 366 * 86_400

/**
 * The final statuses of a pipeline or job. With any other status, `finished_at` may be left over from an earlier run.
 */
const FINAL = new Set(['success', 'failed', 'canceled', 'skipped'])

/** The other statuses of a pipeline. Source: GitLab's API documentation, "List project pipelines". */
const UNDER_WAY = new Set(
  'created waiting_for_resource waiting_for_callback preparing pending running canceling manual scheduled'.split(' '),
)

/**
 * Parses a GitLab hook according to its `object_kind`: `pipeline`, `build` (a job), or another kind. Other kinds, and
 * job hooks without a status or a project, become an event that has no effect. A pipeline must have the strings
 * `object_attributes.status` and `project.path_with_namespace`. Times later than `receivedAt` (ms UTC) are replaced by
 * `receivedAt`.
 */
export function readCi(body: unknown, receivedAt: number): Intake {
  return { ...readItems([body], (hook, warn) => readHook(hook, { receivedAt, warn })), group: null }
}

function readHook(hook: Fields, receipt: Receipt): PipelineDraft | JobDraft | OtherDraft {
  const objectKind = requireText(hook, ['object_kind'])
  if (objectKind === '') throw unusable('object_kind: expected string, such as pipeline; send a GitLab webhook')
  if (objectKind === 'pipeline') return readPipeline(hook, receipt)
  const project = projectOf(hook)
  const status = optionalText(hook, 'build_status')
  if (objectKind === 'build' && project && status) return readJobHook(hook, project, status, receipt)
  receipt.warn(
    objectKind === 'build'
      ? 'build_status: the job has no status or no project, so the event has no effect'
      : `object_kind: ${quoted(objectKind)} events have no effect; select Pipeline events and Job events in GitLab`,
  )
  return {
    source: 'ci',
    kind: 'other',
    objectKind,
    project,
    at: receipt.receivedAt,
    links: {},
    payload: JSON.stringify(redact(hook)),
  }
}

function readPipeline(hook: Fields, receipt: Receipt): PipelineDraft {
  const attributes = requireFields(hook, 'object_attributes')
  requireFields(hook, 'project')
  const status = requireWord(hook, 'object_attributes.status')
  if (!FINAL.has(status) && !UNDER_WAY.has(status)) {
    receipt.warn(
      `object_attributes.status: ${quoted(status)} is not a status that incmon knows, so the pipeline counts as running`,
    )
  }
  const project = projectOf(hook)
  if (!project) throw unusable('project.path_with_namespace: expected group/project')
  const pipelineId = idOf(attributes, 'object_attributes.id', 'id', receipt)
  const createdAt = instantAt(attributes, receipt, 'created_at')
  const finishedAt = notBefore(createdAt, instantAt(attributes, receipt, 'finished_at'))
  const jobs = readJobs(hook.builds, receipt)
  const duration = numberOf(attributes.duration)
  return {
    source: 'ci',
    kind: 'pipeline',
    at: (FINAL.has(status) ? finishedAt : null) ?? latest(createdAt, jobs) ?? receipt.receivedAt,
    project,
    pipelineId,
    ref: optionalText(attributes, 'ref') ?? '',
    tag: isTrue(attributes.tag),
    sha: optionalText(attributes, 'sha') ?? optionalText(hook, 'commit.id'),
    status,
    createdAt,
    finishedAt,
    duration: duration !== null && duration >= 0 && duration <= LONGEST_S ? duration : null,
    trigger: optionalText(attributes, 'source'),
    mergeRequest: fieldsOf(hook.merge_request) !== null || attributes.source === 'merge_request_event',
    commit: commitOf(hook),
    jobs,
    ...upstreamOf(hook, project),
    links: linksOf({
      pipeline: attributes.url ?? pageOf(hook, 'pipelines', pipelineId),
      commit: at(hook, 'commit.url'),
    }),
    payload: JSON.stringify(redact(hook)),
  }
}

function readJobHook(hook: Fields, project: Project, status: string, receipt: Receipt): JobDraft {
  const createdAt = instantAt(hook, receipt, 'build_created_at', 'build_created_at_iso')
  // In a job hook, `commit.id` is the pipeline's ID. The commit's own ID is in `sha`.
  const path = optionalText(hook, 'pipeline_id') === null ? 'commit.id' : 'pipeline_id'
  const pipelineId = idOf(hook, path, path, receipt)
  const job = readJob(hook, receipt, 'build_', status)
  return {
    source: 'ci',
    kind: 'job',
    at: (FINAL.has(status) ? job.finishedAt : null) ?? job.startedAt ?? createdAt ?? receipt.receivedAt,
    project,
    pipelineId,
    ref: optionalText(hook, 'ref') ?? '',
    tag: isTrue(hook.tag),
    sha: optionalText(hook, 'sha', 'commit.sha'),
    commit: commitOf(hook),
    job,
    ...upstreamOf(hook, project),
    links: linksOf({
      pipeline: pageOf(hook, 'pipelines', pipelineId),
      job: pageOf(hook, 'jobs', job.id),
      commit: at(hook, 'commit.url'),
    }),
    payload: JSON.stringify(redact(hook)),
  }
}

/** Returns the number by which GitLab knows a pipeline. `shown`: the path in the body, for the warning. */
function idOf(fields: Fields, shown: string, path: string, { warn }: Receipt): string | null {
  const id = optionalText(fields, path)
  if (id === null || /^\d+$/.test(id)) return id
  warn(`${shown}: expected the number of the pipeline, not ${quoted(id)}, so it is left out`)
  return null
}

/** Returns the first line of the commit message, and the author's name. Only recent GitLab versions send `title`. */
function commitOf(hook: Fields): Commit | null {
  const [title = ''] = (optionalText(hook, 'commit.title', 'commit.message') ?? '').trim().split(/[\r\n]/)
  if (title === '') return null
  return {
    title: cutText(title, MAX_TITLE).toWellFormed(),
    author: optionalText(hook, 'commit.author.name', 'commit.author_name'),
  }
}

function requireFields(hook: Fields, path: string): Fields {
  const fields = fieldsOf(at(hook, path))
  if (!fields) throw unusable(`${path}: expected object`)
  return fields
}

function requireWord(hook: Fields, path: string): string {
  const word = requireText(hook, [path])
  if (word === '') throw unusable(`${path}: expected string`)
  return word
}

/**
 * Returns the project. Job hooks from older GitLab versions have no `project`, and GitLab 8 had no path in it, so the
 * path is taken from a URL.
 */
function projectOf(hook: Fields): Project | null {
  const path = trimSlashes(optionalText(hook, 'project.path_with_namespace') ?? pathOfRepository(hook))
  if (path === '') return null
  return {
    path,
    name: optionalText(hook, 'project.name', 'repository.name') ?? path.slice(path.lastIndexOf('/') + 1),
    defaultBranch: optionalText(hook, 'project.default_branch'),
  }
}

/** Returns the other project whose pipeline started this one. A child pipeline has the same project. */
function upstreamOf(hook: Fields, { path }: Project): { upstream?: string } {
  const upstream = trimSlashes(optionalText(hook, 'source_pipeline.project.path_with_namespace') ?? '')
  return upstream === '' || upstream === path ? {} : { upstream }
}

const ADDRESSES = ['project.web_url', 'project.git_http_url', 'repository.homepage', 'repository.git_http_url']

function pathOfRepository(hook: Fields): string {
  const address = optionalText(hook, ...ADDRESSES) ?? ''
  const path = /^https?:\/\/[^/?#]+([^?#]*)/i.exec(address)?.[1] ?? ''
  return path.replace(/\.git$/, '')
}

function trimSlashes(text: string): string {
  return text.split('/').filter(Boolean).join('/')
}

function readJobs(value: unknown, receipt: Receipt): Job[] {
  if (!Array.isArray(value)) return []
  const jobs = value.slice(0, MAX_JOBS).flatMap((item) => {
    const build = fieldsOf(item)
    return build ? [readJob(build, receipt, '', optionalText(build, 'status') ?? '')] : []
  })
  return lastOfEachName(jobs)
}

/** Parses a job from a pipeline's `builds`. With the prefix `build_`, parses the fields of a job hook. */
function readJob(build: Fields, receipt: Receipt, prefix: '' | 'build_', status: string): Job {
  const startedAt = instantAt(build, receipt, `${prefix}started_at`, `${prefix}started_at_iso`)
  const finishedAt = instantAt(build, receipt, `${prefix}finished_at`, `${prefix}finished_at_iso`)
  const environment = optionalText(build, 'environment.name', 'environment')
  return {
    id: optionalText(build, `${prefix}id`),
    name: optionalText(build, `${prefix}name`) ?? '',
    stage: optionalText(build, `${prefix}stage`) ?? '',
    status,
    allowFailure: isTrue(build[`${prefix}allow_failure`]),
    // GitLab sets a failure reason even for jobs that succeeded or never ran.
    failureReason: status === 'failed' ? optionalText(build, `${prefix}failure_reason`) : null,
    startedAt,
    finishedAt: notBefore(startedAt, finishedAt),
    environment: environment === null ? null : environmentOf(environment, build),
  }
}

function environmentOf(name: string, build: Fields): Job['environment'] {
  const tier = optionalText(build, 'environment.deployment_tier')
  return { name, action: optionalText(build, 'environment.action'), ...(tier === null ? {} : { tier }) }
}

/** Returns the latest time found in a running pipeline, because GitLab does not send the time of the status change. */
function latest(createdAt: number | null, jobs: readonly Job[]): number | null {
  const times = jobs.flatMap(({ startedAt, finishedAt }) => [startedAt ?? 0, finishedAt ?? 0])
  return Math.max(createdAt ?? 0, ...times) || null
}

function notBefore(start: number | null, end: number | null): number | null {
  return start !== null && end !== null ? Math.max(start, end) : end
}

function pageOf(hook: Fields, pages: 'pipelines' | 'jobs', id: string | null): string | null {
  const home = optionalText(hook, 'project.web_url', 'repository.homepage')?.split(/[?#]/, 1)[0]?.replace(/\/$/, '')
  return home && id ? `${home}/-/${pages}/${encodeURIComponent(id.toWellFormed())}` : null
}
