/** Events: webhook items in a common format. */
import type { Severity } from '../severity.ts'

export const SOURCES = ['cluster', 'metrics', 'dashboard', 'ci'] as const
export type Source = (typeof SOURCES)[number]

const SENDERS: Readonly<Record<Source, string>> = {
  cluster: 'Kubernetes',
  metrics: 'Alertmanager',
  dashboard: 'Grafana',
  ci: 'GitLab',
}

/** Returns the name of the program that sends data for this source, for example `Kubernetes`. */
export function senderName(source: Source): string {
  return SENDERS[source]
}

/** Returns whether Alertmanager or Grafana sends for this source. They repeat their alerts, and send again what was refused. */
export function isNotification({ source }: { readonly source: Source }): boolean {
  return source === 'metrics' || source === 'dashboard'
}

/** Labels as sent. The object has no prototype, so that a label can be named `__proto__`. */
export type Labels = Readonly<Record<string, string>>

/** Creates empty labels. `Object.create(null)` would be slow to enumerate and serialize. */
export function newLabels(): Record<string, string> {
  return Object.setPrototypeOf({}, null)
}

/**
 * A draft is a webhook item after intake: parsed and redacted, but not classified yet. Times are in ms UTC. `payload`
 * is the received item as JSON, with secrets replaced.
 */
export type Draft = ClusterDraft | AlertDraft | PipelineDraft | JobDraft | OtherDraft

type Common = {
  /** The sender's time, capped at the time of receipt. The history is sorted by this time. */
  readonly at: number
  readonly payload: string
}

/** The original times. Present only if one of these times is later than the time of receipt. */
type Sent = { readonly sent?: { readonly at: number; readonly startsAt: number } }

export type ClusterDraft = Common &
  Sent & {
    readonly source: 'cluster'
    /** When the event first occurred. `at` is when the event last occurred. */
    readonly startsAt: number
    /** The reason as sent; '' if there is only a message. */
    readonly reason: string
    readonly message: string
    /**
     * The number of occurrences reported, at least 1. The real number can be higher because exporters may drop updates.
     */
    readonly count: number
    /** The Kubernetes event type, if the sender includes it. */
    readonly type: 'Normal' | 'Warning' | null
    readonly object: KubernetesObject
    /** Whether the sender repeats events that happened once. An exporter does not. */
    readonly isSentAgain?: boolean
    /** The images that the object's containers have now, as a watched cluster says. */
    readonly images?: readonly string[]
    /** The exporter's `clusterName`, or a label that names the cluster; null if absent. */
    readonly cluster: string | null
  }

export type KubernetesObject = {
  /** 'Pod', 'Node', 'Deployment', …; 'Pod' if not specified. */
  readonly kind: string
  /** '' for objects without a namespace, such as nodes. */
  readonly namespace: string
  readonly name: string
  readonly labels: Labels
  readonly owners: readonly { readonly kind: string; readonly name: string }[]
  /** The node on which the object runs, if known. */
  readonly node: string | null
  /** The container that the event is about, if known. */
  readonly container: string | null
}

/** An end as a time, or as milliseconds after the receipt, so that equal bytes always have equal drafts. */
export type Expiry = { readonly at: number } | { readonly after: number }

/** Returns when an item ends unless it is repeated; null if the sender did not say. */
export function expiryOf(expiry: Expiry | null, receivedAt: number): number | null {
  if (expiry === null) return null
  return 'at' in expiry ? expiry.at : receivedAt + expiry.after
}

/** One alert in an Alertmanager or Grafana notification. */
export type AlertDraft = Common &
  Sent & {
    readonly source: 'metrics' | 'dashboard'
    readonly status: 'firing' | 'resolved'
    readonly labels: Labels
    readonly annotations: Labels
    readonly startsAt: number
    /** Whether `startsAt` is the time of receipt, because the sender said no start, or one in the future. */
    readonly isStartUnknown?: boolean | undefined
    /** Null while firing. */
    readonly endsAt: number | null
    /** When the alert ends unless the sender repeats it before. Missing if the sender does not promise repeats. */
    readonly expiry?: Expiry
    readonly fingerprint: string
    readonly links: Links
    /** The name of the alert: `alertname`, or the name of the rule if Grafana replaced it; never ''. */
    readonly name: string
    /**
     * `heartbeat`: Watchdog and its like, or InfoInhibitor. `test`: sent by Grafana's Test button. `no-data`: Grafana's
     * DatasourceNoData or DatasourceError, which report problems with the monitoring itself. `alert`: any other alert.
     */
    readonly nature: 'alert' | 'heartbeat' | 'test' | 'no-data'
  }

