/** The demo shop's problems: requests from senders, and what people do about them. */
import { MINUTE, SECOND } from '../../src/domain/units.ts'
import {
  alertmanager,
  event,
  type Firing,
  nodeOf,
  pipeline,
  podsOf,
  type Request,
  rollout,
  shaOf,
  type Workload,
} from './senders.ts'

/** What a person does with the open incident of `service`. */
export type PersonAction = {
  readonly at: number
  readonly person: string
  readonly service: string
  readonly do:
    | { readonly status: 'investigating' | 'identified' | 'resolved' }
    | { readonly note: string }
    | { readonly confirm: string }
    | { readonly postmortem: Readonly<Record<string, unknown>> }
}
export type Trouble = { readonly requests: readonly Request[]; readonly acts: readonly PersonAction[] }

const GATEWAY: Workload = { namespace: 'payments', name: 'gateway' }
const CATALOG: Workload = { namespace: 'shop', name: 'catalog' }

/** Returns Alertmanager's notifications for a group. The first is sent at `from` and the last at `until`. */
export function repeated(
  group: string,
  alerts: readonly Firing[],
  from: number,
  until: number,
  every = 2 * MINUTE,
): Request[] {
  const requests: Request[] = []
  for (let at = from; at < until; at += every) requests.push(alertmanager(at, group, alerts))
  return [...requests, alertmanager(until, group, alerts)]
}

/**
 * Returns a release with a memory leak. A person acknowledges the incident, confirms its cause, resolves it, and edits
 * the postmortem.
 */
export function memoryLeak(from: number, n = 4): Trouble {
  const first = from + 7 * MINUTE
  const end = from + 38 * MINUTE
  const [sha, back] = [shaOf('gateway', n), shaOf('gateway', n - 1)]
  const kills = podsOf(GATEWAY, n).flatMap((pod, place) =>
    [0, 6, 13, 21].map((minutes, index) => {
      const message = 'Memory cgroup out of memory: Killed process 4121 (gateway)'
      const since = first + place * 20 * SECOND
      const more = { message, count: index + 1, since, node: nodeOf(place) }
      return event(since + minutes * MINUTE, 'payments', pod, 'OOMKilled', more)
    }),
  )
  const slow: Firing = {
    ...{ name: 'GatewayLatencyHigh', severity: 'critical', summary: 'p99 above 2 s for 3 minutes' },
    labels: { namespace: 'payments', deployment: 'gateway' },
    ...{ startsAt: from + 10 * MINUTE, endsAt: end },
  }
  const act = (minutes: number, what: PersonAction['do']) => actOf(from, minutes, 'Ada', 'gateway', what)
  return {
    requests: [
      ...pipeline(GATEWAY, {
        id: 3300 + 2 * n,
        from,
        until: from + 5 * MINUTE,
        sha,
        title: 'Run the fraud check on each request body',
      }),
      ...rollout(from + 2 * MINUTE, GATEWAY, n, sha),
      ...kills,
      ...repeated('gateway', [slow], from + 10 * MINUTE, end),
      ...pipeline(GATEWAY, {
        id: 3301 + 2 * n,
        from: from + 31 * MINUTE,
        until: from + 36 * MINUTE,
        sha: back,
        title: 'Revert "Run the fraud check on each request body"',
      }),
      ...rollout(from + 32 * MINUTE, GATEWAY, n + 1, back),
    ],
    acts: [
      act(12, { status: 'investigating' }),
      act(26, { note: 'Memory has grown with every request since the deploy. I am reverting the deploy.' }),
      act(27, { status: 'identified' }),
      act(28, { confirm: `payments/gateway#${3300 + 2 * n}` }),
      act(54, { status: 'resolved' }),
      act(140, {
        postmortem: {
          summary:
            'The new fraud rules keep every request body in memory. The revert ended the problem. The next version will stream the body.',
          lessons: { wentWell: 'The revert was live 6 minutes after we decided on it.' },
        },
      }),
    ],
  }
}

