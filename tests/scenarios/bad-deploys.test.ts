/** Bad deploys: the pipeline and the rollout are suspects for the problems that follow. */
import { ended, fires, kube, metrics, pipeline, ran, scaled, TAG, warning } from '../helpers/deliveries.ts'
import { scenario } from '../helpers/scenario.ts'

const OLD = '5d4f8c7b9'
const NEW = '7c9f6d5b8'
const POD = `cart-${NEW}-x2kqp`
const OTHER_POD = `cart-${NEW}-b7k4z`
const IMAGE = `registry.example/shop/cart:${TAG}`

/**
 * The pipeline's deploy job waits for the rollout (`helm upgrade --wait`), which waits for an image that was never
 * pushed. Therefore, the events arrive before the pipeline's failure is reported. The mixin's alert follows 15 minutes
 * later.
 */
scenario('A bad image tag after a deploy', {
  deliveries: [
    pipeline('shop/cart', {
      ...{ id: 812, from: 0, until: 8, status: 'failed' },
      jobs: [ran('test', 'success', 0, 2), ran('deploy', 'failed', 2, 8)],
    }),
    scaled(2.5, 'cart', NEW, 0, 1),
    kube(2.6, 'Pulling', POD, { message: `Pulling image "${IMAGE}"` }),
    kube(2.7, 'Failed', POD, { message: `Failed to pull image "${IMAGE}": not found`, count: 1 }),
    kube(2.8, 'Failed', POD, { message: 'Error: ErrImagePull', count: 2 }),
    kube(7, 'BackOff', POD, { message: `Back-off pulling image "${IMAGE}"`, count: 9 }),
    metrics(18, [warning('KubePodNotReady', 17.5, { pod: POD })]),
  ],
  expect: {
    until: 25,
    services: ['shop/cart'],
    alerts: [
      'cart: ImagePullBackOff, critical, resolved (expired)',
      'cart: KubePodNotReady, warning, firing',
      'cart: PipelineFailed, warning, firing',
    ],
    incidents: ['cart: ImagePullBackOff, monitoring, critical'],
    links: [
      'shop/cart#812 → cart: ImagePullBackOff, strong',
      `shop/cart@${NEW} → cart: ImagePullBackOff, strong`,
      'shop/cart#812 → cart: KubePodNotReady, probable',
      `shop/cart@${NEW} → cart: KubePodNotReady, probable`,
    ],
  },
})

/** One project deploys all services. The pipeline of the service starts it, and the alert of another service is not its. */
scenario('A deploy by a project that deploys for others', {
  deliveries: [
    pipeline('shop/cart', {
      ...{ id: 812, from: -4, until: 0, status: 'success' },
      jobs: [ran('build', 'success', -4, 0)],
    }),
    pipeline('ops/deployer', {
      ...{ id: 77, from: 0, until: 8, status: 'success', upstream: 'shop/cart' },
      jobs: [ran('deploy', 'success', 2, 8, { environment: { name: 'production', action: 'start' } })],
    }),
    metrics(7, [
      fires('HighErrorRate', 6, { deployment: 'cart' }),
      fires('HighErrorRate', 6, { deployment: 'search' }),
    ]),
  ],
  expect: {
    until: 12,
    services: ['ops/deployer', 'shop/cart', 'shop/search'],
    alerts: ['cart: HighErrorRate, critical, firing', 'search: HighErrorRate, critical, firing'],
    incidents: ['cart: HighErrorRate, open, critical', 'search: HighErrorRate, open, critical'],
    links: ['ops/deployer#77 → cart: HighErrorRate, strong'],
  },
})

/** The new pods need a secret that was never created: the image exists, but the container cannot be created. */
scenario('A missing secret', {
  deliveries: [
    ended('shop/cart', {
      ...{ id: 812, from: 0, until: 9, status: 'failed' },
      jobs: [ran('deploy', 'failed', 1, 9, { environment: { name: 'production', action: 'start' } })],
    }),
    scaled(1.2, 'cart', NEW, 0, 2),
    kube(1.5, 'Pulled', POD, { message: `Successfully pulled image "${IMAGE}" in 2.1s` }),
    kube(1.6, 'Failed', POD, { message: 'Error: secret "cart-database" not found', count: 3 }),
    kube(1.8, 'Failed', OTHER_POD, { message: 'Error: secret "cart-database" not found', count: 2 }),
    kube(6, 'Failed', POD, { message: 'Error: secret "cart-database" not found', count: 22 }),
  ],
  expect: {
    until: 20,
    services: ['shop/cart'],
    alerts: ['cart: CreateContainerConfigError, critical, firing', 'cart: PipelineFailed, warning, firing'],
    incidents: ['cart: CreateContainerConfigError, open, critical'],
    links: [
      'shop/cart#812 → cart: CreateContainerConfigError, strong',
      `shop/cart@${NEW} → cart: CreateContainerConfigError, strong`,
    ],
  },
})

