/** Delivery problems: truncated, late, out of order, duplicated, without ends, or missing deliveries. */
import assert from 'node:assert/strict'
import { type Delivery, ended, fires, kube, late, metrics, ran, scaled, TAG, warning } from '../helpers/deliveries.ts'
import { scenario } from '../helpers/scenario.ts'
import { grafana, times, watchdog } from '../helpers/senders.ts'

const NEW = '7c9f6d5b8'
const POD = `cart-${NEW}-x2kqp`
const MESSAGE = `Failed to pull image "registry.example/shop/cart:${TAG}": not found`

/** A failed deploy and the three events that explain it. */
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

/**
 * The address of kube-state-metrics is a label and therefore part of the fingerprint. If alerts are grouped by it, each
 * address has its own queue.
 */
function crashLooping(at: number, instance: string, since: number, until?: number): Delivery {
  const labels = { job: 'kube-state-metrics', instance, pod: POD, container: 'app' }
  const groupKey = `{}:{instance="${instance}"}`
  return metrics(at, [warning('KubePodCrashLooping', since, labels, until)], { groupKey })
}

/**
 * The exporter restarts with a different address while the problem continues. There is still one alert, which the old
 * address does not end.
 */
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

/**
 * Alertmanager retries a rejected group forever, so valid items are accepted and the invalid one is stored as a
 * rejection.
 */
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

/**
 * The exporter was disconnected and sends its backlog, newest first, long after the pipeline's failure was reported.
 */
scenario('Events 20 minutes late and reversed', {
  deliveries: [DEPLOY, ...[...EVENTS].reverse().map((event, n) => late(event, 25 + n / 10))],
  expect: { until: 39, ...BAD_DEPLOY },
})

/**
 * GitLab retries with the same key if the response was lost. Exporters and pairs of Alertmanagers send everything
 * twice.
 */
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
 * The receiver has `send_resolved: false`: the group arrives every five minutes and then stops. After three missed
 * repeats, the end is inferred. Because the interval is learned, these deliveries arrive on time.
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
    incidents: ['cart: CartDown, resolved, critical'],
    links: [],
  },
})

/** The alert that always fires arrives every five minutes. If it stops, problems would no longer be reported. */
scenario('Watchdog stops', {
  deliveries: times(0, 35, 5).map((at) => ({ at, source: 'metrics', body: watchdog(), onTime: true })),
  expect: {
    until: 120,
    services: ['source/metrics/incmon'],
    alerts: [],
    incidents: ['sender silent: Alertmanager (incmon), open, critical'],
    links: [],
  },
})

/**
 * A rule without data is sent under a different name, with its own name in a label. This is a monitoring problem, not
 * an outage, whatever the rule's severity. The alert from the Test button opens nothing.
 */
scenario('Grafana has no data', {
  deliveries: [
    noData(0, fires('DatasourceNoData', 0, { rulename: 'CartErrorRate', deployment: 'cart' })),
    noData(3, fires('TestAlert', 3, { instance: 'Grafana' })),
  ],
  expect: {
    until: 19,
    services: ['shop/cart'],
    alerts: ['cart: CartErrorRate (DatasourceNoData), warning, firing'],
    incidents: [],
    links: [],
  },
})

function noData(at: number, alert: unknown): Delivery {
  return { at, source: 'dashboard', body: grafana([alert]) }
}

/** Both organizations have a `cart` service with pods of the same names. Only the one that deployed has a suspect. */
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
