/** Events: what a webhook item says, in our own words. */

export const SOURCES = ['cluster', 'metrics', 'dashboard', 'ci'] as const
export type Source = (typeof SOURCES)[number]

/** Names and values as the sender wrote them; made without a prototype, so that a label may be named `__proto__`. */
export type Labels = Readonly<Record<string, string>>

/** None yet. `Object.create(null)` would make a dictionary of them, which is slow to list and to write as JSON. */
export function newLabels(): Record<string, string> {
  return Object.setPrototypeOf({}, null)
}

/**
 * A draft is what intake makes of one webhook item: parsed and redacted, not yet judged.
 * All times are milliseconds since 1970, UTC. `payload` is the item as received, secrets replaced, as JSON.
 */
export type Draft = ClusterDraft | AlertDraft | PipelineDraft | JobDraft | OtherDraft

type Common = {
  /** When the sender says it happened, never later than its receipt; the order of the history. */
  readonly at: number
  readonly payload: string
}

/** One Kubernetes event. */
export type ClusterDraft = Common & {
  readonly source: 'cluster'
  /** The event's first time; `at` is its last. */
  readonly startsAt: number
  /** The reason as sent, '' where the sender gave a message alone. */
  readonly reason: string
  readonly message: string
  /** How often the sender saw it, at least 1; a lower bound, since exporters drop updates. */
  readonly count: number
  /** Kubernetes' own judgement, where the sender passes it on. */
  readonly type: 'Normal' | 'Warning' | null
  readonly object: KubernetesObject
  /** The label `cluster`, the only word for it that all senders share; null where there is none. */
  readonly cluster: string | null
}

export type KubernetesObject = {
  /** 'Pod', 'Node', 'Deployment', …; 'Pod' where the sender does not say. */
  readonly kind: string
  /** '' for objects that have none, such as nodes. */
  readonly namespace: string
  readonly name: string
  readonly labels: Labels
  readonly owners: readonly { readonly kind: string; readonly name: string }[]
  /** The node it runs on, where known. */
  readonly node: string | null
  /** The container the event speaks of, where known. */
  readonly container: string | null
}

/** One alert of an Alertmanager or Grafana notification. */
export type AlertDraft = Common & {
  readonly source: 'metrics' | 'dashboard'
  readonly status: 'firing' | 'resolved'
  readonly labels: Labels
  readonly annotations: Labels
  readonly startsAt: number
  /** Null while firing. */
  readonly endsAt: number | null
  readonly fingerprint: string
  readonly links: Links
  /** The alert's name: `alertname`, or the rule's where Grafana replaced it; never ''. */
  readonly name: string
  /**
   * `alert`; `heartbeat` (Watchdog, InfoInhibitor); `test` (Grafana's button);
   * `no-data` (Grafana's DatasourceNoData and DatasourceError: a fault of monitoring).
   */
  readonly nature: 'alert' | 'heartbeat' | 'test' | 'no-data'
}

/** http(s) addresses by their names: generator, silence, dashboard, panel, image, runbook, alertmanager, pipeline, job, commit. */
export type Links = Readonly<Record<string, string>>

export type Project = {
  /** `group/sub/project`, the key. */
  readonly path: string
  /** For people only. */
  readonly name: string
  readonly defaultBranch: string | null
}

/** A status of a GitLab pipeline or job; others than these may come. */
export type CiStatus = string

type Ci = Common & {
  readonly source: 'ci'
  readonly links: Links
}

/** One notification of a pipeline. */
export type PipelineDraft = Ci & {
  readonly kind: 'pipeline'
  readonly project: Project
  /** Null in the least shape. */
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
  readonly jobs: readonly Job[]
}

/** One notification of a job: evidence of its pipeline. */
export type JobDraft = Ci & {
  readonly kind: 'job'
  readonly project: Project
  readonly pipelineId: string | null
  readonly ref: string
  readonly tag: boolean
  readonly sha: string | null
  readonly job: Job
}

/** A notification of a kind that we keep without using it. */
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

/** What one webhook request brought: its usable items, and those kept aside with the reason. Indexes are the sender's. */
export type Intake = {
  readonly accepted: readonly { readonly index: number; readonly draft: Draft }[]
  readonly rejected: readonly Rejected[]
  /**
   * Alertmanager's and Grafana's group, whose rhythm tells when an alert went silent; null elsewhere.
   * `members`: a digest of who was in it; `truncated`: the sender left some out, so that a missing one is not silent.
   */
  readonly group: {
    readonly receiver: string
    readonly key: string
    readonly members: string
    readonly truncated: boolean
  } | null
}

export type Rejected = {
  readonly index: number
  /** One line: `labels: expected object`. */
  readonly error: string
  /** The item as received, secrets replaced. */
  readonly payload: unknown
}
