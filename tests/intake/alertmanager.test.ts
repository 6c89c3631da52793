/** Metrics and dashboards: notifications from Alertmanager and Grafana, item by item. */

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { IncmonError } from '../../src/domain/error.ts'
import type { AlertDraft, Intake } from '../../src/domain/event/event.ts'
import { digest, labelFingerprint } from '../../src/domain/event/fingerprint.ts'
import { draftLabels, linksOf, rawLabels } from '../../src/intake/fields.ts'
import { READERS } from '../../src/intake/index.ts'
import { parseBody } from '../../src/intake/json.ts'
import { payload } from '../helpers/payloads.ts'

const { metrics: readMetrics, dashboard: readDashboard } = READERS
const RECEIVED = Date.UTC(2026, 4, 4, 10)
const START = '2026-05-04T09:30:00Z'
const STARTED = Date.UTC(2026, 4, 4, 9, 30)

const alertsOf = ({ accepted }: Intake) => accepted.map(({ draft }) => draft as AlertDraft)

function read(item: object, reader = readMetrics): AlertDraft {
  const [draft] = alertsOf(reader({ alerts: [{ labels: { alertname: 'A' }, startsAt: START, ...item }] }, RECEIVED))
  assert.ok(draft)
  return draft
}

const refusal = (item: unknown) => readMetrics({ alerts: [item] }, RECEIVED).rejected[0]?.error

test('A firing alert happened when it started and has no end', () => {
  const { source, status, at, startsAt, endsAt, name, nature } = read({ endsAt: '0001-01-01T00:00:00Z' })
  assert.deepEqual([source, status, name, nature], ['metrics', 'firing', 'A', 'alert'])
  assert.deepEqual([at, startsAt, endsAt], [STARTED, STARTED, null])
})

test('A resolved alert happened when it ended', () => {
  const { status, at, startsAt, endsAt } = read({ status: 'resolved', endsAt: '2026-05-04T09:40:00Z' })
  assert.deepEqual([status, at, startsAt, endsAt], ['resolved', STARTED + 600_000, STARTED, STARTED + 600_000])
})

test('A missing or future start becomes the time of receipt', () => {
  for (const startsAt of ['0001-01-01T00:00:00Z', null, '2099-01-01T00:00:00Z', {}]) {
    assert.equal(read({ startsAt }).startsAt, RECEIVED)
  }
})

test('A missing end becomes the time of receipt; an end before the start becomes the start', () => {
  assert.equal(read({ status: 'resolved' }).endsAt, RECEIVED)
  assert.equal(read({ status: 'resolved', endsAt: '2026-05-01T00:00:00Z' }).endsAt, STARTED)
})

test('A resolved alert without a start starts at its end', () => {
  const { startsAt, endsAt } = read({ status: 'resolved', startsAt: '', endsAt: START })
  assert.deepEqual([startsAt, endsAt], [STARTED, STARTED])
})

test("The item's status takes precedence over the group's; an unknown status means firing", () => {
  assert.equal(read({ status: 'suppressed' }).status, 'firing')
  const mixed = alertsOf(
    readMetrics({ status: 'resolved', alerts: [{ labels: {} }, { labels: {}, status: 'firing' }] }, 1),
  )
  assert.deepEqual(
    mixed.map(({ status }) => status),
    ['resolved', 'firing'],
  )
})

test('The fingerprint comes from the sender and is computed if it is missing', () => {
  assert.equal(read({ fingerprint: 'abc123' }).fingerprint, 'abc123')
  assert.equal(read({ fingerprint: '' }).fingerprint, labelFingerprint({ alertname: 'A' }))
})

test('The fingerprint covers the labels before secrets are replaced', () => {
  const one = read({ labels: { alertname: 'A', api_key: 'x' } })
  const two = read({ labels: { alertname: 'A', api_key: 'y' } })
  assert.deepEqual([one.labels.api_key, two.labels.api_key], ['[redacted]', '[redacted]'])
  assert.notEqual(one.fingerprint, two.fingerprint)
})

