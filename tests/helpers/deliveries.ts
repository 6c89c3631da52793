/** Requests from senders about a problem, at minutes after noon. */
import type { Source } from '../../src/domain/event/event.ts'
import { MINUTE, NOON } from './factory.ts'
import { type AlertMore, alert, alertmanager, type Body, type KubernetesMore, kubernetesEvent } from './senders.ts'

/** One request. `at` is in minutes after noon. */
export type Delivery = {
  readonly at: number
  readonly source: Source
  readonly body: unknown
  /** Default: Acme. */
  readonly as?: 'charlie'
  /** When shuffled, deliveries in the same queue keep their order, because their sender never overtakes itself. */
  readonly queue?: string
  /** Not shuffled, because the scenario is about the interval between deliveries. */
  readonly onTime?: true
  /** Always shuffled to the front, because it is sent long before the rest. */
  readonly longBefore?: true
  /** The delivery's Idempotency-Key. A copy has the same key. */
  readonly key?: string
}

/** Converts minutes after noon to a time. */
export function timeOf(minutes: number): number {
  return Math.round((NOON + minutes * MINUTE) / 1000) * 1000
}

/**
 * Returns a Kubernetes event, sent when it happened. The exporter sends each event in a separate request, so events can
 * overtake each other.
 */
export function kube(at: number, reason: string, object: string, more: KubernetesMore = {}): Delivery {
  return { at, source: 'cluster', body: kubernetesEvent(reason, object, { at: timeOf(at), ...more }) }
}

/** Returns the event of a Deployment that scales one of its ReplicaSets, `<name>-<hash>`. */
export function scaled(at: number, deployment: string, hash: string, from: number, to: number): Delivery {
  const message = `Scaled ${to > from ? 'up' : 'down'} replica set ${deployment}-${hash} from ${from} to ${to}`
  return kube(at, 'ScalingReplicaSet', deployment, { kind: 'Deployment', message })
}

/** Returns the same event, received later than it happened. */
export function late(delivery: Delivery, at: number): Delivery {
  return { ...delivery, at }
}

/** Returns Alertmanager's notification for one group. Notifications for a group arrive in order. */
export function metrics(at: number, alerts: readonly unknown[], more: Body = {}): Delivery {
  const body = alertmanager(alerts, more)
  return { at, source: 'metrics', body, queue: `${body.receiver} ${body.groupKey}` }
}

/** Returns an alert that starts at `since` and ends at `until`, in minutes after noon. */
export function fires(
  name: string,
  since: number,
  labels: Readonly<Record<string, string>> = {},
  until?: number,
): Body {
  const more: AlertMore = { startsAt: timeOf(since), ...(until === undefined ? {} : { endsAt: timeOf(until) }) }
  return alert(name, labels, more)
}

/** Like `fires`, but as a warning, like all workload rules in the Kubernetes mixin. */
export function warning(name: string, since: number, labels: Readonly<Record<string, string>> = {}, until?: number) {
  return fires(name, since, { severity: 'warning', ...labels }, until)
}

export type Run = {
  readonly id: number
  /** From its creation to its end, in minutes after noon. */
  readonly from: number
  readonly until: number
  readonly status: string
  readonly jobs: readonly Body[]
  readonly sha?: string
  /** The path of another project whose pipeline started this one. */
  readonly upstream?: string
}

/** The default commit of a pipeline, and its first characters, which are the image tag. */
export const SHA = '9b1c3d5e7f90123456789abcdef0123456789abc'
export const TAG = SHA.slice(0, 8)

/**
 * Returns all of GitLab's notifications about a pipeline: created, running and ended. They can arrive in any order,
 * because GitLab sends each from a separate job.
 */
export function pipeline(project: string, run: Run): Delivery[] {
  const waiting = run.jobs.map((job) => ({ ...job, status: 'created', started_at: null, finished_at: null }))
  const running = run.jobs.map((job) => (job.started_at ? { ...job, status: 'running', finished_at: null } : job))
  return [
    hook(project, run, run.from, { status: 'pending', builds: waiting }),
    hook(project, run, (run.from + run.until) / 2, { status: 'running', builds: running }),
    ended(project, run),
  ]
}

/** Returns only the last notification about a pipeline. */
export function ended(project: string, run: Run): Delivery {
  return hook(project, run, run.until, { status: run.status, builds: run.jobs })
}

/**
 * Returns a job in a pipeline, with times in minutes after noon. `more` can contain `failure_reason` and `environment`.
 */
export function ran(name: string, status: string, from: number, until: number, more: Body = {}): Body {
  const reason = status === 'failed' ? 'script_failure' : null
  const times = { started_at: gitlabTime(from), finished_at: gitlabTime(until) }
  return { id: idOf(name), name, stage: name, status, allow_failure: false, failure_reason: reason, ...times, ...more }
}

/** Returns a job that the pipeline never started. */
export function skipped(name: string): Body {
  return { ...ran(name, 'skipped', 0, 0), started_at: null, finished_at: null }
}

function hook(project: string, run: Run, at: number, { status, builds }: { status: string; builds: readonly Body[] }) {
  const { id, from, until, sha = SHA } = run
  const over = status === run.status
  const body = {
    object_kind: 'pipeline',
    object_attributes: {
      ...{ id, ref: 'main', tag: false, sha, source: 'push', status, detailed_status: over ? status : 'en attente' },
      ...{ created_at: gitlabTime(from), finished_at: over ? gitlabTime(until) : null },
      ...{ duration: over ? Math.round((until - from) * 60) : null, variables: [] },
    },
    merge_request: null,
    project: { id: 9, name: 'A display name', path_with_namespace: project, default_branch: 'main' },
    builds,
    ...(run.upstream && { source_pipeline: { project: { path_with_namespace: run.upstream }, pipeline_id: 30 } }),
  }
  return { at, source: 'ci' as const, body }
}

function gitlabTime(minutes: number): string {
  return new Date(timeOf(minutes)).toISOString().replace('T', ' ').replace('.000Z', ' UTC')
}

function idOf(name: string): number {
  return [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 7000)
}
