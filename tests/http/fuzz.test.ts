/** Random requests never cause an internal error, and every response is documented in openapi.json. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { figure, judging, quantile } from '../faults/generator.ts'
import { sized } from '../faults/size.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeIncident, makeService } from '../helpers/factory.ts'

/** The number of bodies per webhook and for REST. */
const BODIES = sized(20_000, 3_000, 300)
const WRITES = sized(5_000, 1_000, 300)
const FIELDS = [
  'title',
  'serviceId',
  'severity',
  'status',
  'startedAt',
  'name',
  'namespace',
  'aliases',
  'text',
  'scopes',
]
const ITEM = [
  'alerts',
  'labels',
  'annotations',
  'startsAt',
  'endsAt',
  'status',
  'fingerprint',
  'object_kind',
  'project',
]
const KUBERNETES = [
  'reason',
  'message',
  'podName',
  'count',
  'involvedObject',
  'metadata',
  'object_attributes',
  'builds',
]

const nested = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, fc.jsonValue(), fc.array(tie('value'), { maxLength: 4 }), tie('object')),
  object: fc.dictionary(fc.constantFrom(...FIELDS, ...ITEM, ...KUBERNETES), tie('value'), { maxKeys: 6 }),
})).object

for (const source of ['cluster', 'metrics', 'dashboard', 'ci']) {
  test(`no body makes the ${source} webhook fail`, async (t) => {
    const { charlie, request } = makeWorld(t)
    const judge = judging(t, 28, process.pid)
    const times: number[] = []
    const post = async (body: unknown) => {
      const began = performance.now()
      const { status } = await request('POST', `/api/webhooks/${source}`, { token: charlie.token, body })
      times.push(performance.now() - began)
      assert.ok([200, 400].includes(status), String(status))
    }
    await fc.assert(fc.asyncProperty(fc.oneof(nested, fc.uint8Array()), post), { numRuns: BODIES / 2 })
    await fc.assert(
      fc.asyncProperty(fc.array(nested, { maxLength: 5 }), (alerts) => post({ alerts })),
      { numRuns: BODIES / 2 },
    )
    const p99 = quantile(times, 0.99)
    figure(t, 28, `${BODIES} bodies for ${source}, p99 ${p99.toFixed(1)} ms`)
    judge(p99 <= 50, `p99 ${p99.toFixed(1)} ms`)
  })
}

test('no body causes a 5xx in a REST write', async (t) => {
  const { db, acme, request } = makeWorld(t)
  const service = makeService(db, acme, 'cart')
  const incident = makeIncident(db, acme, service)
  const writes = [
    ['POST', '/api/services'],
    ['PATCH', `/api/services/${service.id}`],
    ['POST', '/api/incidents'],
    ['PATCH', `/api/incidents/${incident.id}`],
    ['POST', `/api/incidents/${incident.id}/notes`],
    ['PATCH', '/api/organization'],
    ['POST', '/api/tokens'],
  ] as const
  const property = fc.asyncProperty(
    fc.constantFrom(...writes),
    fc.oneof(nested, fc.uint8Array()),
    async (write, body) => {
      const { status } = await request(write[0] ?? '', write[1] ?? '', { token: acme.token, body })
      assert.ok([200, 201, 400, 409, 422].includes(status), `${write.join(' ')}: ${status}`)
    },
  )
  await fc.assert(property, { numRuns: WRITES })
  figure(t, 28, `${WRITES} bodies for REST, every response as documented`)
})

test('no query string causes a 5xx in a list', async (t) => {
  const { acme, request } = makeWorld(t)
  const names = fc.constantFrom('page', 'limit', 'from', 'to', 'q', 'serviceId', 'status', 'minScore', '__proto__', '%')
  const query = fc.array(
    fc.tuple(names, fc.oneof(fc.webQueryParameters(), fc.constantFrom('1', '%E0%A4%A', '%00', ''))),
  )
  const lists = fc.constantFrom('alerts', 'events', 'incidents', 'correlations', 'rejections', 'sources', 'services')
  const property = fc.asyncProperty(lists, query, async (list, pairs) => {
    const path = `/api/${list}?${pairs.map((pair) => pair.join('=')).join('&')}`
    const { status } = await request('GET', path, { token: acme.token })
    assert.ok([200, 400].includes(status), `${path}: ${status}`)
  })
  await fc.assert(property, { numRuns: WRITES })
})
