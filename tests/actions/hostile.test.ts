/** What a hostile or broken sender must not be able to do to others. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop } from '../helpers/senders.ts'

test('an alert keeps a limited number of fingerprints and still ends', async (t) => {
  const flow = makeFlow(t)
  const labels = { app: 'cart' }
  for (let from = 0; from < 300; from += 100) {
    const many = Array.from({ length: 100 }, (_, n) => alert('Down', labels, { fingerprint: `f${from + n}` }))
    await flow.send('metrics', alertmanager(many))
  }
  const kept = flow.deps.db.all(flow.deps.db.sql.selectFrom('alert_fingerprints').select('fingerprint'))
  assert.equal(kept.length, 64)
  assert.equal(flow.alerts().length, 1)
  const ends = kept.map(({ fingerprint }) => alert('Down', labels, { fingerprint, endsAt: NOON + MINUTE }))
  await flow.send('metrics', alertmanager(ends), { at: NOON + 2 * MINUTE })
  assert.equal(flow.alerts()[0]?.status, 'resolved')
})

test('a service that cannot be evaluated is postponed, and the others are swept', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop('cart-5d4f8c7b9-x2kqp'))
  await flow.send('cluster', crashLoop('shop-5d4f8c7b9-x2kqp'))
  flow.deps.db.execute(`CREATE TRIGGER t BEFORE UPDATE OF health ON services WHEN old.name = 'cart'
    BEGIN SELECT RAISE(ABORT, 'poison'); END`)
  flow.clock.now = NOON + 90 * MINUTE
  await assert.rejects(flow.deps.engine.sweep(), AggregateError)
  assert.deepEqual(
    flow.alerts().map(({ status }) => status),
    ['resolved', 'resolved'],
  )
  assert.equal(await flow.deps.engine.sweep(), false)
})

test('a sender whose clock shows 1970 does not backdate the incident', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('Down', { app: 'cart' }, { startsAt: 1_000_000_000 })]))
  assert.equal(flow.incidents()[0]?.started_at, NOON)
})

const KEPT = [
  '__proto__',
  'constructor',
  'toString',
  'a\u2028b',
  '\u202eabc',
  '😀',
  'e\u0301',
  'é',
  '{{ . }}',
  'x'.repeat(200),
]
const REPLACED = { 'a\0b': 'a\ufffdb', '\ud800': '\ufffd' }

for (const [sent, kept] of [...KEPT.map((text) => [text, text] as const), ...Object.entries(REPLACED)]) {
  test(`a label named ${JSON.stringify(sent.slice(0, 20))} keeps its name and value`, async (t) => {
    const flow = makeFlow(t)
    const text = JSON.stringify(alertmanager([alert('Down', { app: 'cart' })]))
    const hostile = `${JSON.stringify(sent)}:${JSON.stringify(sent)}`
    await flow.send('metrics', JSON.parse(text.replace('"app":"cart"', () => `"app":"cart",${hostile}`)))
    const labels = Object.entries(JSON.parse(flow.alerts()[0]?.labels ?? '{}'))
    assert.deepEqual(
      labels.find(([name]) => name === kept),
      [kept, kept],
    )
  })
}