/** http(s) URLs by name: generator, silence, dashboard, panel, image, runbook, alertmanager, pipeline, job, commit. */
export type Links = Readonly<Record<string, string>>

export type Project = {
  /** Identifies the project, for example `group/sub/project`. */
  readonly path: string
  /** For display only. */
  readonly name: string
  readonly defaultBranch: string | null
}

/** The status of a GitLab pipeline or job. GitLab may add new values. */
type CiStatus = string

type Ci = Common & { readonly source: 'ci'; readonly links: Links }

/** The commit that a pipeline or job ran for. */
export type Commit = { readonly title: string; readonly author: string | null }

/** A notification about a pipeline. */
export type PipelineDraft = Ci & {
  readonly kind: 'pipeline'
  readonly project: Project
  /** The pipeline's ID; null in the minimal format. */
  readonly pipelineId: string | null
  readonly ref: string
  readonly tag: boolean
  readonly sha: string | null
  readonly status: CiStatus
  readonly createdAt: number | null
  readonly finishedAt: number | null
  /** In seconds. */
  readonly duration: number | null
  readonly mergeRequest: boolean
  /** What started the pipeline, in GitLab's words: `push`, `schedule`, `parent_pipeline`, `external`, …. */
  readonly trigger: string | null
  readonly commit: Commit | null
  readonly jobs: readonly Job[]
  /** The path of another project whose pipeline started this one. */
  readonly upstream?: string
}

/** A notification about a job, which is evidence for the job's pipeline. */
export type JobDraft = Ci &
  Pick<PipelineDraft, 'project' | 'pipelineId' | 'ref' | 'tag' | 'sha' | 'commit' | 'upstream'> & {
    readonly kind: 'job'
    readonly job: Job
  }

/** A notification of any other kind. Such notifications are stored but have no effect. */
export type OtherDraft = Ci & { readonly kind: 'other'; readonly objectKind: string; readonly project: Project | null }

export type Job = {
  readonly id: string | null
  readonly name: string
  readonly stage: string
  readonly status: CiStatus
  readonly allowFailure: boolean
  /** Null unless the job failed. */
  readonly failureReason: string | null
  readonly startedAt: number | null
  readonly finishedAt: number | null
  /** `tier`: GitLab's `deployment_tier`; absent if the sender does not say. */
  readonly environment: { readonly name: string; readonly action: string | null; readonly tier?: string } | null
}

/** The parsed items of a webhook request, accepted and rejected, with their index in the request. */
export type Intake = {
  readonly accepted: readonly Accepted[]
  readonly rejected: readonly Rejected[]
  /**
   * The Alertmanager or Grafana group; null for other senders. The group's delivery interval shows when an alert has
   * stopped. `members`: a hash of the group's members. `truncated`: the sender omitted some members, so a missing alert
   * may still be firing.
   */
  readonly group: {
    readonly receiver: string
    readonly key: string
    readonly members: string
    readonly truncated: boolean
  } | null
  /** The name of a sender without groups. */
  readonly receiver?: string
}

/** `warnings`: one line for each ignored problem in the item. Absent if there are no warnings. */
export type Accepted = { readonly index: number; readonly draft: Draft; readonly warnings?: readonly string[] }

export type Rejected = {
  readonly index: number
  /** One line: `labels: expected object`. */
  readonly error: string
  /** The item as received, with secrets replaced. */
  readonly payload: unknown
}

/** An event, as it is stored. */
export type StoredEvent = {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly serviceId: number | null
  readonly alertId: number | null
  readonly source: Source
  readonly kind: string
  readonly name: string
  readonly object: string
  readonly severity: Severity
  readonly text: string
  /** The number of occurrences reported by the sender. */
  readonly count: number
  /** The key `cluster/namespace/name` of a service that does not exist yet. */
  readonly awaited: string | null
  /**
   * The time of the first occurrence counted in this event; `at` is the time of the last occurrence. Unix times in
   * milliseconds.
   */
  readonly firstSeenAt: number
  readonly at: number
  readonly receivedAt: number
  /** The received JSON, with secrets replaced. */
  readonly body: string
}
