/** Signals from CI. A failed deploy has an alert for its environment, another failure for its branch or tag. */

import type { Job, JobDraft, OtherDraft, PipelineDraft } from '../event/event.ts'
import { digest } from '../event/fingerprint.ts'
import { hasOnlyUnstarted, isBegun, isDefaultBranch, isDeploy, isFailedDeploy } from '../event/pipeline.ts'
import { reachesBy } from '../service/environment.ts'
import type { Attribution } from '../service/service.ts'
import type { Severity } from '../severity.ts'
import type { Signal } from './alert.ts'
import { type DraftJudgement, NO_LABELS, oneLine } from './judgement.ts'

export function judgeCi(draft: PipelineDraft | JobDraft | OtherDraft, attribution: Attribution): DraftJudgement {
  if (draft.kind === 'other') {
    const project = draft.project?.path ?? ''
    const text = `${draft.objectKind}${project ? ` of ${project}` : ''}`
    return history({ kind: 'other', name: draft.objectKind, object: project, severity: 'info', text: oneLine(text) })
  }
  if (draft.kind === 'job') return judgeJob(draft, attribution)
  return judgePipeline(draft, attribution)
}

/**
 * A job is evidence for its pipeline. A failed deploy job opens the alert of the failed deploy, because some projects
 * send no pipeline events; the pipeline's own event then repeats this alert.
 */
function judgeJob(draft: JobDraft, attribution: Attribution): DraftJudgement {
  const { job, project, ref, pipelineId } = draft
  const failed = job.status === 'failed' && !job.allowFailure
  const of = pipelineId ? ` of pipeline #${pipelineId}` : ''
  const text = `job ${job.name} (${job.stage})${of} on ${ref}: ${job.status}${failed && job.failureReason ? `, ${job.failureReason}` : ''}`
  const deployed = isDeploy(job) && job.status === 'success'
  const event = {
    kind: deployed ? 'success' : 'job',
    name: project.path,
    object: deployed ? `Job/${ref}:${environmentOf(job, ref)}` : `Ref/${ref}`,
    severity: failed ? 'warning' : 'info',
    text: oneLine(text),
  } as const
  const fingerprint = fingerprintOfJob(project.path, ref, job)
  const isFault = isFailedDeploy(job) && reachesBy(job, project.path, attribution) && !MERGE_REQUEST.test(ref)
  const found = { attribution, severity: 'warning', failed: true, isDeploy: true, fingerprint } as const
  const signal = isFault ? ciSignal({ ...draft, status: job.status }, found) : null
  return { ...history(event), signal, evidenceOf: failed ? fingerprint : null }
}

/** The ref of a pipeline for a merge request. A job's event says nothing else about it. */
const MERGE_REQUEST = /^refs\/merge-requests\//

function history(event: DraftJudgement['event']): DraftJudgement {
  return { event, signal: null, tellsOfEnds: false, evidenceOf: null }
}

/**
 * A failed deploy is identified by project and environment, and ends with a successful deploy to that environment; see
 * `deployedBy`. Any other failure is identified by project, ref and what started the pipeline, and ends with a success
 * of the same kind. Only a pipeline that deploys, or that runs for the default branch or a tag, can open an alert.
 */
function judgePipeline(draft: PipelineDraft, attribution: Attribution): DraftJudgement {
  const { project, ref, jobs, status } = draft
  const deploy = jobs.some((job) => isDeploy(job) && isBegun(job))
  const isOfProject = draft.tag || deploy || isDefaultBranch(project, ref)
  const counts = !draft.mergeRequest && isOfProject && !hasOnlyUnstarted(jobs)
  const failed = status === 'failed'
  // A failed deploy to another environment leaves the service as it was.
  const failedDeploy = jobs.find((job) => isFailedDeploy(job) && reachesBy(job, project.path, attribution))
  const severity: Severity = failed && counts && failedDeploy ? 'warning' : 'info'
  const text = oneLine(`pipeline ${pipelineText(draft)}: ${status}`)
  // A successful pipeline ends the alert of its ref, even if it neither deploys nor runs on the default branch.
  const isSignal = failed ? counts : status === 'success' && !draft.mergeRequest
  const fingerprint = failedDeploy && failed ? fingerprintOfJob(project.path, ref, failedDeploy) : fingerprintOf(draft)
  return {
    event: {
      kind: failed ? 'failure' : status === 'success' ? 'success' : 'pipeline',
      name: project.path,
      object: objectOf(draft),
      severity: failed ? 'warning' : 'info',
      text,
    },
    tellsOfEnds: false,
    evidenceOf: null,
    signal: isSignal
      ? ciSignal(draft, { attribution, severity, failed, isDeploy: failedDeploy !== undefined, fingerprint })
      : null,
  }
}

/** Returns `#4711 on main`, or the ref of a pipeline without a number. */
function pipelineText({ pipelineId, ref }: Pick<PipelineDraft, 'pipelineId' | 'ref'>): string {
  return pipelineId ? `#${pipelineId} on ${ref}` : `on ${ref}`
}

