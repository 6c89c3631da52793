/** What the way to incmon does to deliveries: cut, late, reversed, doubled, without ends, or none at all. */
import assert from 'node:assert/strict'
import { type Delivery, ended, fires, kube, late, metrics, ran, scaled, TAG, warning } from '../helpers/deliveries.ts'
import { scenario } from '../helpers/scenario.ts'
import { grafana, times, watchdog } from '../helpers/senders.ts'

const NEW = '7c9f6d5b8'
const POD = `cart-${NEW}-x2kqp`
const MESSAGE = `Failed to pull image "registry.example/shop/cart:${TAG}": not found`

/** A failed deploy and the three events that tell why. */
const DEPLOY = ended('shop/cart', {
  ...{ id: 812, from: 0, until: 6, status: 'failed' },
  jobs: [ran('deploy', 'failed', 1, 6)],
})
const EVENTS = [
  scaled(1.5, 'cart', NEW, 0, 1),
  kube(2, 'Failed', POD, { message: MESSAGE, count: 2 }),
  kube(5, 'Failed', POD, { message: MESSAGE, count: 8 }),
]
const BAD_DEPLOY = {
  services: ['shop/cart'],
  alerts: ['cart: ImagePullBackOff, critical, firing', 'cart: PipelineFailed, warning, firing'],
  incidents: ['cart: ImagePullBackOff, open, critical'],
  links: ['shop/cart#812 → cart: ImagePullBackOff, strong', `shop/cart@${NEW} → cart: ImagePullBackOff, strong`],
}

/** The address of kube-state-metrics is a label, and so part of the fingerprint; grouped by it, each has its own queue. */
function crashLooping(at: number, instance: string, since: number, until?: number): Delivery {
  const labels = { job: 'kube-state-metrics', instance, pod: POD, container: 'app' }
  const groupKey = `{}:{instance="${instance}"}`
  return metrics(at, [warning('KubePodCrashLooping', since, labels, until)], { groupKey })
}

/** The exporter restarts under another address while the trouble goes on: one alert, which its old name does not end. */
scenario('A restart of the exporter', {
  deliveries: [
    crashLooping(0, '10.0.0.7:8080', 0),
    crashLooping(5, '10.0.0.9:8080', 5),
    crashLooping(7, '10.0.0.7:8080', 0, 6.5),
  ],
  expect: {
    until: 19,
    services: ['shop/cart'],
    alerts: ['cart: KubePodCrashLooping, warning, firing'],
    incidents: [],
    links: [],
  },
})

/** Alertmanager sends a refused group again for ever, so that the good items are taken and the bad one is kept aside. */
scenario('A group with one bad item', {
  deliveries: [
    metrics(2, [
      fires('CartDown', 1, { deployment: 'cart' }),
      { status: 'firing', labels: 'alertname=Broken' },
      warning('CartQueueLong', 1, { deployment: 'cart' }),
    ]),
  ],
  expect: {
    until: 10,
    services: ['shop/cart'],
    alerts: ['cart: CartDown, critical, firing', 'cart: CartQueueLong, warning, firing'],
    incidents: ['cart: CartDown, open, critical'],
    links: [],
  },
  check: ({ deps: { db } }, acme) => {
    const kept = db.all(db.sql.selectFrom('rejections').select(['item']).where('organization_id', '=', acme.key))
    assert.deepEqual(kept, [{ item: 1 }])
  },
})

/** The exporter was cut off and sends what it kept, the newest first, long after the pipeline was said to have failed. */
scenario('Events 20 minutes late and reversed', {
  deliveries: [DEPLOY, ...[...EVENTS].reverse().map((event, n) => late(event, 25 + n / 10))],
  expect: { until: 39, ...BAD_DEPLOY },
})

/** A hook whose answer was lost bears the same key again; an exporter and a pair of Alertmanagers say things twice. */
scenario('The same delivery twice', {
  deliveries: [
    { ...DEPLOY, key: '0f6e0c6e-812' },
    { ...late(DEPLOY, 7), key: '0f6e0c6e-812' },
    ...EVENTS,
    ...EVENTS,
    metrics(4, [fires('CartDown', 3, { deployment: 'cart' })]),
    metrics(4, [fires('CartDown', 3, { deployment: 'cart' })]),
  ],
  expect: {
    until: 19,
    services: BAD_DEPLOY.services,
    alerts: [...BAD_DEPLOY.alerts, 'cart: CartDown, critical, firing'],
    incidents: BAD_DEPLOY.incidents,
    links: [...BAD_DEPLOY.links, 'shop/cart#812 → cart: CartDown, strong', `shop/cart@${NEW} → cart: CartDown, strong`],
  },
  check: ({ deps: { db }, events }, acme) => {
    assert.equal(events(acme).filter(({ name, source }) => source === 'ci' && name === 'shop/cart').length, 1)
    const counts = db.sql.selectFrom('correlations').select('evidence_count').where('organization_id', '=', acme.key)
    const most = Math.max(...db.all(counts).map(({ evidence_count }) => evidence_count))
    assert.equal(most, 2, 'copies are no further evidence')
  },
})

/**
 * The receiver is set to `send_resolved: false`: the group comes every five minutes, and then no more. Three missed
 * repeats are an end, which is only inferred. The rhythm is what teaches it, so that these deliveries come on time.
 */
scenario('Ends that are never reported', {
  deliveries: [0, 5, 10, 15].map((at) => ({
    ...metrics(at, [fires('CartDown', 0, { deployment: 'cart' })]),
    onTime: true,
  })),
  expect: {
    until: 100,
    services: ['shop/cart'],
    alerts: ['cart: CartDown, critical, resolved (inferred)'],
    incidents: ['cart: CartDown, monitoring, critical'],
    links: [],
  },
})

/** The alert that always fires comes every five minutes; its silence means that trouble would not be told any more. */
scenario('Watchdog stops', {
  deliveries: times(0, 35, 5).map((at) => ({ at, source: 'metrics', body: watchdog(), onTime: true })),
  expect: {
    until: 120,
    services: ['source/metrics/incmon'],
    alerts: [],
    incidents: ['source silent: metrics/incmon, open, critical'],
    links: [],
  },
})

/**
 * A rule without data is sent under another name and keeps its own in a label: a fault of monitoring, never an outage,
 * whatever severity the rule has. The Test button's alert opens nothing.
 */
scenario('Grafana has no data', {
  deliveries: [
    noData(0, fires('DatasourceNoData', 0, { rulename: 'CartErrorRate', deployment: 'cart' })),
    noData(3, fires('TestAlert', 3, { instance: 'Grafana' })),
  ],
  expect: {
    until: 19,
    services: ['shop/cart'],
    alerts: ['cart: CartErrorRate, warning, firing'],
    incidents: [],
    links: [],
  },
})

function noData(at: number, alert: unknown): Delivery {
  return { at, source: 'dashboard', body: grafana([alert]) }
}

/** Both have a service `cart`, with pods of the same names; only the one of them that deployed has a suspect. */
scenario('Two organizations with the same service names', {
  deliveries: [DEPLOY, ...EVENTS, ...EVENTS.slice(1).map((event) => ({ ...event, as: 'charlie' as const }))],
  expect: {
    until: 19,
    ...BAD_DEPLOY,
    charlie: {
      services: ['shop/cart'],
      alerts: ['cart: ImagePullBackOff, critical, firing'],
      incidents: ['cart: ImagePullBackOff, open, critical'],
      links: [],
    },
  },
})
