/** The requests that a healthy cluster of forty services sends within seven days. */
import type { Source } from '../../src/domain/event/event.ts'
import { DAY, MINUTE } from './factory.ts'
import {
  alert,
  alertmanager,
  type Body,
  build,
  job,
  type KubernetesMore,
  kubernetesEvent,
  pipeline,
  times,
  watchdog,
} from './senders.ts'

const HOUR = 60 * MINUTE
const SECOND = 1000
const LETTERS = ['b7k2x', 'c8m4z', 'd9n5w', 'f4p6v', 'g5q7t']

export type Said = { readonly at: number; readonly source: Source; readonly body: Body }
type Teller = (reason: string, name: string, more?: KubernetesMore) => Said

/** Returns all requests in chronological order, starting at `from`. */
export function quietWeek(from: number): Said[] {
  const days = times(from, from + 7 * DAY, DAY)
  return [
    ...heartbeats(from),
    ...lastingWarnings(from),
    ...days.flatMap((day, index) => dayOf(day, index)),
    ...rollingReboot(from + 2 * DAY + 3 * HOUR),
    ...longCordon(from + 3 * DAY),
  ].sort((a, b) => a.at - b.at)
}

function dayOf(day: number, index: number): Said[] {
  return [
    ...times(day, day + DAY, HOUR).flatMap((at) => cronJob(at + 5 * SECOND)),
    ...[9, 13, 20].flatMap((hour) => scaleUp(day + hour * HOUR)),
    ...[10, 11, 15, 16].flatMap((hour, n) => rollout(day + hour * HOUR, `app${n}`)),
    ...hiccups(day + 7 * HOUR),
    ...pipelines(day + 8 * HOUR, index),
    ...times(day, day + DAY, 6 * HOUR).flatMap((at) => clockwork(at)),
  ]
}

function heartbeats(from: number): Said[] {
  return times(from, from + 7 * DAY, 5 * MINUTE).map((at) => ({ at, source: 'metrics', body: watchdog() }))
}

/** Returns sixty warnings that nobody fixes, in six groups. Some of their services roll out every day. */
function lastingWarnings(from: number): Said[] {
  const names = ['CPUThrottlingHigh', 'KubeHpaMaxedOut', 'CertificateExpiresSoon', 'KubeQuotaAlmostFull', 'SlowQueries']
  const groups = names.concat('TargetDown').map((name) => {
    const alerts = Array.from({ length: 10 }, (_, i) =>
      alert(
        name,
        { deployment: name === 'TargetDown' ? `old${i}` : `app${i}`, severity: 'warning' },
        { startsAt: from },
      ),
    )
    return alertmanager(alerts, { groupKey: `{}:{alertname="${name}"}` })
  })
  return times(from, from + 7 * DAY, 2 * HOUR).flatMap((at) =>
    groups.map((body, n) => ({ at: at + n * SECOND, source: 'metrics' as const, body })),
  )
}

/** Returns a function that creates events at a time after `from`, by default about pods in the shop namespace. */
function telling(from: number): (after: number) => Teller {
  return (after) => (reason, name, more) => {
    const at = from + after
    return { at, source: 'cluster', body: kubernetesEvent(reason, name, { at, ...more }) }
  }
}

function podsOf(app: string, hash = '5d4f8c7b9'): string[] {
  return LETTERS.slice(0, 3).map((letters) => `${app}-${hash}-${letters}`)
}

