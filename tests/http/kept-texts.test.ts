/** What a server keeps of a long text in memory is a copy: V8 keeps a whole text as long as a part of it is kept. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { makeWorld } from '../helpers/app.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
const heapMegabytes = () => {
  collect()
  return process.memoryUsage().heapUsed / 1e6
}

/** The number of requests for each row, and the number of megabytes in each. */
const REQUESTS = 8
const LONG = 1_000_000

type Sent = readonly [path: string, body: unknown]
const alert = (labels: object, rest: object = {}): Sent => [
  '/api/webhooks/metrics',
  { alerts: [{ labels: { alertname: 'Down', severity: 'critical', service: 'cart', ...labels }, ...rest }] },
]
const event = (rest: object): Sent => [
  '/api/webhooks/cluster',
  { namespace: 'shop', podName: 'cart-6f8d7b9c5-x2kqp', reason: 'BackOff', type: 'Warning', ...rest },
]
const pipeline = (id: number, rest: object): Sent => [
  '/api/webhooks/ci',
  {
    object_kind: 'pipeline',
    object_attributes: { id, ref: 'main', sha: `abc${id}`, status: 'failed' },
    project: { path_with_namespace: `shop/cart${id}`, default_branch: 'main' },
    builds: [{ id, name: 'deploy', stage: 'deploy', status: 'failed', environment: { name: 'production' } }],
    ...rest,
  },
]

/** `text`: unique for each request, and a megabyte long. */
const ROWS: Readonly<Record<string, (text: string, index: number) => Sent>> = {
  'the name of an alert': (text) => alert({ alertname: text }),
  'the name of an alert between spaces': (text, index) =>
    alert({ alertname: `Down${index}${' '.repeat(text.length)}` }),
  'a name from another label': (text) => alert({ alertname: '', title: text }),
  'a service': (text) => alert({ service: text }),
  'a namespace': (text) => alert({ namespace: text }),
  'a pod': (text) => alert({ pod: text }),
  'a pod with a hash': (text, index) => alert({ pod: `cart${index}-6f8d7b9c5-x2kqp ${text}` }),
  'a node': (text) => alert({ node: text }),
  'an instance with a port': (text, index) => alert({ service: '', instance: `host-number-${index}:${text}` }),
  'a namespace before a slash': (text, index) => alert({ service: `namespace-number-${index}/${text}` }),
  'a job': (text) => alert({ service: '', job: text }),
  'a cluster': (text) => alert({ cluster: text }),
  'a severity': (text, index) => alert({ severity: text, index: `${index}` }),
  'a severity in an annotation': (text, index) =>
    alert({ severity: '', index: `${index}` }, { annotations: { severity: text } }),
  'a summary': (text, index) => alert({ index: `${index}` }, { annotations: { summary: text } }),
  'a host in a summary': (text, index) =>
    alert(
      { index: `${index}` },
      { annotations: { summary: `dial tcp: lookup host-number-${index}: no such host ${text}` } },
    ),
  'a runbook': (text, index) =>
    alert({ index: `${index}` }, { annotations: { runbook_url: `http://runbooks/${text}` } }),
  'a fingerprint': (text, index) => alert({ index: `${index}` }, { fingerprint: text }),
  'the rule of an alert without data': (text) => alert({ alertname: 'DatasourceError', rulename: text }),
  'the message of an event': (text) => event({ message: text }),
  'an image in a message': (text, index) =>
    event({ reason: 'Failed', message: `Failed to pull image "registry${index}.example/shop/app:v${index}": ${text}` }),
  'an image that was pulled': (text, index) =>
    event({
      reason: 'Pulled',
      type: 'Normal',
      message: `Successfully pulled image "registry.example/shop/app${index}:v1" ${text}`,
    }),
  'a pod that could not be created': (text, index) =>
    event({
      involvedObjectKind: 'ReplicaSet',
      podName: `web-number-${index}-6f8d7b9c5`,
      reason: 'FailedCreate',
      message: text,
    }),
  'a commit': (text, index) => pipeline(index + 1, { commit: { message: text, title: text } }),
  'the first line of a commit': (text, index) =>
    pipeline(index + 1, { commit: { message: `The first line of ${index}\n${text}` } }),
  'a job of a pipeline': (text, index) =>
    pipeline(index + 1, {
      builds: [{ id: index, name: text, stage: 'deploy', status: 'failed', failure_reason: text }],
    }),
}

for (const [name, sentOf] of Object.entries(ROWS)) {
  test(`nothing keeps the rest of the text of ${name}`, async (t) => {
    const { acme, request } = makeWorld(t)
    const send = async (index: number, length: number) => {
      const [path, body] = sentOf(`${index}-${'abcdefg '.repeat(length / 8)}`, index)
      return (await request('POST', path, { token: acme.token, body })).status
    }
    for (let index = 90; index < 90 + REQUESTS; index += 1) await send(index, 80)
    const before = heapMegabytes()
    for (let index = 0; index < REQUESTS; index += 1) assert.equal(await send(index, LONG), 200)
    const grown = heapMegabytes() - before
    assert.ok(grown < REQUESTS / 4, `${grown.toFixed(1)} of ${REQUESTS} MB are kept`)
  })
}

const OF_PEOPLE: Readonly<Record<string, (spaces: string, index: number) => Sent>> = {
  'a service': (spaces, index) => [
    '/api/services',
    { name: `a-new-service-${index}${spaces}`, namespace: `shop${spaces}` },
  ],
  'an alias': (spaces, index) => [
    '/api/services',
    {
      name: `other${index}`,
      namespace: 'shop',
      aliases: [{ kind: 'image', value: `shop/an-image-of-${index}${spaces}` }],
    },
  ],
  'a silence': (spaces, index) => [
    '/api/silences',
    {
      matchers: [{ name: 'service', op: '=', value: `cart${index}` }],
      endsAt: '2099-01-01',
      comment: `the upgrade number ${index}${spaces}`,
    },
  ],
  'a silence of Alertmanager': (spaces, index) => [
    '/alertmanager/api/v2/silences',
    {
      matchers: [{ name: 'service', value: `cart${index}`, isRegex: false }],
      startsAt: '2026-01-01T00:00:00Z',
      endsAt: '2099-01-01T00:00:00Z',
      createdBy: 'a person with a name',
      comment: `the upgrade number ${index}${spaces}`,
      annotations: { ticket: `${index}${'x'.repeat(spaces.length / 2)}` },
    },
  ],
}

const JSON_TYPE = { 'content-type': 'application/json' }

for (const [name, sentOf] of Object.entries(OF_PEOPLE)) {
  test(`nothing keeps the spaces after the name of ${name}`, async (t) => {
    const { acme, request } = makeWorld(t)
    const send = async (index: number, length: number) => {
      const [path, body] = sentOf(' '.repeat(length), index)
      return (await request('POST', path, { token: acme.token, body, headers: JSON_TYPE })).status
    }
    for (let index = 90; index < 90 + REQUESTS; index += 1) await send(index, 80)
    const before = heapMegabytes()
    for (let index = 0; index < REQUESTS; index += 1) assert.match(`${await send(index, LONG / 2)}`, /^20[01]$/)
    const grown = heapMegabytes() - before
    assert.ok(grown < REQUESTS / 8, `${grown.toFixed(1)} of ${REQUESTS / 2} MB are kept`)
  })
}