test('The value of a label with a secret name is replaced', () => {
  const { labels } = read({ labels: { api_key: 'x', token: '', pod: 'x', db_password: true } })
  assert.deepEqual({ ...labels }, { api_key: '[redacted]', token: '', pod: 'x', db_password: '[redacted]' })
})

const TEXTS = ['http://prom:9090/graph', 'https://bot:p@h/x', 'token=abc', 'password: a', 'a\0b', '\ud800', '']
const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: 'binary' }))
const texts = fc.dictionary(
  fc.oneof(fc.constantFrom('pod', 'api_key', '__proto__'), fc.string({ unit: 'binary' })),
  text,
)

test('Searching a whole item gives the same result as searching each text', () => {
  fc.assert(
    fc.property(texts, texts, text, (labels, annotations, generatorURL) => {
      const draft = read({ labels, annotations, generatorURL })
      assert.deepEqual(draft.labels, draftLabels(rawLabels(labels, 'labels', () => {})))
      assert.deepEqual(draft.annotations, draftLabels(rawLabels(annotations, 'annotations', () => {})))
      assert.deepEqual(draft.links, linksOf({ generator: generatorURL }))
    }),
    { numRuns: 1000 },
  )
})

test('A nested annotation is searched for secrets after it becomes text', () => {
  const { annotations } = read({ annotations: { note: { password: true }, more: [{ a: 'x' }] } })
  assert.deepEqual({ ...annotations }, { note: '{"password":[redacted]', more: '[{"a":"x"}]' })
})

test('Label values become strings', () => {
  const { labels } = read({ labels: { a: 1, b: true, c: null, d: 'x' } })
  assert.deepEqual({ ...labels }, { a: '1', b: 'true', c: '', d: 'x' })
})

test('Labels with names such as constructor are kept', () => {
  const [draft] = alertsOf(readMetrics(parseBody(Buffer.from(payload('metrics-prototype-labels.json'))), RECEIVED))
  assert.deepEqual(Object.keys(draft?.labels ?? {}), ['alertname', '__proto__', 'constructor', 'toString'])
  assert.equal(Object.getPrototypeOf(draft?.labels), null)
})

test('Names that become equal after redaction are both kept', () => {
  assert.equal(Object.keys(read({ labels: { '\ud800': 'a', '\ud801': 'b' } }).labels).length, 2)
})

test('Nested annotations are stored as JSON', () => {
  assert.deepEqual({ ...read({ annotations: { a: { b: 1 }, c: null } }).annotations }, { a: '{"b":1}', c: '' })
  assert.deepEqual({ ...read({ annotations: 'none' }).annotations }, {})
})

const NAMES: [object, string, AlertDraft['nature']][] = [
  [{ alertname: 'Watchdog' }, 'Watchdog', 'heartbeat'],
  [{ alertname: 'InfoInhibitor' }, 'InfoInhibitor', 'heartbeat'],
  [{ alertname: 'DeadMansSwitch' }, 'DeadMansSwitch', 'heartbeat'],
  [{ alertname: 'DeadMansSnitch' }, 'DeadMansSnitch', 'heartbeat'],
  [{ alertname: 'PrometheusAlertmanagerE2eDeadManSwitch' }, 'PrometheusAlertmanagerE2eDeadManSwitch', 'heartbeat'],
  [{ alertname: 'DatasourceNoData', rulename: 'Disk' }, 'Disk (DatasourceNoData)', 'no-data'],
  [{ alertname: 'DatasourceError' }, 'DatasourceError', 'no-data'],
  [{ alertname: 'TestAlert' }, 'TestAlert', 'test'],
  [{ rulename: 'Disk' }, 'Disk', 'alert'],
  [{ alertname: ' ' }, 'unnamed alert', 'alert'],
  [{}, 'unnamed alert', 'alert'],
  [{ severity: 'critical', title: 'Disk full', check: 'disk' }, 'disk', 'alert'],
  [{ alertname: '', title: ' Disk full ' }, 'Disk full', 'alert'],
  [{ alert: '<no value>', rule: 'DiskFull' }, 'DiskFull', 'alert'],
]

