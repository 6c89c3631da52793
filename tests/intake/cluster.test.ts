/** Cluster: Kubernetes events in the formats of their exporters. */

import assert from 'node:assert/strict'
import test from 'node:test'
import type { ClusterDraft } from '../../src/domain/event/event.ts'
import { readCluster } from '../../src/intake/cluster.ts'
import { payload } from '../helpers/payloads.ts'

const RECEIVED = Date.UTC(2026, 4, 4, 10)
const LEAST = { podName: 'web-1', reason: 'BackOff' }

function read(body: unknown): ClusterDraft {
  const draft = readCluster(body, RECEIVED).accepted[0]?.draft
  assert.ok(draft?.source === 'cluster')
  return draft
}

const readFile = (file: string) => read(JSON.parse(payload(file)))

function refusal(body: unknown): string | undefined {
  const intake = readCluster(body, RECEIVED)
  assert.deepEqual(intake.accepted, [])
  return intake.rejected[0]?.error
}

test('Reads a layout with values in Go syntax', () => {
  const { at, startsAt, count, reason, object } = readFile('cluster-layout-go-times.json')
  assert.deepEqual([at, startsAt, count], [Date.UTC(2026, 4, 4, 9, 41, 12), Date.UTC(2026, 4, 4, 9, 30), 31])
  assert.deepEqual([reason, object.container, object.node], ['BackOff', 'web', 'pool-b-2'])
})

test('A UTC offset is taken into account', () => {
  assert.equal(readFile('cluster-layout-local-zone.json').startsAt, Date.UTC(2026, 4, 4, 9, 30))
})

test('Reads labels from a JSON string and from additional flat keys; skips unset labels', () => {
  assert.deepEqual(
    { ...readFile('cluster-layout-null-count.json').object.labels },
    { tier: 'edge', 'app.kubernetes.io/name': 'checkout', 'pod-template-hash': '6c9d7f5b84' },
  )
  assert.deepEqual({ ...read({ ...LEAST, app: 'event-stream' }).object.labels }, {})
})

test('A whole event has a type, owners, labels and the name of its cluster', () => {
  const { type, cluster, object } = readFile('cluster-whole-event.json')
  assert.deepEqual([type, cluster, object.container], ['Warning', 'south-1', 'web'])
  for (const label of ['cluster', 'cluster_name', 'k8s_cluster', 'clusterName'])
    assert.equal(read({ ...LEAST, [label]: 'north-2' }).cluster, 'north-2')
  assert.deepEqual(object.owners, [{ kind: 'ReplicaSet', name: 'checkout-6c9d7f5b84' }])
  assert.equal(object.labels['app.kubernetes.io/name'], 'checkout')
})

test('A series has the count and the last time', () => {
  const { at, startsAt, count } = readFile('cluster-whole-series.json')
  assert.deepEqual([at, startsAt, count], [Date.UTC(2026, 4, 4, 9, 50), Date.UTC(2026, 4, 4, 9, 30, 0, 120), 9])
})

const NEWER = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: 'web.1', namespace: 'shop' },
  eventTime: null,
  deprecatedCount: 25,
  deprecatedFirstTimestamp: '2026-05-04T09:30:00Z',
  deprecatedLastTimestamp: '2026-05-04T09:50:00Z',
  deprecatedSource: { component: 'kubelet', host: 'worker-1' },
  note: 'Back-off restarting failed container web in pod web-1_shop(0d7c)',
  reason: 'BackOff',
  regarding: { kind: 'Pod', name: 'web-1', namespace: 'shop', fieldPath: 'spec.containers{web}' },
  type: 'Warning',
}

test('Reads an event of events.k8s.io/v1, also inside object, event or a list', () => {
  for (const body of [
    NEWER,
    { type: 'ADDED', object: NEWER },
    { verb: 'ADDED', event: NEWER },
    { items: [NEWER] },
    [NEWER],
  ]) {
    const { reason, message, count, type, object, at, startsAt } = read(body)
    assert.deepEqual([reason, message, count, type], ['BackOff', NEWER.note, 25, 'Warning'])
    assert.deepEqual(
      [object.namespace, object.name, object.node, object.container],
      ['shop', 'web-1', 'worker-1', 'web'],
    )
    assert.deepEqual([startsAt, at], [Date.UTC(2026, 4, 4, 9, 30), Date.UTC(2026, 4, 4, 9, 50)])
  }
})

