/** Events: the items of webhooks in a common format. */

export const SOURCES = ['cluster', 'metrics', 'dashboard', 'ci'] as const
export type Source = (typeof SOURCES)[number]

/** Labels as the sender sent them, without a prototype, so that a label may be named `__proto__`. */
export type Labels = Readonly<Record<string, string>>

/** Returns empty labels. `Object.create(null)` would be slow to list and to serialize. */
export function newLabels(): Record<string, string> {
  return Object.setPrototypeOf({}, null)
}

/**
 * A draft is one webhook item after intake: parsed and redacted, but not yet judged. All times are ms UTC. `payload` is
 * the received item as JSON, with secrets replaced.
 */
export type Draft = ClusterDraft | AlertDraft | PipelineDraft | JobDraft | OtherDraft

type Common = {
  /** The sender's time, never later than the time of receipt. The history is sorted by it. */
  readonly at: number
  readonly payload: string
}

/** The original times, set only if one of them is later than the time of receipt. */
type Sent = { readonly sent?: { readonly at: number; readonly startsAt: number } }

/** One Kubernetes event. */
export type ClusterDraft = Common &
  Sent & {
    readonly source: 'cluster'
    /** The first time of the event. `at` is its last time. */
    readonly startsAt: number
    /** The reason as sent, '' if the sender sent only a message. */
    readonly reason: string
    readonly message: string
    /** How often the sender saw the event, at least 1. Exporters may drop updates, so the real count can be higher. */
    readonly count: number
    /** The type from Kubernetes, if the sender includes it. */
    readonly type: 'Normal' | 'Warning' | null
    readonly object: KubernetesObject
    /** The exporter's `clusterName`, or a label that names the cluster; null if missing. */
    readonly cluster: string | null
  }

export type KubernetesObject = {
  /** 'Pod', 'Node', 'Deployment', …; 'Pod' if the sender does not say. */
  readonly kind: string
  /** '' for objects without a namespace, such as nodes. */
  readonly namespace: string
  readonly name: string
  readonly labels: Labels
  readonly owners: readonly { readonly kind: string; readonly name: string }[]
  /** The node of the object, if known. */
  readonly node: string | null
  /** The container of the event, if known. */
  readonly container: string | null
}

/** One alert of an Alertmanager or Grafana notification. */
export type AlertDraft = Common &
  Sent & {
    readonly source: 'metrics' | 'dashboard'
    readonly status: 'firing' | 'resolved'
    readonly labels: Labels
    readonly annotations: Labels
    readonly startsAt: number
    /** Null while firing. */
    readonly endsAt: number | null
    readonly fingerprint: string
    readonly links: Links
    /** The name of the alert: `alertname`, or the name of the rule if Grafana replaced it; never ''. */
    readonly name: string
    /**
     * `alert`; `heartbeat` (Watchdog, InfoInhibitor); `test` (Grafana's Test button); `no-data` (Grafana's
     * DatasourceNoData and DatasourceError, which are problems of the monitoring).
     */
    readonly nature: 'alert' | 'heartbeat' | 'test' | 'no-data'
  }

/** http(s) URLs by name: generator, silence, dashboard, panel, image, runbook, alertmanager, pipeline, job, commit. */
export type Links = Readonly<Record<string, string>>

export type Project = {
  /** `group/sub/project`, which identifies the project. */
  readonly path: string
  /** For display only. */
  readonly name: string
  readonly defaultBranch: string | null
}

/** The status of a GitLab pipeline or job. Unknown values are possible. */
export type CiStatus = string

type Ci = Common & {
  readonly source: 'ci'
  readonly links: Links
}

/** The commit that a pipeline or job ran for, as its author described it. */
export type Commit = { readonly title: string; readonly author: string | null }

/** One notification about a pipeline. */
export type PipelineDraft = Ci & {
  readonly kind: 'pipeline'
  readonly project: Project
  /** Null in the minimal format. */
  readonly pipelineId: string | null
  readonly ref: string
  readonly tag: boolean
  readonly sha: string | null
  readonly status: CiStatus
  readonly createdAt: number | null
  readonly finishedAt: number | null
  /** Seconds. */
  readonly duration: number | null
  readonly mergeRequest: boolean
  readonly commit: Commit | null
  readonly jobs: readonly Job[]
}

/** One notification about a job. It is evidence for its pipeline. */
export type JobDraft = Ci & {
  readonly kind: 'job'
  readonly project: Project
  readonly pipelineId: string | null
  readonly ref: string
  readonly tag: boolean
  readonly sha: string | null
  readonly commit: Commit | null
  readonly job: Job
}

/** A notification of a kind that is stored without any effect. */
export type OtherDraft = Ci & {
  readonly kind: 'other'
  /** GitLab's `object_kind`. */
  readonly objectKind: string
  readonly project: Project | null
}

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
  readonly environment: { readonly name: string; readonly action: string | null } | null
}

/** The result of reading one webhook request: usable items and rejected items, with their index in the request. */
export type Intake = {
  readonly accepted: readonly Accepted[]
  readonly rejected: readonly Rejected[]
  /**
   * The group of Alertmanager or Grafana, whose delivery interval shows when an alert stopped; null for other senders.
   * `members`: a digest of the group's members. `truncated`: the sender omitted some members, so a missing member has
   * not stopped.
   */
  readonly group: {
    readonly receiver: string
    readonly key: string
    readonly members: string
    readonly truncated: boolean
  } | null
}

/** `warnings`: ignored errors in an item, one line each. Absent if there are none. */
export type Accepted = { readonly index: number; readonly draft: Draft; readonly warnings?: readonly string[] }

export type Rejected = {
  readonly index: number
  /** One line: `labels: expected object`. */
  readonly error: string
  /** The item as received, with secrets replaced. */
  readonly payload: unknown
}