for (const [labels, name, nature] of NAMES) {
  test(`${JSON.stringify(labels)} from a dashboard is ${nature}, named ${name}`, () => {
    const draft = read({ labels }, readDashboard)
    assert.deepEqual([draft.name, draft.nature], [name, nature])
  })
}

test('Only the dashboard webhook marks an alert as a test by its name', () => {
  assert.equal(read({ labels: { alertname: 'TestAlert' } }).nature, 'alert')
})

test('The group key of Grafana’s Test button marks an alert with any labels as a test', () => {
  const natureOf = (groupKey: string, instance: string) => {
    const item = { labels: { alertname: 'Disk', instance }, startsAt: START }
    return alertsOf(readDashboard({ groupKey, alerts: [item] }, RECEIVED))[0]?.nature
  }
  assert.equal(natureOf('webhook-57c6d9296de2ad39-1763977000', 'Grafana'), 'test')
  assert.equal(natureOf('webhook-57c6d9296de2ad39-1763977000', 'db-1:9100'), 'alert')
  assert.equal(natureOf('{}:{alertname="Disk"}', 'Grafana'), 'alert')
})

test('A Grafana rule that cannot be evaluated is a problem of the monitoring, whatever its name is', () => {
  const natureFor = (grafana_state_reason: string) => {
    const item = { labels: { alertname: 'Errors' }, annotations: { grafana_state_reason }, startsAt: START }
    return alertsOf(readDashboard({ alerts: [item] }, RECEIVED))[0]?.nature
  }
  for (const reason of ['Error', 'NoData']) assert.equal(natureFor(reason), 'no-data')
  // With `KeepLast`, the condition was measured before.
  for (const reason of ['', 'MissingSeries', 'Error, KeepLast', 'Updated']) assert.equal(natureFor(reason), 'alert')
})

test('Equal labels of two Grafana organizations are two alerts', () => {
  const [first, second, unknown] = [1, 2, undefined].map((orgId) => {
    const body = { orgId, alerts: [{ labels: { alertname: 'A' }, fingerprint: 'abc', startsAt: START }] }
    return alertsOf(readDashboard(body, RECEIVED))[0]?.fingerprint
  })
  assert.deepEqual([first, unknown], ['abc', 'abc'])
  assert.match(second ?? '', /^[\da-f]{16}$/)
})

test('Links have names, and only http and https are accepted', () => {
  const [draft] = alertsOf(readDashboard(JSON.parse(payload('dashboard-firing.json')), RECEIVED))
  const names = ['alertmanager', 'dashboard', 'generator', 'image', 'panel', 'silence']
  assert.deepEqual(Object.keys(draft?.links ?? {}).sort(), names)
  const urls = { generatorURL: 'javascript:alert(1)', silenceURL: '', imageURL: 'https://a b', panelURL: 7 }
  assert.deepEqual(read({ ...urls, annotations: { runbook_url: 'https://w/r' } }).links, { runbook: 'https://w/r' })
})

test('A group has a receiver and a key of any type', () => {
  const group = (body: object) => readMetrics({ alerts: [], ...body }, RECEIVED).group
  const nobody = digest()
  assert.deepEqual(group({ receiver: 'r', groupKey: '{}:{a="b"}' }), {
    receiver: 'r',
    key: '{}:{a="b"}',
    members: nobody,
    truncated: false,
  })
  assert.deepEqual(group({ groupKey: 12 }), { receiver: '', key: '12', members: nobody, truncated: false })
  assert.equal(group({ truncatedAlerts: 3 })?.truncated, true)
  assert.deepEqual(group({ groupLabels: { b: 1, a: 2 } }), group({ groupLabels: { a: 2, b: 1 } }))
  const labels = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`label-${i}`, i]))
  const first = Object.fromEntries(Object.entries(labels).slice(0, 1_000))
  assert.deepEqual(group({ groupLabels: labels }), group({ groupLabels: first }))
  assert.equal(group({ groupKey: 'x'.repeat(5000) })?.key.length, 16)
})