/** Three pods wait four minutes for a node that the autoscaler adds. */
function scaleUp(from: number): Said[] {
  const after = telling(from)
  const message = '0/6 nodes are available: 6 Insufficient cpu.'
  const pods = podsOf('web')
  const node = { kind: 'Node' }
  return [
    after(0)('SuccessfulRescale', 'web', { kind: 'HorizontalPodAutoscaler', message: 'New size: 6' }),
    ...pods.flatMap((pod) => [
      after(SECOND)('FailedScheduling', pod, { message }),
      after(30 * SECOND)('TriggeredScaleUp', pod, { message: 'pod triggered scale-up: [{pool 3->4 (max: 8)}]' }),
      after(90 * SECOND)('FailedScheduling', pod, { message, count: 2 }),
      after(200 * SECOND)('FailedScheduling', pod, { message, count: 6 }),
      after(4 * MINUTE)('Scheduled', pod),
      ...started(from + 4 * MINUTE + SECOND, pod),
    ]),
    after(225 * SECOND)('RegisteredNode', 'worker-9', node),
    after(230 * SECOND)('NodeReady', 'worker-9', node),
    after(2 * HOUR)('ScaleDown', 'worker-9', { ...node, message: 'node removed by cluster autoscaler' }),
  ]
}

function started(from: number, pod: string, node = 'worker-1'): Said[] {
  const after = telling(from)
  return ['Pulling', 'Pulled', 'Created', 'Started'].map((reason, n) => after(n * SECOND)(reason, pod, { node }))
}

/** New pods fail their readiness probes until they are warmed up, old ones while they shut down. */
function rollout(from: number, app: string): Said[] {
  const after = telling(from)
  const hash = (from / HOUR).toString(16).replace(/[^4-9bcdf]/g, 'b')
  const scaled = { kind: 'Deployment', message: `Scaled up replica set ${app}-${hash.padEnd(9, 'c')} to 3` }
  const message = 'Readiness probe failed: HTTP probe failed with statuscode: 503'
  return [
    after(0)('ScalingReplicaSet', app, scaled),
    ...podsOf(app, hash.padEnd(9, 'c')).flatMap((pod, n) => [
      after(n * 40 * SECOND)('Scheduled', pod),
      ...started(from + n * 40 * SECOND + SECOND, pod),
      ...[10, 20, 30].map((s) => after((n * 40 + s) * SECOND)('Unhealthy', pod, { message, count: s / 10 })),
    ]),
    ...podsOf(app).map((pod, n) =>
      after((n * 40 + 35) * SECOND)('Killing', pod, { message: 'Stopping container app' }),
    ),
    ...podsOf(app).map((pod, n) => after((n * 40 + 45) * SECOND)('Unhealthy', pod, { message })),
  ]
}

/** Four nodes restart one after another, with the pods that run on every node and those that are drained. */
function rollingReboot(from: number): Said[] {
  return ['worker-1', 'worker-2', 'worker-3', 'worker-4'].flatMap((node, n) => reboot(from + n * 8 * MINUTE, node, n))
}

function reboot(from: number, node: string, n: number): Said[] {
  const after = telling(from)
  const is = { kind: 'Node', node }
  const onIt = [`fluentd-${LETTERS[n]}`, podsOf('web')[n % 3] ?? '', podsOf('app1')[n % 3] ?? '']
  return [
    after(0)('NodeNotSchedulable', node, is),
    ...onIt.slice(1).map((pod) => after(20 * SECOND)('Killing', pod, { message: 'Stopping container app', node })),
    after(2 * MINUTE)('NodeNotReady', node, is),
    ...onIt.map((pod) => after(125 * SECOND)('NodeNotReady', pod, { message: 'Node is not ready', node })),
    after(295 * SECOND)('Starting', node, { ...is, message: 'Starting kubelet.' }),
    after(296 * SECOND)('Rebooted', node, { ...is, type: 'Warning', message: `Node ${node} has been rebooted` }),
    after(300 * SECOND)('NodeReady', node, is),
    after(330 * SECOND)('NodeSchedulable', node, is),
    ...started(from + 310 * SECOND, onIt[0] ?? '', node),
  ]
}

function longCordon(from: number): Said[] {
  const after = telling(from)
  return [
    after(0)('NodeNotSchedulable', 'worker-5', { kind: 'Node' }),
    after(9 * HOUR)('NodeSchedulable', 'worker-5', { kind: 'Node' }),
  ]
}

