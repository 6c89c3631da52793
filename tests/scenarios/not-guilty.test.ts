/** Pipelines that failed in the very minute of the trouble and have nothing to do with it. */

import { type Delivery, ended, kube, ran, scaled, skipped, timeOf } from '../helpers/deliveries.ts'
import { scenario } from '../helpers/scenario.ts'
import { crashLoop } from '../helpers/senders.ts'

/** The pods that run since yesterday crash for minutes. */
function crashes(): Delivery[] {
  const pods = ['cart-5d4f8c7b9-x2kqp', 'cart-5d4f8c7b9-b7k4z']
  return [3, 4, 6].map((at, n) => {
    const body = crashLoop(pods[n % 2] ?? '', { at: timeOf(at), count: 4 + n })
    return { at, source: 'cluster', body }
  })
}
const CRASHING = {
  alerts: ['cart: CrashLoopBackOff, critical, firing'],
  incidents: ['cart: CrashLoopBackOff, open, critical'],
}

/** A test fails, the deploy behind it is skipped: nothing that runs was touched. */
scenario('Failed tests only', {
  deliveries: [
    ended('shop/cart', {
      ...{ id: 813, from: 0, until: 5, status: 'failed' },
      jobs: [ran('test', 'failed', 0, 5), skipped('deploy')],
    }),
    crashes(),
  ],
  expect: {
    until: 17,
    services: ['shop/cart'],
    alerts: [...CRASHING.alerts, 'cart: PipelineFailed, info, firing'],
    incidents: CRASHING.incidents,
    links: [],
  },
})

/** The runner dies under the deploy job, as GitLab says by its failure reason: a fault of the CI. */
scenario('An outage of the runner', {
  deliveries: [
    ended('shop/cart', {
      ...{ id: 813, from: 0, until: 5, status: 'failed' },
      jobs: [ran('test', 'success', 0, 2), ran('deploy', 'failed', 2, 5, { failure_reason: 'runner_system_failure' })],
    }),
    crashes(),
  ],
  expect: {
    until: 17,
    services: ['shop/cart'],
    alerts: [...CRASHING.alerts, 'cart: PipelineFailed, warning, firing'],
    incidents: CRASHING.incidents,
    links: [],
  },
})

/** `cart-worker` is deployed, and breaks, as `cart` crashes. Nearness in time and a similar name link nothing. */
scenario('A pipeline of a sibling project in the same minute', {
  deliveries: [
    ended('shop/cart-worker', {
      ...{ id: 99, from: 2, until: 5, status: 'failed' },
      jobs: [ran('deploy', 'failed', 2, 5)],
    }),
    scaled(2.5, 'cart-worker', '7c9f6d5b8', 0, 2),
    kube(3, 'Failed', 'cart-worker-7c9f6d5b8-x2kqp', { message: 'Error: ImagePullBackOff', count: 6 }),
    crashes(),
  ],
  expect: {
    until: 17,
    services: ['shop/cart', 'shop/cart-worker'],
    alerts: [
      ...CRASHING.alerts,
      'cart-worker: ImagePullBackOff, critical, firing',
      'cart-worker: PipelineFailed, warning, firing',
    ],
    incidents: [...CRASHING.incidents, 'cart-worker: ImagePullBackOff, open, critical'],
    links: [
      'shop/cart-worker#99 → cart-worker: ImagePullBackOff, strong',
      'shop/cart-worker@7c9f6d5b8 → cart-worker: ImagePullBackOff, strong',
    ],
  },
})