/**
 * The deploy succeeds, but under load the release needs more memory than its limit. A successful deploy is a suspect
 * too.
 */
scenario('Killed for memory after a release', {
  deliveries: [
    ended('shop/cart', {
      ...{ id: 812, from: 0, until: 4, status: 'success' },
      jobs: [ran('test', 'success', 0, 1), ran('deploy', 'success', 1, 4)],
    }),
    scaled(1.5, 'cart', NEW, 0, 2),
    scaled(3, 'cart', OLD, 2, 0),
    kube(1.7, 'Pulled', POD, { message: `Successfully pulled image "${IMAGE}" in 1.4s` }),
    kube(6, 'OOMKilled', POD, { message: 'Container app was killed: OOMKilled' }),
    kube(9, 'OOMKilled', OTHER_POD, { message: 'Container app was killed: OOMKilled' }),
    kube(9.5, 'BackOff', POD, {
      message: `Back-off restarting failed container app in pod ${POD}_shop(6d0f)`,
      count: 5,
    }),
    metrics(12, [warning('KubePodCrashLooping', 11, { pod: POD, container: 'app' })]),
  ],
  expect: {
    until: 25,
    services: ['shop/cart'],
    alerts: [
      'cart: CrashLoopBackOff, critical, resolved (expired)',
      'cart: KubePodCrashLooping, warning, firing',
      'cart: OOMKilled, critical, resolved (expired)',
    ],
    incidents: ['cart: OOMKilled, monitoring, critical'],
    links: [
      'shop/cart#812 → cart: OOMKilled, strong',
      `shop/cart@${NEW} → cart: OOMKilled, strong`,
      'shop/cart#812 → cart: CrashLoopBackOff, probable',
      `shop/cart@${NEW} → cart: CrashLoopBackOff, strong`,
      'shop/cart#812 → cart: KubePodCrashLooping, probable',
      `shop/cart@${NEW} → cart: KubePodCrashLooping, strong`,
    ],
  },
})

/**
 * The new pod template crashes and is rolled back to the previous one, whose ReplicaSet still exists. Two ReplicaSet
 * hashes appear; the crash loop ends with the first. The second change fixes the problem, so it is not linked to it.
 */
scenario('A rollback', {
  deliveries: [
    scaled(-60, 'cart', OLD, 0, 2),
    ended('shop/cart', {
      ...{ id: 812, from: 0, until: 3, status: 'success' },
      jobs: [ran('deploy', 'success', 1, 3)],
    }),
    scaled(1.5, 'cart', NEW, 0, 2),
    scaled(2, 'cart', OLD, 2, 0),
    // Reported only after the rollback, so the crash loop is known to be over and opens nothing.
    {
      ...kube(3, 'BackOff', POD, {
        message: `Back-off restarting failed container app in pod ${POD}_shop(6d0f)`,
        count: 5,
      }),
      onTime: true,
    },
    {
      ...kube(5, 'BackOff', OTHER_POD, { message: 'Back-off restarting failed container app in pod x', count: 5 }),
      onTime: true,
    },
    ended('shop/cart', {
      ...{ id: 813, from: 12, until: 14, status: 'success', sha: '5d4f8c7b9a0123456789abcdef0123456789abcd' },
      jobs: [ran('rollback', 'success', 12.5, 14)],
    }),
    scaled(13, 'cart', OLD, 0, 2),
    kube(13.5, 'BackOff', POD, {
      message: `Back-off restarting failed container app in pod ${POD}_shop(6d0f)`,
      count: 40,
    }),
    scaled(14, 'cart', NEW, 2, 0),
  ],
  expect: {
    until: 40,
    services: ['shop/cart'],
    alerts: ['cart: CrashLoopBackOff, critical, resolved (reported)'],
    incidents: ['cart: CrashLoopBackOff, monitoring, critical'],
    links: ['shop/cart#812 → cart: CrashLoopBackOff, strong', `shop/cart@${NEW} → cart: CrashLoopBackOff, strong`],
  },
})
