/** Problems that no change explains: incmon creates no links. */
import { ended, fires, kube, metrics, ran, scaled, timeOf, warning } from '../helpers/deliveries.ts'
import { scenario } from '../helpers/scenario.ts'

const POD = 'cart-5d4f8c7b9-x2kqp'

/**
 * The probe fails three times within half a minute, and the kubelet restarts the container: formally critical, but over
 * before anybody could look. After an hour of silence, the alert has expired. A deploy two hours earlier is too far away.
 * The probe's event in the flat format does not name the container, but the kill event does: both are one condition.
 */
scenario('A liveness flap without a deploy', {
  deliveries: [
    ended('shop/cart', {
      ...{ id: 811, from: -125, until: -120, status: 'success' },
      jobs: [ran('deploy', 'success', -124, -120)],
    }),
    kube(0, 'Unhealthy', POD, { message: 'Liveness probe failed: HTTP probe failed with statuscode: 503' }),
    kube(0.2, 'Unhealthy', POD, { message: 'Liveness probe failed: HTTP probe failed with statuscode: 503', count: 2 }),
    kube(0.4, 'Unhealthy', POD, { message: 'Liveness probe failed: HTTP probe failed with statuscode: 503', count: 3 }),
    kube(0.5, 'Killing', POD, { message: 'Container app failed liveness probe, will be restarted' }),
    kube(0.7, 'Started', POD, { message: 'Started container app' }),
  ],
  expect: {
    until: 80,
    services: ['shop/cart'],
    alerts: ['cart: Unhealthy (liveness), critical, resolved (expired)'],
    incidents: [],
    links: [],
  },
})

const NODE = 'worker-2'
const LETTERS = ['b7k2x', 'c8m4z', 'd9n5w', 'f4p6v', 'g5q7t']
const PODS = ['cart', 'web', 'search', 'mail'].flatMap((app) => LETTERS.map((letters) => `${app}-5d4f8c7b9-${letters}`))

/**
 * The node controller marks the node and each of its pods. After the 15 minutes that the mixin's rules wait, Alertmanager
 * reports the node and all twenty pods, so these alerts always arrive after the event about the node. There is one
 * incident, for the node.
 */
scenario('A node that goes down with 20 pods', {
  deliveries: [
    { ...kube(0, 'NodeNotReady', NODE, { kind: 'Node' }), queue: 'node' },
    ...PODS.map((pod) => kube(1, 'NodeNotReady', pod, { message: 'Node is not ready', node: NODE })),
    {
      ...metrics(16, [
        warning('KubeNodeNotReady', 15.5, { job: 'kube-state-metrics', node: NODE, namespace: 'monitoring' }),
        ...PODS.map((pod) => warning('KubePodNotReady', 15.5, { job: 'kube-state-metrics', pod })),
      ]),
      queue: 'node',
    },
  ],
  expect: {
    until: 40,
    services: ['node/worker-2', 'shop/cart', 'shop/mail', 'shop/search', 'shop/web'],
    alerts: [
      'node/worker-2: NodeNotReady, critical, firing',
      'node/worker-2: KubeNodeNotReady, warning, firing',
      ...['cart', 'web', 'search', 'mail'].map((app) => `${app}: NodeNotReady (pod), critical, firing`),
      ...PODS.map((pod) => `${pod.split('-')[0]}: KubePodNotReady, warning, firing`),
    ],
    incidents: ['node/worker-2: NodeNotReady, open, critical'],
    links: [],
  },
})

const JOB = 'report-29558160'

/**
 * A run fails permanently, according to an event and an alert. The events about the Job, its pod and its CronJob belong
 * to one service.
 */
scenario('A CronJob that fails', {
  deliveries: [
    kube(0, 'SuccessfulCreate', 'report', { kind: 'CronJob', message: `Created job ${JOB}` }),
    kube(2, 'BackOff', `${JOB}-b7k2x`, {
      message: `Back-off restarting failed container app in pod ${JOB}-b7k2x_shop(6d)`,
      ...{ count: 6, since: timeOf(1) },
    }),
    kube(4, 'BackoffLimitExceeded', JOB, { kind: 'Job', message: 'Job has reached the specified backoff limit' }),
    kube(4.1, 'SawCompletedJob', 'report', {
      kind: 'CronJob',
      message: `Saw completed job: ${JOB}, condition: Failed`,
    }),
    metrics(20, [warning('KubeJobFailed', 19.5, { job: 'kube-state-metrics', job_name: JOB, condition: 'true' })]),
  ],
  expect: {
    until: 50,
    services: ['shop/report'],
    alerts: [
      'report: BackoffLimitExceeded, critical, firing',
      'report: CrashLoopBackOff, critical, resolved (expired)',
      'report: KubeJobFailed, warning, firing',
    ],
    incidents: ['report: CrashLoopBackOff, open, critical'],
    links: [],
  },
})

const LONG = 'settlement-reconciliation-exporter-for-partner-banks-in-europe'

/**
 * Kubernetes truncates the base of a generated pod name to 58 characters, so a name of 63 characters contains neither
 * the Deployment's full name nor its hash. The Deployment is known from its last rollout, and its name's prefix matches
 * the pod.
 */
scenario('A pod with a name of 63 characters', {
  deliveries: [
    { ...scaled(-300, LONG, '5d4f8c7b9', 0, 1), longBefore: true },
    kube(0, 'OOMKilled', `${LONG.slice(0, 58)}x2kqp`, { message: 'Container app was killed: OOMKilled' }),
    kube(3, 'OOMKilled', `${LONG.slice(0, 58)}b7k4z`, { message: 'Container app was killed: OOMKilled' }),
    metrics(4, [fires('KubePodCrashLooping', 3.5, { job: 'kube-state-metrics', pod: `${LONG.slice(0, 58)}x2kqp` })]),
  ],
  expect: {
    until: 20,
    services: [`shop/${LONG}`],
    alerts: [`${LONG}: OOMKilled, critical, resolved (expired)`, `${LONG}: KubePodCrashLooping, critical, firing`],
    incidents: [`${LONG}: OOMKilled, open, critical`],
    links: [],
  },
})