test('A group is identified by its members and their starts, in any order', () => {
  const one = { status: 'firing', labels: { alertname: 'A' }, startsAt: '2026-03-14T02:00:00Z' }
  const two = { ...one, labels: { alertname: 'B' } }
  const members = (...alerts: object[]) => readMetrics({ alerts }, RECEIVED).group?.members
  assert.equal(members(one, two), members(two, one))
  assert.notEqual(members(one, two), members(one))
  assert.notEqual(members(one), members({ ...one, startsAt: '2026-03-14T02:01:00Z' }))
})

test('An invalid item does not affect others and keeps its index', () => {
  const { accepted, rejected } = readMetrics(JSON.parse(payload('metrics-one-bad-item.json')), RECEIVED)
  assert.deepEqual(
    accepted.map(({ index }) => index),
    [0, 2],
  )
  assert.deepEqual(
    rejected.map(({ index, error }) => [index, error]),
    [[1, 'labels: expected object']],
  )
})

test('An empty list has neither accepted nor rejected items', () => {
  const { accepted, rejected } = readMetrics({ alerts: [] }, RECEIVED)
  assert.deepEqual([accepted, rejected], [[], []])
})

test('The payload is the item as received, without its envelope and secrets', () => {
  const item = { labels: { alertname: 'A' }, values: { B: 1 }, note: 'Bearer abcdefgh' }
  assert.deepEqual(JSON.parse(read(item).payload), { ...item, startsAt: START, note: 'Bearer [redacted]' })
})

const BAD_ITEMS: [unknown, string][] = [
  [7, 'item: expected object'],
  [{}, 'labels: expected object'],
  [{ labels: ['a'] }, 'labels: expected object'],
  [{ label: {} }, 'labels: expected object; did you mean labels instead of label?'],
  [
    { labels: Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [i, ''])) },
    'labels: expected at most 1000 entries',
  ],
]

for (const [item, error] of BAD_ITEMS) {
  test(`${JSON.stringify(item).slice(0, 40)} is stored as a rejection`, () => assert.equal(refusal(item), error))
}

const NAMED = { alertname: 'A', severity: 'page' }
const WARNINGS: [Record<string, unknown>, string | undefined][] = [
  [{ labels: { ...NAMED, a: { b: 1 } } }, 'labels.a: expected string; the label was dropped'],
  [{ labels: { ...NAMED, 'a\n\x1b': [] } }, 'labels.a\ufffd\ufffd: expected string; the label was dropped'],
  [{ status: 'fireing' }, 'status: "fireing" is unknown; the alert is treated as firing'],
  [{ startAt: '2026-03-14T11:00:00Z' }, 'startAt: did you mean startsAt?'],
  [{ Status: 'firing', values: {}, valueString: '', orgId: 1, state: 'up', name: 'x' }, 'Status: did you mean status?'],
  [{ startAt: 'x', startsAt: '2026-03-14T11:00:00Z' }, undefined],
  [{ startsAt: 'yesterday' }, 'startsAt: "yesterday" is not a valid time; the value was ignored'],
  [
    { startsAt: '2099-01-01T00:00:00Z' },
    'startsAt: "2099-01-01T00:00:00Z" is in the future; the time of receipt was used',
  ],
  [{ status: 'resolved', endsAt: [] }, 'endsAt: [] is not a valid time; the value was ignored'],
  [{ status: ' Resolved ', startsAt: '', endsAt: '0001-01-01T00:00:00Z' }, undefined],
  [{ status: 'firing', startsAt: null, labels: { ...NAMED, a: null, b: 1 } }, undefined],
  [
    { labels: { ...NAMED, service: '[no value]' } },
    'labels.service: "[no value]" is a placeholder; the label was ignored',
  ],
  [{ labels: { check: 'disk', severity: 'page' } }, 'labels.alertname: missing; the name is from the label check'],
  [{ labels: { team: 'shop', severity: 'page' } }, 'labels.alertname: missing; the name is “unnamed alert”'],
  [
    { labels: { alertname: 'A', severity: 'banana' } },
    'labels.severity: "banana" is not a known severity; the alert is treated as a warning',
  ],
  [
    { labels: { alertname: 'A', priority: 'P9' } },
    'labels.priority: "P9" is not a known severity; the alert is treated as a warning',
  ],
  [{ labels: { alertname: 'A', severity: ' Critical ', priority: 'P9' } }, undefined],
  [{ labels: { alertname: 'A', severity: '' } }, 'labels.severity: missing; the alert is treated as a warning'],
  [{ labels: { alertname: 'A' } }, 'labels.severity: missing; the alert is treated as a warning'],
  [
    { labels: { alertname: 'A', sloth_severity: 'page' } },
    'labels.severity: missing or unknown; the severity is from labels.sloth_severity',
  ],
  [
    { labels: { alertname: 'A' }, annotations: { severity: 'High' } },
    'labels.severity: missing or unknown; the severity is from annotations.severity',
  ],
  [{ labels: { alertname: 'DeadMansSnitch' } }, undefined],
  [{ labels: { alertname: 'DatasourceNoData', rulename: 'A', severity: 'banana' } }, undefined],
]
for (const [item, warning] of WARNINGS) {
  test(`${JSON.stringify(item)} is accepted with ${warning ? 'a warning' : 'no warning'}`, () => {
    const { accepted, rejected } = readMetrics({ alerts: [{ labels: NAMED, ...item }] }, RECEIVED)
    assert.deepEqual([accepted[0]?.warnings, rejected.length], [warning && [warning], 0])
  })
}