type Found = {
  readonly attribution: Attribution
  readonly severity: Severity
  readonly failed: boolean
  readonly isDeploy: boolean
  readonly fingerprint: string
}

type Told = Pick<PipelineDraft, 'project' | 'ref' | 'sha' | 'pipelineId' | 'status' | 'links' | 'at'>

function ciSignal(draft: Told, found: Found): Signal {
  const { fingerprint } = found
  const labels: Record<string, string> = { project: draft.project.path, ref: draft.ref }
  if (draft.sha) labels.sha = draft.sha
  if (draft.pipelineId) labels.pipeline = draft.pipelineId
  return {
    status: found.failed ? 'firing' : 'resolved',
    source: 'ci',
    name: 'PipelineFailed',
    severity: found.severity,
    said: draft.status,
    // The name of the alert already says that a pipeline failed.
    summary: oneLine(pipelineText(draft)),
    labels,
    annotations: NO_LABELS,
    links: draft.links,
    fingerprint,
    logicalKey: fingerprint,
    failure: null,
    node: null,
    rules: {
      service: found.attribution.rule,
      severity: found.isDeploy ? 'failed deploy' : 'failed pipeline',
      identity: found.isDeploy ? 'environment' : 'ref',
    },
    // The end of the pipeline is used as the start of the alert, so that only a later pipeline can end the alert.
    startsAt: draft.at,
    endsAt: found.failed ? null : draft.at,
    expiry: null,
    at: draft.at,
    sighting: null,
  }
}

/** Kinds of pipelines by GitLab's `source`. A pipeline never ends the alert of another kind; all others are one kind. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['parent_pipeline', 'Child'],
  ['external', 'External'],
  ['external_pull_request_event', 'External'],
  ['schedule', 'Schedule'],
])

/**
 * Returns the object of a pipeline's event: `Ref/main`, or `Ref/main:production` if it deployed to production. A name of
 * a ref has no colon, and a name of an environment has no comma.
 */
function objectOf(draft: PipelineDraft): string {
  const kind = KINDS.get(draft.trigger ?? '') ?? 'Ref'
  const environments = deployedBy(draft).map(({ environment }) => environment)
  return `${kind}/${draft.ref}${environments.length > 0 ? `:${environments.join(',')}` : ''}`
}

/** A successful deploy, and the fingerprint of the failed deploy that it ends. */
type Deployed = { readonly environment: string; readonly fingerprint: string; readonly at: number }

type Deploys = Pick<PipelineDraft, 'project' | 'ref' | 'jobs' | 'at'>

/** Returns the successful deploys among the jobs of a pipeline. */
export function deployedBy({ project, ref, jobs, at }: Deploys): Deployed[] {
  return jobs
    .filter((job) => isDeploy(job) && job.status === 'success')
    .map((job) => ({
      environment: environmentOf(job, ref),
      fingerprint: fingerprintOfJob(project.path, ref, job),
      at: job.finishedAt ?? at,
    }))
}

/** Returns the fingerprints of the alerts that a stored success of a pipeline or of a deploy job ends; see `objectOf`. */
export function endedBy(path: string, object: string): readonly string[] {
  const [subject = '', environments] = object.split(/:(.*)/s)
  const [kind = '', ref = ''] = subject.split(/\/(.*)/s)
  const deploys = environments === undefined ? [] : environments.split(',')
  return [failureFingerprint(path, kind, ref), ...deploys.map((name) => deployFingerprint(path, name))]
}

/** Returns the fingerprints that the alert of a failed pipeline can have, whatever failed in it. */
export function failuresOf(draft: PipelineDraft): readonly string[] {
  const deploys = draft.jobs.filter(isDeploy).map((job) => fingerprintOfJob(draft.project.path, draft.ref, job))
  return [...new Set([fingerprintOf(draft), ...deploys])]
}

function fingerprintOf({ project, ref, trigger }: PipelineDraft): string {
  return failureFingerprint(project.path, KINDS.get(trigger ?? '') ?? 'Ref', ref)
}

function fingerprintOfJob(path: string, ref: string, job: Job): string {
  return isDeploy(job) ? deployFingerprint(path, environmentOf(job, ref)) : failureFingerprint(path, 'Ref', ref)
}

/** Returns the environment of a deploy job. Without one, each ref has an environment of its own. */
function environmentOf({ environment }: Job, ref: string): string {
  return environment === null ? `ref ${ref}` : environment.name.replaceAll(',', ' ')
}

/**
 * The fingerprints do not include the service, because a project can move to another service when its image is seen in
 * a cluster.
 */
function failureFingerprint(path: string, kind: string, ref: string): string {
  return kind === 'Ref' ? digest(path, ref) : digest(path, ref, kind)
}

function deployFingerprint(path: string, environment: string): string {
  return digest(path, 'deploy', environment)
}
