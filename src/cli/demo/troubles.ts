/** The troubles of the demo shop: what senders report of each, and what people did about it. */
import {
  alertmanager,
  event,
  type Firing,
  MINUTE,
  nodeOf,
  pipeline,
  podsOf,
  type Request,
  rollout,
  SECOND,
  shaOf,
  type Workload,
} from './senders.ts'

/** What a person does, at that time. `service` names whose open incident it is about. */
export type Act = {
  readonly at: number
  readonly person: string
  readonly service: string
  readonly do:
    | { readonly status: 'investigating' | 'identified' | 'resolved' }
    | { readonly note: string }
    | { readonly confirm: string }
    | { readonly postmortem: Readonly<Record<string, unknown>> }
}
export type Trouble = { readonly requests: readonly Request[]; readonly acts: readonly Act[] }

const CHECKOUT: Workload = { namespace: 'shop', name: 'checkout' }
const GATEWAY: Workload = { namespace: 'payments', name: 'gateway' }
const CATALOG: Workload = { namespace: 'shop', name: 'catalog' }

/** A storm comes in groups of so many alerts. */
const PART = 110
const PARTS = [0, 110, 220, 330]

/** A group that Alertmanager repeats every minute from `from` to `until`, and once more when it has ended. */
function repeated(
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

/** A release that crashes at once, and a storm of alerts behind it. It is rolled back a quarter of an hour after `now`. */
export function crashLoop(now: number): Trouble {
  const deploy = now - 15 * MINUTE
  const [first, end] = [now - 12 * MINUTE, now + 14 * MINUTE]
  const [sha, back] = [shaOf('checkout', 12), shaOf('checkout', 11)]
  const pods = podsOf(CHECKOUT, 12, 6)
  const message = (pod: string) => `Back-off restarting failed container checkout in pod ${pod}_shop`
  const crashes = pods.flatMap((pod, n) => {
    const since = first + n * 12 * SECOND
    return [0, 1, 3, 6, 11, 20].map((minutes, index) => {
      const more = { message: message(pod), node: nodeOf(n), count: index + 1, since }
      return event(since + minutes * MINUTE, 'shop', pod, 'BackOff', more)
    })
  })
  const looping = pods.map((pod): Firing => {
    const labels = { namespace: 'shop', pod, container: 'checkout' }
    const summary = 'Pod is crash looping.'
    return {
      name: 'KubePodCrashLooping',
      severity: 'warning',
      summary,
      labels,
      startsAt: now - 11 * MINUTE,
      endsAt: end,
    }
  })
  const storm = Array.from({ length: 440 }, (_, n): Firing => {
    const labels = {
      namespace: 'shop',
      deployment: 'checkout',
      route: `/checkout/step-${n % 11}`,
      pod: `edge-${n % 40}`,
    }
    const startsAt = now - 9 * MINUTE + (n % 12) * 20 * SECOND
    const summary = 'More than 5 % of requests fail'
    return { name: 'HighErrorRate', severity: 'warning', summary, labels, startsAt, endsAt: end }
  })
  const store = (name: string, severity: string, summary: string, minutes: number): Firing => {
    const labels = { namespace: 'shop', deployment: 'storefront' }
    return { name, severity, summary, labels, startsAt: now - minutes * MINUTE, endsAt: end }
  }
  const shopfront = [
    store('HighErrorRate', 'error', 'More than 10 % of requests fail: POST /order', 10),
    store('SlowRequests', 'warning', 'p95 above 800 ms for 2 minutes', 8),
  ]
  const revert = { project: 'shop/checkout', id: 4712, from: now + 9 * MINUTE, until: now + 12 * MINUTE }
  return {
    requests: [
      ...pipeline({
        project: 'shop/checkout',
        id: 4711,
        from: deploy,
        until: now - 11 * MINUTE,
        sha,
        end: 'deployed',
        title: 'Ask for the tax number',
      }),
      ...rollout(deploy + 90 * SECOND, CHECKOUT, 12, sha),
      ...crashes,
      ...repeated('crash', looping, now - 11 * MINUTE, end),
      ...PARTS.map((n) => alertmanager(now - 9 * MINUTE + n * SECOND, `storm ${n}`, storm.slice(n, n + PART))),
      ...repeated('shopfront', shopfront, now - 8 * MINUTE, end),
      ...pipeline({ ...revert, sha: back, end: 'deployed', title: 'Revert "Ask for the tax number"' }),
      ...rollout(now + 10 * MINUTE, CHECKOUT, 13, back),
      ...PARTS.map((n) => alertmanager(end, `storm ${n}`, storm.slice(n, n + PART))),
    ],
    acts: [],
  }
}

/** A release whose memory grows; acknowledged, confirmed, reverted, resolved, and written up. */
export function memoryLeak(from: number): Trouble {
  const first = from + 7 * MINUTE
  const end = from + 38 * MINUTE
  const [sha, back] = [shaOf('gateway', 4), shaOf('gateway', 3)]
  const kills = podsOf(GATEWAY, 4).flatMap((pod, n) =>
    [0, 6, 13, 21].map((minutes, index) => {
      const message = 'Memory cgroup out of memory: Killed process 4121 (gateway)'
      const since = first + n * 20 * SECOND
      return event(since + minutes * MINUTE, 'payments', pod, 'OOMKilled', {
        message,
        count: index + 1,
        since,
        node: nodeOf(n),
      })
    }),
  )
  const slow: Firing = {
    ...{ name: 'GatewayLatencyHigh', severity: 'critical', summary: 'p99 above 2 s for 3 minutes' },
    labels: { namespace: 'payments', deployment: 'gateway' },
    ...{ startsAt: from + 10 * MINUTE, endsAt: end },
  }
  const act = (minutes: number, person: string, what: Act['do']): Act => ({
    ...{ at: from + minutes * MINUTE, person, service: 'gateway', do: what },
  })
  return {
    requests: [
      ...pipeline({
        project: 'payments/gateway',
        id: 3308,
        from,
        until: from + 5 * MINUTE,
        sha,
        end: 'deployed',
        title: 'Check each body for fraud',
      }),
      ...rollout(from + 2 * MINUTE, GATEWAY, 4, sha),
      ...kills,
      ...repeated('gateway', [slow], from + 10 * MINUTE, end),
      ...pipeline({
        project: 'payments/gateway',
        id: 3309,
        from: from + 31 * MINUTE,
        until: from + 36 * MINUTE,
        sha: back,
        end: 'deployed',
        title: 'Revert "Check each body for fraud"',
      }),
      ...rollout(from + 32 * MINUTE, GATEWAY, 5, back),
    ],
    acts: [
      act(12, 'Ada', { status: 'investigating' }),
      act(26, 'Ada', { note: 'Memory grows with every request since the deploy. Reverting it.' }),
      act(27, 'Ada', { status: 'identified' }),
      act(28, 'Ada', { confirm: 'payments/gateway#3308' }),
      act(54, 'Ada', { status: 'resolved' }),
      act(140, 'Ada', {
        postmortem: {
          summary:
            'The new fraud rules keep every request body in memory. Rolled back; the fix streams the body instead.',
          lessons: { wentWell: 'The revert was live 6 minutes after we decided on it.' },
        },
      }),
    ],
  }
}

/** A node that stops reporting, with the pods on it, and comes back. */
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

/** A release with an image tag that was never pushed. */
export function wrongTag(from: number): Trouble {
  const [sha, good] = [shaOf('catalog', 7), shaOf('catalog', 8)]
  const end = from + 24 * MINUTE
  const message = 'Failed to pull image "registry.example.com/shop/catalog:latst": manifest unknown: not found'
  const failures = podsOf(CATALOG, 7).flatMap((pod, n) => {
    const since = from + (70 + n * 5) * SECOND
    return [0, 1, 3, 7, 13].map((minutes, index) =>
      event(since + minutes * MINUTE, 'shop', pod, 'Failed', { message, since, count: index + 1, node: nodeOf(n) }),
    )
  })
  const mismatch: Firing = {
    ...{ name: 'KubeDeploymentReplicasMismatch', severity: 'warning' },
    summary: 'Deployment has not matched the expected number of replicas.',
    labels: { namespace: 'shop', deployment: 'catalog' },
    ...{ startsAt: from + 5 * MINUTE, endsAt: end },
  }
  return {
    requests: [
      ...pipeline({
        project: 'shop/catalog',
        id: 877,
        from,
        until: from + 3 * MINUTE,
        sha,
        end: 'deployed',
        title: 'Name the newest image',
      }),
      ...rollout(from + MINUTE, CATALOG, 7, sha),
      ...failures,
      ...repeated('catalog', [mismatch], from + 5 * MINUTE, end),
      ...pipeline({
        project: 'shop/catalog',
        id: 878,
        from: from + 17 * MINUTE,
        until: from + 21 * MINUTE,
        sha: good,
        end: 'deployed',
        title: 'Name the right image',
      }),
      ...rollout(from + 18 * MINUTE, CATALOG, 8, good),
    ],
    acts: [
      { at: from + 6 * MINUTE, person: 'Kim', service: 'catalog', do: { status: 'identified' } },
      {
        at: from + 8 * MINUTE,
        person: 'Kim',
        service: 'catalog',
        do: { note: 'The tag has a typing error. A new release is on its way.' },
      },
      { at: from + 40 * MINUTE, person: 'Kim', service: 'catalog', do: { status: 'resolved' } },
    ],
  }
}

/** A warning that begins at one time and ends at another, or goes on. */
export function warning(workload: Workload, name: string, summary: string, from: number, until: number): Trouble {
  const alert: Firing = {
    ...{ name, severity: 'warning', summary, startsAt: from, endsAt: until },
    labels: { namespace: workload.namespace, deployment: workload.name },
  }
  return { requests: repeated(`${workload.name} ${name}`, [alert], from, until, 5 * MINUTE), acts: [] }
}