const BAD_BODIES: [unknown, RegExp][] = [
  [null, /^body: expected an object with an alerts array/],
  ['alerts', /^body: expected an object/],
  [[{ labels: {} }], /push format of the Alertmanager API; send the list to \/alertmanager\/api\/v2\/alerts/],
  [{ status: 'firing' }, /^alerts: expected an array/],
  [{ alerts: {} }, /^alerts: expected an array/],
  [{ alert: [] }, /^alerts: expected an array; did you mean alerts instead of alert\?$/],
  [{ ruleId: 1, state: 'ok' }, /legacy alerting/],
  [{ alerts: Array(20_001).fill(0) }, /^alerts: expected at most 20000; set max_alerts/],
]

for (const [body, message] of BAD_BODIES) {
  test(`${JSON.stringify(body).slice(0, 40)} is refused`, () => {
    assert.throws(
      () => readDashboard(body, RECEIVED),
      (error) => error instanceof IncmonError && error.code === 'invalid' && message.test(error.message),
    )
  })
}

test('An alert with more values than any real one is rejected before it is searched for secrets', () => {
  const labels = Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`label${index}`, 'x']))
  const { accepted, rejected } = readMetrics({ alerts: [{ labels }, { labels: { alertname: 'Down' } }] }, 0)
  assert.deepEqual([accepted.length, rejected[0]?.error], [1, 'item: too large; at most 5000 values'])
})

test('Of an alert with more text than any real one, long values are cut, and what is kept has no half secret', () => {
  const long = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`label${index}`, 'a b '.repeat(5_000)]))
  const secret = `${'x'.repeat(505)} glpat-${'A1b2'.repeat(5)} ${'y'.repeat(60_000)}`
  const { accepted } = readMetrics({ alerts: [{ labels: { alertname: 'Down', ...long }, annotations: { secret } }] }, 0)
  const { draft, warnings = [] } = accepted[0] ?? {}
  assert.ok(draft && draft.payload.length < 320_000, `${draft?.payload.length}`)
  assert.ok(warnings.includes('item: more than 262144 characters; its long values were cut'))
  assert.ok(!draft.payload.includes('glpat'))
})

test('A rejected item is cut as well', () => {
  const { rejected } = readMetrics({ alerts: [{ labels: 'x'.repeat(9_000_000) }] }, 0)
  assert.ok(JSON.stringify(rejected[0]?.payload).length < 300_000)
})

test('An item with many short values is stored as it is', () => {
  const labels = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`label${index}`, 'x'.repeat(500)]))
  const { accepted } = readMetrics({ alerts: [{ labels: { alertname: 'Wide', severity: 'error', ...labels } }] }, 0)
  assert.equal(accepted[0]?.warnings, undefined)
  assert.equal(JSON.parse(accepted[0]?.draft.payload ?? '').labels.label899.length, 500)
})
