/** Signals: what one draft says of its service: the event to keep, and the condition it shows or ends. */
import type { Signal } from './alert.ts'
import type { AlertDraft, ClusterDraft, Draft, JobDraft, Labels, OtherDraft, PipelineDraft } from './event.ts'
import { digest } from './fingerprint.ts'
import { isDefaultBranch, isDeploy } from './pipeline.ts'
import { ends, failureOfAlert, isHelp, judgeReason, plainMessage } from './reason.ts'
import { type Attribution, nodeOf, UNATTRIBUTED } from './service.ts'
import { type Severity, severityOf } from './severity.ts'
import { logicalLabels } from './volatile.ts'

export type Judgement = {
  /** What is kept of the draft besides its payload. */
  readonly event: {
    readonly kind: EventKind
    readonly name: string
    /** `Pod/cart-1`, `Ref/main`; '' where it names none. */
    readonly object: string
    readonly severity: Severity
    readonly text: string
  }
  /** The condition that it shows, or reports to be over; null for what is merely history. */
  readonly signal: Signal | null
  /** Whether it may end, or account for, conditions of its service that were seen before. */
  readonly tellsOfEnds: boolean
  /** The fingerprint of the condition that it is evidence of without changing it: a job's pipeline. */
  readonly evidenceOf: string | null
}

/** `success`, `failure`: of a pipeline; `pipeline`: one that is under way, or ended otherwise. */
export type EventKind =
  | 'firing'
  | 'resolved'
  | 'heartbeat'
  | 'test'
  | 'info'
  | 'change'
  | 'success'
  | 'failure'
  | 'pipeline'
  | 'job'
  | 'other'

/** The service as the write path knows it: the person's or the rules' choice. */
export type Target = { readonly cluster: string; readonly namespace: string; readonly name: string }

const TEXT_LENGTH = 300
const NO_LABELS: Labels = Object.freeze(Object.create(null))

export function judge(draft: Draft, target: Target, attribution: Attribution): Judgement {
  switch (draft.source) {
    case 'cluster':
      return judgeCluster(draft, target, attribution)
    case 'metrics':
    case 'dashboard':
      return judgeAlert(draft, target, attribution)
    case 'ci':
      return judgeCi(draft, attribution)
  }
}

/** Identity: the service, the reason group and the container or kind, so that restarted pods stay one alert. */
function judgeCluster(draft: ClusterDraft, target: Target, attribution: Attribution): Judgement {
  const { object } = draft
  const finding = judgeReason({ reason: draft.reason, message: draft.message, type: draft.type, kind: object.kind })
  const summary = plainMessage(draft.message) || finding.group
  const what = { reason: draft.reason, message: draft.message, kind: object.kind }
  const fingerprint = eventFingerprint(target, finding.group, object)
  return {
    event: {
      kind: finding.change ? 'change' : finding.severity === 'info' ? 'info' : 'firing',
      name: draft.reason || finding.group,
      object: `${object.kind}/${object.name}`,
      severity: finding.severity,
      text: cut(summary),
    },
    tellsOfEnds: finding.change || isHelp(draft.reason) || ends(what).length > 0,
    evidenceOf: null,
    signal:
      finding.severity === 'info'
        ? null
        : {
            status: 'firing',
            source: 'cluster',
            name: finding.group,
            severity: finding.severity,
            said: draft.type,
            summary: cut(summary),
            labels: clusterLabels(draft, finding.type),
            annotations: finding.hint ? { hint: finding.hint } : NO_LABELS,
            links: {},
            fingerprint,
            logicalKey: fingerprint,
            failure: finding.failure,
            node: nodeOf(draft),
            rules: { service: attribution.rule, severity: finding.rule, identity: 'service, reason and container' },
            startsAt: draft.startsAt,
            endsAt: null,
            at: draft.at,
            sighting: { object: object.name, count: draft.count, escalates: finding.escalates },
          },
  }
}

/**
 * The identity of a condition that events show: its service, its reason group and the container, else the object's kind.
 * Of probes the kind alone: the kubelet's `Killing` names the container, and its `Unhealthy` only in the whole event.
 */
export function eventFingerprint(
  target: Target,
  group: string,
  { container, kind }: { readonly container: string | null; readonly kind: string },
): string {
  const part = group.startsWith('Unhealthy') ? kind : (container ?? kind)
  return digest(...keyOf(target), group, part)
}

function clusterLabels({ object, reason }: ClusterDraft, type: string): Labels {
  const labels = Object.assign(Object.create(null), { reason, type, kind: object.kind, name: object.name })
  if (object.namespace) labels.namespace = object.namespace
  if (object.container) labels.container = object.container
  if (object.node) labels.node = object.node
  return labels
}