/** Returns a node failure, its effect on the node's pods, and the recovery of the pods. */
export function nodeFailure(from: number, minutes: number): Trouble {
  const back = from + minutes * MINUTE
  const node = 'worker-7'
  const moved: readonly Workload[] = [
    { namespace: 'payments', name: 'ledger' },
    { namespace: 'payments', name: 'fraud-check' },
    { namespace: 'shop', name: 'recommendations' },
  ]
  const evictions = moved.flatMap((workload, n) =>
    podsOf(workload, 1, 4).map((pod, index) => {
      const message = `Marking for deletion Pod ${workload.namespace}/${pod}`
      const at = from + (300 + n * 20 + index * 5) * SECOND
      return event(at, workload.namespace, pod, 'TaintManagerEviction', { message, node })
    }),
  )
  const down: Firing = {
    ...{ name: 'KubeNodeNotReady', severity: 'critical', summary: `Node ${node} has been unready for 5 minutes.` },
    labels: { node },
    ...{ startsAt: from + 5 * MINUTE, endsAt: back + MINUTE },
  }
  const is = { kind: 'Node', node }
  return {
    requests: [
      event(from, '', node, 'NodeNotReady', { ...is, message: `Node ${node} status is now: NodeNotReady` }),
      ...evictions,
      ...repeated('node', [down], from + 5 * MINUTE, back + MINUTE),
      event(back, '', node, 'NodeReady', { ...is, message: `Node ${node} status is now: NodeReady` }),
    ],
    acts: [{ at: from + 9 * MINUTE, person: 'Kim', service: 'node/worker-7', do: { status: 'investigating' } }],
  }
}

/** Returns a release with an image tag that was never pushed. */
export function wrongTag(from: number, n = 7): Trouble {
  const [sha, good] = [shaOf('catalog', n), shaOf('catalog', n + 1)]
  const end = from + 24 * MINUTE
  const message = 'Failed to pull image "registry.example.com/shop/catalog:latst": manifest unknown: not found'
  const failures = podsOf(CATALOG, n).flatMap((pod, place) => {
    const since = from + (70 + place * 5) * SECOND
    return [0, 1, 3, 7, 13].map((minutes, index) =>
      event(since + minutes * MINUTE, 'shop', pod, 'Failed', { message, since, count: index + 1, node: nodeOf(place) }),
    )
  })
  const act = (minutes: number, what: PersonAction['do']) => actOf(from, minutes, 'Kim', 'catalog', what)
  const mismatch: Firing = {
    ...{ name: 'KubeDeploymentReplicasMismatch', severity: 'warning' },
    summary: 'Deployment has not matched the expected number of replicas.',
    labels: { namespace: 'shop', deployment: 'catalog' },
    ...{ startsAt: from + 5 * MINUTE, endsAt: end },
  }
  return {
    requests: [
      ...pipeline(CATALOG, { id: 863 + 2 * n, from, until: from + 3 * MINUTE, sha, title: 'Deploy the newest image' }),
      ...rollout(from + MINUTE, CATALOG, n, 'latst', false),
      ...failures,
      ...repeated('catalog', [mismatch], from + 5 * MINUTE, end),
      ...pipeline(CATALOG, {
        id: 864 + 2 * n,
        from: from + 17 * MINUTE,
        until: from + 21 * MINUTE,
        sha: good,
        title: 'Correct the image tag',
      }),
      ...rollout(from + 18 * MINUTE, CATALOG, n + 1, good),
    ],
    acts: [
      act(6, { status: 'identified' }),
      act(8, { note: 'The tag has a typo. I am releasing a corrected tag.' }),
      act(40, { status: 'resolved' }),
    ],
  }
}

function actOf(from: number, minutes: number, person: string, service: string, what: PersonAction['do']): PersonAction {
  return { at: from + minutes * MINUTE, person, service, do: what }
}

/** Returns a warning that fires for a while. */
export function warning(workload: Workload, name: string, summary: string, from: number, until: number): Trouble {
  const alert: Firing = {
    ...{ name, severity: 'warning', summary, startsAt: from, endsAt: until },
    labels: { namespace: workload.namespace, deployment: workload.name },
  }
  return { requests: repeated(`${workload.name} ${name}`, [alert], from, until, 5 * MINUTE), acts: [] }
}