test('A series of events.k8s.io/v1 has the count and the last time', () => {
  const series = { count: 7, lastObservedTime: '2026-05-04T09:55:00.5Z' }
  const { count, at } = read({ ...NEWER, deprecatedCount: 1, eventTime: '2026-05-04T09:30:00Z', series })
  assert.deepEqual([count, at], [7, Date.UTC(2026, 4, 4, 9, 55, 0, 500)])
})

test('Each event of a list is judged by itself', () => {
  const intake = readCluster({ kind: 'EventList', items: [NEWER, { regarding: {} }, 7] }, RECEIVED)
  assert.deepEqual([intake.accepted.length, intake.rejected.map(({ index }) => index)], [1, [1, 2]])
})

test('The severity of Flux is a type', () => {
  const flux = {
    involvedObject: { kind: 'Kustomization', name: 'apps', namespace: 'flux-system' },
    reason: 'BuildFailed',
  }
  assert.equal(read({ ...flux, severity: 'error', timestamp: '2026-05-04T09:30:00Z' }).type, 'Warning')
  assert.equal(read({ ...flux, severity: 'info' }).type, 'Normal')
})

test('Reads kwatch keys in any case; logs stay in the payload', () => {
  const { reason, message, cluster, object, payload } = readFile('cluster-kwatch.json')
  assert.deepEqual([reason, message, cluster, object.container], ['CrashLoopBackOff', '', null, 'web'])
  assert.match(JSON.parse(payload).Logs, /^panic/)
})

test('A node has no namespace, even if the layout sends one', () => {
  const { object } = read({ ...LEAST, involvedObjectKind: 'Node', namespace: 'default', podName: 'pool-1' })
  assert.deepEqual([object.kind, object.namespace, object.node, object.container], ['Node', '', 'pool-1', null])
})

test('The smallest valid event is about a pod, with count 1, at the time of receipt', () => {
  const { at, startsAt, count, type, cluster, object } = read(LEAST)
  assert.deepEqual([at, startsAt, count, type, cluster], [RECEIVED, RECEIVED, 1, null, null])
  assert.deepEqual([object.kind, object.namespace, object.node], ['Pod', '', null])
})

test('A message alone is sufficient', () => {
  assert.equal(read({ podName: 'web-1', message: 'm' }).reason, '')
})

test('Times are never later than the receipt, and the first is never later than the last', () => {
  const future = read({ ...LEAST, firstTime: '2099-01-01T00:00:00Z', lastTime: '2098-01-01T00:00:00Z' })
  assert.deepEqual([future.startsAt, future.at], [RECEIVED, RECEIVED])
  const swapped = read({ ...LEAST, firstTime: '2026-05-02T00:00:00Z', lastTime: '2026-05-01T00:00:00Z' })
  assert.ok(swapped.startsAt === swapped.at)
})

const COUNTS: [unknown, number][] = [
  ['27', 27],
  [3.9, 3],
  ['3.0', 3],
  [-3, 1],
  [0, 1],
  ['', 1],
  [null, 1],
]
COUNTS.push([Number.POSITIVE_INFINITY, 1], ['many', 1], [{}, 1], [2 ** 64, 2 ** 31 - 1])

for (const [sent, count] of COUNTS) {
  test(`A count of ${JSON.stringify(sent)} is ${count}`, () =>
    assert.equal(read({ ...LEAST, count: sent }).count, count))
}

const CONTAINERS: [string, string | null][] = [
  ['Back-off restarting failed container web in pod web-1_shop(1)', 'web'],
  ['Back-off 5m0s restarting failed container=web pod=web-1_shop(1)', 'web'],
  ['Created container: web', 'web'],
  ['Started container web', 'web'],
  ['Container web failed liveness probe, will be restarted', 'web'],
  ['(combined from similar events): Stopping container web', 'web'],
  ['Back-off restarting failed container', null],
  ['Container image "web:1" already present on machine', null],
  ['The container of the ship in pod 3', null],
]

for (const [message, container] of CONTAINERS) {
  test(`"${message}" names ${container ?? 'no container'}`, () => {
    assert.equal(read({ ...LEAST, message }).object.container, container)
  })
}