/** Identity: the sender's fingerprint; behind it, for Alertmanager, the labels that outlive a restart of the exporter. */
function judgeAlert(draft: AlertDraft, target: Target, attribution: Attribution): Judgement {
  const { severity, raw, rule } = severityOf(draft)
  const summary = cut(
    draft.annotations.summary || draft.annotations.message || draft.annotations.description || draft.name,
  )
  const kind = draft.nature === 'heartbeat' || draft.nature === 'test' ? draft.nature : draft.status
  const silent = severity === 'none' || kind === 'heartbeat' || kind === 'test'
  const known = severity === 'none' ? 'info' : severity
  const logical =
    draft.source === 'metrics' ? Object.entries(logicalLabels(draft, attribution)).flat() : [draft.fingerprint]
  return {
    event: { kind, name: draft.name, object: objectOf(draft.labels), severity: silent ? 'info' : known, text: summary },
    tellsOfEnds: false,
    evidenceOf: null,
    signal: silent
      ? null
      : {
          status: draft.status,
          source: draft.source,
          name: draft.name,
          severity: known,
          said: raw,
          summary,
          labels: draft.labels,
          annotations: draft.annotations,
          links: draft.links,
          fingerprint: draft.fingerprint,
          logicalKey: digest(...keyOf(target), draft.name, ...logical),
          failure: draft.nature === 'no-data' ? null : failureOfAlert(draft.name),
          node: nodeOf(draft),
          rules: {
            service: attribution.rule,
            severity: rule,
            identity: 'fingerprint, then labels without the volatile ones',
          },
          startsAt: draft.startsAt,
          endsAt: draft.endsAt,
          at: draft.at,
          sighting: null,
        },
  }
}

function objectOf(labels: Labels): string {
  return labels.pod ? `Pod/${labels.pod}` : ''
}

function judgeCi(draft: PipelineDraft | JobDraft | OtherDraft, attribution: Attribution): Judgement {
  if (draft.kind === 'other') {
    const project = draft.project?.path ?? ''
    const text = `${draft.objectKind}${project ? ` of ${project}` : ''}`
    return history({ kind: 'other', name: draft.objectKind, object: project, severity: 'info', text: cut(text) })
  }
  if (draft.kind === 'job') return judgeJob(draft)
  return judgePipeline(draft, attribution)
}

/** A job is evidence of its pipeline and makes no alert of its own. */
function judgeJob({ job, project, ref, pipelineId }: JobDraft): Judgement {
  const failed = job.status === 'failed' && !job.allowFailure
  const of = pipelineId ? ` of pipeline #${pipelineId}` : ''
  const text = `job ${job.name} (${job.stage})${of} on ${ref}: ${job.status}${failed && job.failureReason ? `, ${job.failureReason}` : ''}`
  const event = {
    kind: 'job',
    name: project.path,
    object: `Ref/${ref}`,
    severity: failed ? 'warning' : 'info',
    text: cut(text),
  } as const
  return { ...history(event), evidenceOf: failed ? pipelineFingerprint(project.path, ref) : null }
}

function history(event: Judgement['event']): Judgement {
  return { event, signal: null, tellsOfEnds: false, evidenceOf: null }
}

/** Identity: project and ref. Only what reaches users counts: the default branch, tags and deploys. */
function judgePipeline(draft: PipelineDraft, attribution: Attribution): Judgement {
  const deploy = draft.jobs.some((job) => isDeploy(job) && job.status !== 'skipped' && job.status !== 'manual')
  const counts = !draft.mergeRequest && (draft.tag || deploy || isDefaultBranch(draft.project, draft.ref))
  const failed = draft.status === 'failed'
  const failedDeploy = draft.jobs.some((job) => isDeploy(job) && job.status === 'failed' && !job.allowFailure)
  const severity: Severity = failed && counts && failedDeploy ? 'warning' : 'info'
  const summary = cut(`pipeline ${draft.pipelineId ? `#${draft.pipelineId} ` : ''}on ${draft.ref}: ${draft.status}`)
  // A success ends what its ref's failure began, whatever made that count.
  const speaks = failed ? counts : draft.status === 'success' && !draft.mergeRequest
  return {
    event: {
      kind: failed ? 'failure' : draft.status === 'success' ? 'success' : 'pipeline',
      name: draft.project.path,
      object: `Ref/${draft.ref}`,
      severity: failed ? 'warning' : 'info',
      text: summary,
    },
    tellsOfEnds: false,
    evidenceOf: null,
    signal: speaks ? pipelineSignal(draft, { attribution, severity, summary, failed, failedDeploy }) : null,
  }
}

function pipelineSignal(
  draft: PipelineDraft,
  found: {
    attribution: Attribution
    severity: Severity
    summary: string
    failed: boolean
    failedDeploy: boolean
  },
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
    summary: found.summary,
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
    // Its place in time is that of its end: so a later pipeline's success ends it, and an earlier one's does not.
    startsAt: draft.at,
    endsAt: found.failed ? null : draft.at,
    at: draft.at,
    sighting: null,
  }
}

/** Without the service, which a project changes as soon as its image is seen in a cluster. */
function pipelineFingerprint(path: string, ref: string): string {
  return digest(path, ref)
}

/** Whether a signal, where nothing is known of its condition yet, makes an alert: a success of a pipeline does not. */
export function makesAlert(signal: Signal): boolean {
  return signal.source !== 'ci' || signal.status === 'firing'
}

export function isUnattributed(name: { readonly namespace: string; readonly name: string }): boolean {
  return name.namespace === '' && name.name === UNATTRIBUTED
}

function keyOf({ cluster, namespace, name }: Target): string[] {
  return [cluster, namespace, name]
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= TEXT_LENGTH ? line : `${line.slice(0, TEXT_LENGTH - 1).toWellFormed()}…`
}
