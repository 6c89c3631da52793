/** Builds requests in the formats of the real senders. */
import { hash } from 'node:crypto'
import type { Source } from '../../src/domain/event/event.ts'
import { MINUTE, SECOND } from '../../src/domain/units.ts'

/** A webhook request. `at` is a Unix time in milliseconds. */
export type Request = { readonly at: number; readonly source: Source; readonly body: object }

/** A workload of the shop. */
export type Workload = { readonly namespace: string; readonly name: string }

/** Returns the ReplicaSet hash of a workload's `n`-th release, using the same characters as Kubernetes. */
function hashOf(name: string, n: number): string {
  const letters = '456789bcdf'
  const digits = [...shaOf(name, n).slice(0, 9)]
  return digits.map((digit) => letters.charAt(Number.parseInt(digit, 16) % letters.length)).join('')
}

/** Returns a commit hash of 40 hexadecimal digits. */
export function shaOf(name: string, n: number): string {
  return hash('sha1', `${name}#${n}`)
}

const ENDINGS = ['x2kqp', 'b7k2x', 'c8m4z', 'd9n5w', 'f4p6v', 'g5q7t', 'h6r8s', 'j7t9r']

/** Returns the names of a workload's pods after its `n`-th release. */
export function podsOf({ name }: Workload, n: number, count = 3): string[] {
  return ENDINGS.slice(0, count).map((ending) => `${name}-${hashOf(name, n)}-${ending}`)
}

type EventMore = {
  readonly kind?: string
  readonly message?: string
  readonly node?: string
  readonly count?: number
  readonly since?: number
}

/** Returns a Kubernetes event in the format of kubernetes-event-exporter. */
export function event(at: number, namespace: string, name: string, reason: string, more: EventMore = {}): Request {
  const { kind = 'Pod', message = reason, node = null, count = 1, since = at } = more
  const body = {
    ...{ namespace: kind === 'Node' ? 'default' : namespace, podName: name, reason, message, involvedObjectKind: kind },
    ...{ count: String(count), nodeName: node, firstTime: iso(since), lastTime: iso(at) },
  }
  return { at, source: 'cluster', body }
}

export type Firing = {
  readonly name: string
  readonly severity: string
  readonly summary: string
  readonly labels: Readonly<Record<string, string>>
  readonly startsAt: number
  readonly endsAt?: number
}

/**
 * Returns Alertmanager's notification for a group of alerts at a given time. Alerts that ended before this time are
 * marked as resolved.
 */
export function alertmanager(at: number, group: string, alerts: readonly Firing[]): Request {
  const items = alerts.map(({ name, severity, summary, labels, startsAt, endsAt }) => {
    const over = endsAt !== undefined && endsAt <= at
    return {
      ...{ status: over ? 'resolved' : 'firing', startsAt: iso(startsAt) },
      endsAt: over ? iso(endsAt) : '0001-01-01T00:00:00Z',
      labels: { alertname: name, severity, ...labels },
      annotations: { summary },
      generatorURL: 'https://prometheus.example.com/graph?g0.tab=1',
    }
  })
  const firing = items.some(({ status }) => status === 'firing')
  const body = {
    ...{ version: '4', groupKey: `{}:{group="${group}"}`, truncatedAlerts: 0, status: firing ? 'firing' : 'resolved' },
    ...{ receiver: 'incmon', groupLabels: {}, commonLabels: {}, commonAnnotations: {}, alerts: items },
    externalURL: 'https://alertmanager.example.com',
  }
  return { at, source: 'metrics', body }
}

export type Ending = 'deployed' | 'tests failed' | 'no deploy'

type Pipeline = {
  readonly id: number
  /** The start and end of the deploy job. The test job runs in the three minutes before the deploy job. */
  readonly from: number
  readonly until: number
  readonly sha: string
  readonly end?: Ending
  readonly title?: string
}

/** Returns a pipeline's two webhook requests: one while it is running and one when it ends. */
export function pipeline({ namespace, name }: Workload, run: Pipeline): Request[] {
  const { id, from, until, sha, end = 'deployed', title = 'Release' } = run
  const project = `${namespace}/${name}`
  const createdAt = from - 3 * MINUTE
  const test = job(1, 'test', end === 'tests failed' ? 'failed' : 'success', createdAt, from)
  const jobs = end === 'deployed' ? [test, job(2, 'deploy', 'success', from, until)] : [test]
  const url = `https://gitlab.example.com/${project}`
  const hook = (at: number, status: string, builds: readonly unknown[]): Request => {
    const over = status !== 'running'
    const body = {
      object_kind: 'pipeline',
      object_attributes: {
        ...{ id, ref: 'main', tag: false, sha, source: 'push', status, detailed_status: status, variables: [] },
        ...{ created_at: iso(createdAt), finished_at: over ? iso(until) : null, url: `${url}/-/pipelines/${id}` },
        duration: over ? Math.round((until - createdAt) / SECOND) : null,
      },
      ...{ merge_request: null, builds, user: { id: 1, name: 'Sam', username: 'sam' } },
      project: { id: 9, name: project, path_with_namespace: project, default_branch: 'main', web_url: url },
      commit: { id: sha, message: title, title, timestamp: iso(createdAt), url: `${url}/-/commit/${sha}` },
    }
    return { at, source: 'ci', body }
  }
  const running = jobs.map((one, index) => (index === 0 ? one : { ...one, status: 'running', finished_at: null }))
  return [hook(from + SECOND, 'running', running), hook(until, end === 'tests failed' ? 'failed' : 'success', jobs)]
}

function job(id: number, name: string, status: string, from: number, until: number) {
  const failure = status === 'failed' ? 'script_failure' : null
  const times = { created_at: iso(from), started_at: iso(from), finished_at: iso(until) }
  const environment = name === 'deploy' ? { name: 'production', action: 'start' } : null
  return { ...{ id, name, stage: name, status, allow_failure: false, failure_reason: failure, environment }, ...times }
}

/**
 * Returns the events of a rollout: a new ReplicaSet, its pods, and the image pull. If the image is missing, no pod
 * starts.
 */
export function rollout(at: number, workload: Workload, n: number, tag: string, hasImage = true): Request[] {
  const { namespace, name } = workload
  const image = `registry.example.com/${namespace}/${name}:${tag.slice(0, 8)}`
  const scaled = { kind: 'Deployment', message: `Scaled up replica set ${name}-${hashOf(name, n)} to 3 from 0` }
  return [
    event(at, namespace, name, 'ScalingReplicaSet', scaled),
    ...podsOf(workload, n).flatMap((pod, index) => {
      const start = at + (index + 1) * 8 * SECOND
      const node = nodeOf(index)
      const pulling = event(start, namespace, pod, 'Pulling', { message: `Pulling image "${image}"`, node })
      const started = { message: `Started container ${name}`, node }
      return [pulling, ...(hasImage ? [event(start + 3 * SECOND, namespace, pod, 'Started', started)] : [])]
    }),
  ]
}

/** Returns the name of the `n`-th pod's node. */
export function nodeOf(n: number): string {
  return `worker-${(n % 4) + 4}`
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