for (const field of ['type', 'tip', 'severity']) {
  test(`A layout can write the type into ${field}`, () => {
    const details = { kind: 'Volume', name: 'pvc-1', namespace: 'longhorn-system', reason: 'Faulted' }
    assert.equal(read({ eventType: 'kube-event', details: { ...details, [field]: 'Warning' } }).type, 'Warning')
    assert.equal(read({ ...LEAST, [field]: 'Normal' }).type, 'Normal')
    assert.equal(read({ ...LEAST, [field]: 'critical' }).type, null)
  })
}

const FLAT = { kind: 'Pod', name: 'web-7d9f5b6c8-xk2lp', namespace: 'shop' }
for (const [form, prefix, object, separator] of [
  ['eventrouter', 'event_', 'involvedObject', '_'],
  ['a log collector', '', 'involvedObject', '.'],
  ['a collector of events.k8s.io', 'kubernetes.event.', 'regarding', '.'],
] as const) {
  test(`An event that ${form} made flat has its object, its times and its node`, () => {
    const objects = Object.entries(FLAT).map(([key, value]) => [`${prefix}${object}${separator}${key}`, value])
    const draft = read({
      ...Object.fromEntries(objects),
      [`${prefix}reason`]: 'BackOff',
      [`${prefix}message`]: 'Back-off restarting failed container web in pod x',
      [`${prefix}type`]: 'Warning',
      [`${prefix}count`]: 9,
      [`${prefix}source${separator}host`]: 'node-1',
      [`${prefix}metadata${separator}name`]: 'web.17f',
      [`${prefix}lastTimestamp`]: '2026-03-14T11:59:00Z',
      ...(prefix === '' ? {} : { verb: 'ADDED' }),
    })
    assert.deepEqual([draft.reason, draft.type, draft.count, draft.object.node], ['BackOff', 'Warning', 9, 'node-1'])
    assert.deepEqual([draft.object.kind, draft.object.name, draft.object.namespace], Object.values(FLAT))
    assert.deepEqual([draft.object.container, new Date(draft.at).getUTCMinutes()], ['web', 59])
  })
}

test('An init container is named by its field path', () => {
  assert.equal(read({ ...LEAST, fieldPath: 'spec.initContainers{migrate}' }).object.container, 'migrate')
})

test('Only a pod has containers', () => {
  assert.equal(read({ ...LEAST, involvedObjectKind: 'Node', message: 'Started container web' }).object.container, null)
})

test('Secrets are replaced in the message, the labels and the payload', () => {
  const draft = read({ ...LEAST, message: 'pull https://bot:pw123@reg/x', labels: { api_token: 'pw123' } })
  assert.doesNotMatch(JSON.stringify(draft), /pw123/)
})

test('NUL and lone surrogates are replaced in searchable text', () => {
  assert.equal(read({ ...LEAST, message: 'a\0b\ud800' }).message, 'a\ufffdb\ufffd')
})

const REFUSALS: [unknown, RegExp][] = [
  [{ reason: 'BackOff', podname: 'a' }, /^podName: expected .+; did you mean podName instead of podname\?$/],
  [{ reason: 'BackOff' }, /^podName: expected the name/],
  [{ podName: '<no value>', reason: 'BackOff' }, /^podName: expected the name/],
  [{ podName: 'web-1', reason: '', message: null }, /^reason: expected a reason or a message/],
  [{ ...LEAST, namespace: { a: 1 } }, /^namespace: expected string$/],
  [{ ...LEAST, reason: ['x'] }, /^reason: expected string$/],
  [{ ...LEAST, message: 7 }, /^message: expected string$/],
  [{ reason: 'x', involvedObject: { name: 7 } }, /^involvedObject.name: expected string$/],
  [{ ...LEAST, podName: 'x'.repeat(2000) }, /^podName: expected at most 1024 characters$/],
  ['BackOff', /^item: expected object$/],
  [null, /^item: expected object$/],
]

for (const [body, error] of REFUSALS) {
  test(`${JSON.stringify(body).slice(0, 60)} is stored as a rejection`, () => assert.match(refusal(body) ?? '', error))
}

test('Names that become equal after redaction are numbered in linear time', () => {
  const keys = Array.from({ length: 4000 }, (_, n) => [
    String.fromCharCode(0xd800 + (n % 1024), 0xd800 + Math.floor(n / 1024)),
    'x',
  ])
  const { labels } = read({ ...LEAST, ...Object.fromEntries(keys) }).object
  assert.ok(Object.keys(labels).length > 100 && Object.keys(labels).length <= 200)
})
