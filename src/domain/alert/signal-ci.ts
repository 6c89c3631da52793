/** Signals from CI. A pipeline that deploys has an alert for its branch or tag. A job is evidence for its pipeline. */

import { isDefaultBranch, isDeploy } from '../correlation/pipeline.ts'
import type { JobDraft, OtherDraft, PipelineDraft } from '../event/event.ts'
import { digest } from '../event/fingerprint.ts'
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
  if (draft.kind === 'job') return judgeJob(draft)
  return judgePipeline(draft, attribution)
}

/** A job is evidence for its pipeline and never opens an alert. */
function judgeJob({ job, project, ref, pipelineId }: JobDraft): DraftJudgement {
  const failed = job.status === 'failed' && !job.allowFailure
  const of = pipelineId ? ` of pipeline #${pipelineId}` : ''
  const text = `job ${job.name} (${job.stage})${of} on ${ref}: ${job.status}${failed && job.failureReason ? `, ${job.failureReason}` : ''}`
  const event = {
    kind: 'job',
    name: project.path,
    object: `Ref/${ref}`,
    severity: failed ? 'warning' : 'info',
    text: oneLine(text),
  } as const
  return { ...history(event), evidenceOf: failed ? pipelineFingerprint(project.path, ref) : null }
}

function history(event: DraftJudgement['event']): DraftJudgement {
  return { event, signal: null, tellsOfEnds: false, evidenceOf: null }
}

/**
 * The alert is identified by project and ref. Only a pipeline that deploys, or that runs for the default branch or a
 * tag, can open an alert.
 */
function judgePipeline(draft: PipelineDraft, attribution: Attribution): DraftJudgement {
  const deploy = draft.jobs.some((job) => isDeploy(job) && job.status !== 'skipped' && job.status !== 'manual')
  const counts = !draft.mergeRequest && (draft.tag || deploy || isDefaultBranch(draft.project, draft.ref))
  const failed = draft.status === 'failed'
  const failedDeploy = draft.jobs.some((job) => isDeploy(job) && job.status === 'failed' && !job.allowFailure)
  const severity: Severity = failed && counts && failedDeploy ? 'warning' : 'info'
  const text = oneLine(`pipeline ${pipelineText(draft)}: ${draft.status}`)
  // A successful pipeline ends the alert of its ref, even if it neither deploys nor runs on the default branch.
  const isSignal = failed ? counts : draft.status === 'success' && !draft.mergeRequest
  return {
    event: {
      kind: failed ? 'failure' : draft.status === 'success' ? 'success' : 'pipeline',
      name: draft.project.path,
      object: `Ref/${draft.ref}`,
      severity: failed ? 'warning' : 'info',
      text,
    },
    tellsOfEnds: false,
    evidenceOf: null,
    signal: isSignal ? pipelineSignal(draft, { attribution, severity, failed, failedDeploy }) : null,
  }
}

/** Returns `#4711 on main`, or the ref of a pipeline without a number. */
function pipelineText({ pipelineId, ref }: PipelineDraft): string {
  return pipelineId ? `#${pipelineId} on ${ref}` : `on ${ref}`
}

function pipelineSignal(
  draft: PipelineDraft,
  found: { attribution: Attribution; severity: Severity; failed: boolean; failedDeploy: boolean },
): Signal {
  const fingerprint = pipelineFingerprint(draft.project.path, draft.ref)
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
      severity: found.failedDeploy ? 'failed deploy' : 'failed pipeline',
      identity: 'project and ref',
    },
    // The end of the pipeline is used as the start of the alert, so that only a later pipeline can end the alert.
    startsAt: draft.at,
    endsAt: found.failed ? null : draft.at,
    expiresAt: null,
    at: draft.at,
    sighting: null,
  }
}

/**
 * The fingerprint does not include the service, because a project can move to another service when its image is seen in
 * a cluster.
 */
export function pipelineFingerprint(path: string, ref: string): string {
  return digest(path, ref)
}