function cronJob(from: number): Said[] {
  const after = telling(from)
  const name = `report-${Math.floor(from / MINUTE)}`
  return [
    after(0)('SuccessfulCreate', 'report', { kind: 'CronJob', message: `Created job ${name}` }),
    after(SECOND)('SuccessfulCreate', name, { kind: 'Job', message: `Created pod: ${name}-b7k2x` }),
    after(SECOND)('Scheduled', `${name}-b7k2x`),
    ...started(from + 2 * SECOND, `${name}-b7k2x`),
    after(40 * SECOND)('Completed', name, { kind: 'Job', message: 'Job completed' }),
    after(41 * SECOND)('SawCompletedJob', 'report', { kind: 'CronJob', message: `Saw completed job: ${name}` }),
  ]
}

/** Failures once a day that recover before anyone could look. */
function hiccups(from: number): Said[] {
  const after = telling(from)
  const [pod = '', other = ''] = podsOf('app5')
  const pull = 'Failed to pull image "registry.example/shop/app5:1": toomanyrequests'
  const attach = 'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) db-0'
  const mount = 'MountVolume.SetUp failed for volume "kube-api-access": failed to sync configmap cache'
  const liveness = 'Liveness probe failed: Get "http://10.0.0.1/healthz": context deadline exceeded'
  return [
    after(0)('Failed', pod, { message: pull }),
    after(SECOND)('Failed', pod, { message: 'Error: ErrImagePull' }),
    after(14 * SECOND)('BackOff', pod, { message: 'Back-off pulling image "registry.example/shop/app5:1"' }),
    after(15 * SECOND)('Failed', pod, { message: 'Error: ImagePullBackOff' }),
    ...started(from + 40 * SECOND, pod),
    after(HOUR)('FailedAttachVolume', 'db-0', { message: attach }),
    after(HOUR + 90 * SECOND)('SuccessfulAttachVolume', 'db-0'),
    after(2 * HOUR)('FailedMount', podsOf('app6')[0] ?? '', { message: mount }),
    ...started(from + 2 * HOUR + 5 * SECOND, podsOf('app6')[0] ?? ''),
    after(3 * HOUR)('FailedCreatePodSandBox', podsOf('app7')[0] ?? ''),
    ...started(from + 3 * HOUR + 20 * SECOND, podsOf('app7')[0] ?? ''),
    after(4 * HOUR)('Unhealthy', pod, { message: liveness }),
    after(4 * HOUR + 10 * SECOND)('Unhealthy', other, { message: liveness }),
    after(5 * HOUR)('FailedGetResourceMetric', 'web', { kind: 'HorizontalPodAutoscaler' }),
  ]
}

/** Eight pipelines, one of which has a test that fails on a branch and, once a day, on the default branch. */
function pipelines(from: number, day: number): Said[] {
  return Array.from({ length: 8 }, (_, n) => {
    const [at, id] = [from + n * HOUR, day * 100 + n]
    const failed = n === 3 || n === 6
    const jobs = [build('test', failed ? 'failed' : 'success'), build('deploy', failed ? 'skipped' : 'success')]
    const more = { id, at, jobs, ref: n === 3 ? 'feature' : 'main' }
    const body = pipeline(failed ? 'failed' : 'success', `shop/app${n}`, more)
    const running = pipeline('running', `shop/app${n}`, { ...more, at: at - 2 * MINUTE, jobs: [] })
    return [
      { at: at - 2 * MINUTE, source: 'ci' as const, body: running },
      { at: at - MINUTE, source: 'ci' as const, body: job('test', failed ? 'failed' : 'success', `shop/app${n}`) },
      { at, source: 'ci' as const, body },
    ]
  }).flat()
}

function clockwork(at: number): Said[] {
  const after = telling(at)
  const lease = { kind: 'Lease', namespace: 'kube-system' }
  return [
    after(0)('LeaderElection', 'kube-scheduler', { ...lease, message: 'cp-1 became leader' }),
    after(MINUTE)('SuccessfulRescale', 'app2', { kind: 'HorizontalPodAutoscaler', message: 'New size: 2' }),
    after(2 * MINUTE)('SuccessfulDelete', 'app2-5d4f8c7b9', { kind: 'ReplicaSet' }),
  ]
}
