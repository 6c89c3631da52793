/** Pipelines that fail in the same minute as a problem but are unrelated to it. */

import { type Delivery, ended, kube, ran, scaled, skipped, timeOf } from '../helpers/deliveries.ts'
import { scenario } from '../helpers/scenario.ts'
import { crashLoop } from '../helpers/senders.ts'

const LOOP = 'Back-off restarting failed container app in pod cart-5d4f8c7b9-x2kqp_shop(6d0f)'

/** The pods that have been running since the day before crash for several minutes. */
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

/** A test fails and the subsequent deploy is skipped, so nothing that is running was changed. */
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

/** The runner fails during the deploy job, as GitLab's failure reason says: this is a failure of the CI system. */
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

/** A newer pipeline has deployed, so GitLab drops the deploy job of the older one, which changes nothing. */
scenario('A deploy that a newer one overtook', {
  deliveries: [
    ended('shop/cart', {
      ...{ id: 813, from: 0, until: 5, status: 'failed' },
      jobs: [
        ran('test', 'success', 0, 2),
        ran('deploy', 'failed', 5, 5, { failure_reason: 'failed_outdated_deployment_job' }),
      ],
    }),
    crashes(),
  ],
  expect: {
    until: 17,
    services: ['shop/cart'],
    alerts: CRASHING.alerts,
    incidents: CRASHING.incidents,
    links: [],
  },
})

/**
 * `cart-worker` is deployed and fails at the same time as `cart` crashes. Timing and similar names alone create no
 * link.
 */
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

/** The exporter is connected after three hours of a crash loop and five minutes after a deploy: the loop is older. */
scenario('A crash loop that began three hours before the deploy', {
  deliveries: [
    kube(3, 'BackOff', 'cart-5d4f8c7b9-x2kqp', { message: LOOP, since: timeOf(-180), count: 37 }),
    ended('shop/cart', {
      ...{ id: 813, from: 0, until: 2, status: 'success' },
      jobs: [ran('deploy', 'success', 0, 2)],
    }),
    kube(8, 'BackOff', 'cart-5d4f8c7b9-x2kqp', { message: LOOP, since: timeOf(-180), count: 38 }),
  ],
  expect: {
    until: 17,
    services: ['shop/cart'],
    alerts: ['cart: CrashLoopBackOff, critical, firing'],
    incidents: ['cart: CrashLoopBackOff, open, critical'],
    links: [],
  },
})

/** For a problem reported an hour late, the first occurrence counts, and it was caused by the deploy. */
scenario('A crash loop that is reported long after the deploy that caused it', {
  deliveries: [
    ended('shop/cart', {
      ...{ id: 813, from: 0, until: 2, status: 'success' },
      jobs: [ran('deploy', 'success', 0, 2)],
    }),
    kube(75, 'BackOff', 'cart-5d4f8c7b9-x2kqp', { message: LOOP, since: timeOf(1.5), count: 16 }),
  ],
  expect: {
    until: 80,
    services: ['shop/cart'],
    alerts: ['cart: CrashLoopBackOff, critical, firing'],
    incidents: ['cart: CrashLoopBackOff, open, critical'],
    links: ['shop/cart#813 → cart: CrashLoopBackOff, strong'],
  },
})
