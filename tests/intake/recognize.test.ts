/** Detecting the sender of a payload given to `explain`. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { adviseWebhook, recognizeSource, warnOfWebhook } from '../../src/intake/recognize.ts'

const FIXTURES = new URL('../fixtures/payloads/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, FIXTURES), 'utf8')
const USED: readonly { file: string; endpoint: string; status: number; events: number }[] = JSON.parse(
  read('index.json'),
).filter(({ status, events }: { status: number; events: number }) => status === 200 && events > 0)

test('every recorded payload is recognized', () => {
  assert.ok(USED.length > 40)
  const wrong = USED.map(({ file, endpoint }) => ({ file, endpoint, found: recognizeSource(JSON.parse(read(file))) }))
  assert.deepEqual(
    wrong.filter(({ endpoint, found }) => found !== endpoint),
    [],
  )
})

for (const [what, body] of [
  ['a list', []],
  ['text', 'alerts'],
  ['an object of no sender', { hello: 'world' }],
  ['an object of two senders', { alerts: [], object_kind: 'pipeline' }],
  ['a field that no sender sends as text', { alerts: 'none' }],
] as const) {
  test(`${what} is not recognized`, () => assert.equal(recognizeSource(body), null))
}

const alertmanager = { alerts: [{ labels: {} }] }
for (const [what, body, source, advice] of [
  [
    'an alert at the cluster webhook',
    alertmanager,
    'cluster',
    /^x: bad; this payload looks like one from Alertmanager: send it to \/api\/webhooks\/metrics$/,
  ],
  [
    'a Grafana alert at the ci webhook',
    { orgId: 1, ...alertmanager },
    'ci',
    /from Grafana: send it to \/api\/webhooks\/dashboard$/,
  ],
  [
    'an event at the metrics webhook',
    { podName: 'cart-1' },
    'metrics',
    /from a Kubernetes event exporter: send it to \/api\/webhooks\/cluster$/,
  ],
  [
    'a pipeline at the dashboard webhook',
    { object_kind: 'push' },
    'dashboard',
    /from GitLab: send it to \/api\/webhooks\/ci$/,
  ],
  ['an alert at the dashboard webhook', alertmanager, 'dashboard', /^x: bad; send y$/],
  ['an unknown payload', { hello: 'world' }, 'cluster', /^x: bad; send y$/],
  ['a payload of its own sender', { podName: '' }, 'cluster', /^x: bad; send y$/],
] as const) {
  test(`the advice about ${what}`, () => assert.match(adviseWebhook('x: bad; send y', body, source), advice))
}

const whole = { version: '4', groupKey: '{}', externalURL: 'http://am:9093', ...alertmanager }
for (const [what, body, source, warning] of [
  ['Alertmanager at the dashboard webhook', whole, 'dashboard', /one from Alertmanager, .* send it to .*\/metrics$/],
  [
    'Grafana at the metrics webhook',
    { orgId: 1, ...whole },
    'metrics',
    /one from Grafana, .* send it to .*\/dashboard$/,
  ],
] as const) {
  test(`a warning about ${what}`, () => assert.match(warnOfWebhook(body, source) ?? '', warning))
}

for (const [what, body, source] of [
  ['Alertmanager at its own webhook', whole, 'metrics'],
  ['Grafana at its own webhook', { orgId: 1, ...whole }, 'dashboard'],
  ['a payload template of Grafana', alertmanager, 'dashboard'],
  ['an alert of Grafana', { ...whole, alerts: [{ labels: {}, silenceURL: 'http://g' }] }, 'dashboard'],
  ['a list', [], 'dashboard'],
] as const) {
  test(`no warning about ${what}`, () => assert.equal(warnOfWebhook(body, source), null))
}
