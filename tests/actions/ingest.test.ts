/** Ingest: an acknowledged request is stored once, and a request that cannot be stored does not affect others. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openStore } from '../../src/store/sqlite/open.ts'
import { MINUTE, NOON, newUuid } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop, job, kubernetesEvent, pipeline } from '../helpers/senders.ts'
import { eventually } from '../helpers/server.ts'

const TABLES = ['events', 'alerts', 'services', 'incidents'] as const
const MORE_TABLES = [
  'timeline',
  'senders',
  'groups',
  'payloads',
  'idempotency_keys',
  'rejections',
  'image_projects',
] as const

function rows({ deps: { db } }: Flow): Record<string, number> {
  const count = (table: (typeof TABLES | typeof MORE_TABLES)[number]) =>
    db.first(db.sql.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('n')))?.n ?? -1
  return Object.fromEntries([...TABLES, ...MORE_TABLES].map((table) => [table, count(table)]))
}

/** Locks the database from another process until the returned function is called. */
function holdStore(t: TestContext, { file }: Flow): () => void {
  const other = openStore(file, { busyMs: 0 })
  t.after(() => other.close())
  other.execute('BEGIN IMMEDIATE')
  return () => other.execute('ROLLBACK')
}

/** A delivery that cannot be stored, because its organization does not exist. */
const poison = (flow: Flow) => flow.delivery('metrics', alertmanager([alert('Poison')]), { as: { key: 99, id: '' } })

test('a receipt lists each accepted item in order, and each is stored', async (t) => {
  const flow = makeFlow(t)
  const { eventIds, rejected } = await flow.send('metrics', alertmanager([alert('A'), alert('B')]))
  assert.equal(eventIds.length, 2)
  assert.deepEqual(rejected, [])
  assert.deepEqual(
    flow.events().map(({ name }) => name),
    ['A', 'B'],
  )
})

test('an invalid item does not affect others and is stored as a rejection', async (t) => {
  const flow = makeFlow(t)
  const { eventIds, rejected } = await flow.send('metrics', alertmanager([alert('A'), { labels: 7 }, alert('B')]))
  assert.equal(eventIds.length, 2)
  assert.deepEqual(rejected, [{ index: 1, error: 'labels: expected object' }])
  assert.equal(rows(flow).rejections, 1)
})

test('a request whose decision fails does not affect the rest of its batch', async (t) => {
  const flow = makeFlow(t)
  const [before, bad, after] = await Promise.allSettled([
    flow.send('metrics', alertmanager([alert('A')])),
    flow.submit(poison(flow)),
    flow.send('cluster', crashLoop('cart-5d4f8c7b9-x2kqp')),
  ])
  assert.deepEqual([before.status, bad.status, after.status], ['fulfilled', 'rejected', 'fulfilled'])
  assert.equal(flow.events().length, 2)
  assert.ok(flow.notices.every(({ organizationId }) => organizationId !== 99))
})

test('a service that cannot be evaluated fails only the request that changed it', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop('cart-5d4f8c7b9-x2kqp'))
  flow.deps.db.execute(`CREATE TRIGGER t BEFORE UPDATE OF health ON services WHEN old.name = 'cart'
    BEGIN SELECT RAISE(ABORT, 'poison'); END`)
  const [bad, good] = await Promise.allSettled([
    flow.send('cluster', kubernetesEvent('FailedMount', 'cart-5d4f8c7b9-x2kqp')),
    flow.send('cluster', crashLoop('shop-5d4f8c7b9-x2kqp')),
  ])
  assert.deepEqual([bad.status, good.status], ['rejected', 'fulfilled'])
  assert.equal(flow.events().length, 2)
})

test('a repeated idempotency key returns the same IDs and stores nothing', async (t) => {
  const flow = makeFlow(t)
  const first = await flow.send('ci', pipeline('failed'), { key: 'one' })
  const before = rows(flow)
  const again = await Promise.all(Array.from({ length: 50 }, () => flow.send('ci', pipeline('failed'), { key: 'one' })))
  for (const receipt of again) assert.deepEqual(receipt, first)
  assert.deepEqual(rows(flow), before)
})

test('a key is valid for one source, one organization and one day', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop('cart-1'), { key: 'one' })
  await flow.send('ci', pipeline('failed'), { key: 'one' })
  await flow.send('cluster', crashLoop('cart-1'), { key: 'one', as: flow.charlie })
  await flow.send('cluster', crashLoop('cart-1'), { key: 'one', at: NOON + 24 * 60 * MINUTE })
  assert.deepEqual([flow.events().length, flow.events(flow.charlie).length], [3, 1])
})

test('a request without a valid item can be retried with its key', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([{ labels: 7 }]), { key: 'one' })
  const { eventIds } = await flow.send('metrics', alertmanager([alert('A')]), { key: 'one' })
  assert.equal(eventIds.length, 1)
})

test('a dry run makes every decision, stores nothing and announces nothing', async (t) => {
  const flow = makeFlow(t)
  const before = rows(flow)
  const { decisions = [] } = await flow.send('metrics', alertmanager([alert('A', { deployment: 'cart' })]), {
    dryRun: true,
  })
  const [decision] = decisions
  assert.equal(decision?.service.name, 'cart')
  assert.deepEqual([decision?.alert?.change, decision?.health?.status], ['opened', 'critical'])
  assert.deepEqual(rows(flow), before)
  assert.deepEqual(flow.notices, [])
})

test('a dry run ignores the idempotency key', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop('cart-1'), { key: 'one' })
  const { decisions } = await flow.send('cluster', crashLoop('cart-1'), { key: 'one', dryRun: true })
  assert.equal(decisions?.length, 1)
  await flow.send('cluster', crashLoop('cart-1'), { key: 'two', dryRun: true })
  const { eventIds } = await flow.send('cluster', crashLoop('cart-1'), { key: 'two' })
  assert.deepEqual([eventIds.length, flow.events().length], [1, 2])
})

test('an Idempotency-Key belongs to one cluster', async (t) => {
  const flow = makeFlow(t)
  const send = (cluster: string, name: string) =>
    flow.send('metrics', alertmanager([alert(name)]), { key: '1', cluster })
  const [prod, staging, again] = [await send('prod', 'A'), await send('staging', 'B'), await send('prod', 'A')]
  assert.notDeepEqual(prod.eventIds, staging.eventIds)
  assert.deepEqual(prod.eventIds, again.eventIds)
})

test('a dry run of a storm lists the ten highest penalties of each service', async (t) => {
  const flow = makeFlow(t)
  const alerts = Array.from({ length: 30 }, (_, i) => alert(`Storm${i}`, { deployment: 'cart' }))
  const { decisions } = await flow.send('metrics', alertmanager(alerts), { dryRun: true })
  assert.deepEqual([decisions?.length, decisions?.[29]?.health?.penalties.length], [30, 10])
})

test('the same alert a hundred times at once is one alert in one incident', async (t) => {
  const flow = makeFlow(t)
  const body = alertmanager([alert('CartDown', { deployment: 'cart' })])
  await Promise.all(Array.from({ length: 100 }, () => flow.send('metrics', body)))
  assert.deepEqual([flow.alerts().length, flow.incidents().length, flow.events().length], [1, 1, 1])
  assert.equal(flow.alerts()[0]?.occurrences, 100)
  assert.equal(rows(flow).payloads, 1)
})

test('five thousand alerts in one request get five thousand different ids', async (t) => {
  const flow = makeFlow(t)
  const alerts = Array.from({ length: 5000 }, (_, i) => alert('PodDown', { pod: `job-${i}`, severity: 'warning' }))
  const { eventIds } = await flow.send('metrics', alertmanager(alerts))
  assert.equal(new Set(eventIds).size, 5000)
  assert.deepEqual([flow.events().length, flow.alerts().length], [5000, 5000])
})

test('more requests than fit into one batch are all answered, in order', async (t) => {
  const flow = makeFlow(t)
  const receipts = await Promise.all(
    Array.from({ length: 600 }, (_, i) => flow.send('ci', job(`job ${i}`, 'success', 'a/b', { build_id: i }))),
  )
  assert.equal(new Set(receipts.flatMap(({ eventIds }) => eventIds)).size, 600)
})

test('a locked database is retried', async (t) => {
  let tries = 0
  const flow = makeFlow(t, (db) => ({
    ...db,
    transactionAhead: (work) => {
      tries += 1
      return db.transactionAhead(work)
    },
  }))
  const release = holdStore(t, flow)
  const waiting = flow.send('cluster', crashLoop('cart-1'))
  await eventually(
    async () => tries,
    (count) => count > 2,
  )
  assert.equal(flow.events().length, 0)
  release()
  assert.equal((await waiting).eventIds.length, 1)
  assert.equal(flow.events().length, 1)
})

test('if a database stays locked, the request fails with unavailable after the retries, and nothing is stored', async (t) => {
  const flow = makeFlow(t)
  const release = holdStore(t, flow)
  const refused = assert.rejects(flow.send('cluster', crashLoop('cart-1')), { code: 'unavailable' })
  flow.clock.now += 5_001
  await refused
  release()
  assert.equal(flow.events().length, 0)
})

test('a later request is still retried if an earlier one is refused', async (t) => {
  const flow = makeFlow(t)
  const release = holdStore(t, flow)
  const early = assert.rejects(flow.send('cluster', crashLoop('cart-1')), { code: 'unavailable' })
  const late = flow.send('cluster', kubernetesEvent('Scheduled', 'cart-1'), { at: NOON + 5_001 })
  await early
  release()
  assert.equal((await late).eventIds.length, 1)
})

test('a full queue refuses requests immediately, except from senders that never retry', async (t) => {
  const flow = makeFlow(t)
  const [again, never] = [flow.delivery('dashboard', { alerts: [] }), flow.delivery('ci', pipeline('success'))]
  const outcomes = await Promise.allSettled([...Array(2001).fill(again), never].map((one) => flow.submit(one)))
  const refused = outcomes.flatMap(({ status }, index) => (status === 'rejected' ? index : []))
  assert.deepEqual(refused, [2000])
})

test('a batch is counted after its commit: stored, rejected and repeated items, without dry runs', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('A'), alert('B'), { labels: 7 }]), { key: 'one' })
  await flow.send('metrics', alertmanager([alert('A'), alert('B'), { labels: 7 }]), { key: 'one' })
  await flow.send('metrics', alertmanager([alert('C')]), { dryRun: true })
  assert.deepEqual(
    flow.batches.map(({ milliseconds, ...batch }) => ({ ...batch, took: milliseconds > 0 })),
    [
      { deliveries: 1, items: 2, rejected: 1, repeated: 0, took: true },
      { deliveries: 1, items: 0, rejected: 0, repeated: 1, took: true },
    ],
  )
})

test('in a failed batch only stored items are counted', async (t) => {
  const flow = makeFlow(t)
  await Promise.allSettled([flow.send('metrics', alertmanager([alert('A')])), flow.submit(poison(flow))])
  assert.deepEqual(
    flow.batches.map(({ deliveries, items }) => [deliveries, items]),
    [[1, 1]],
  )
})

test('closing stores pending requests and refuses new ones', async (t) => {
  const flow = makeFlow(t)
  const waiting = flow.send('cluster', crashLoop('cart-1'))
  await flow.closeIngest()
  await assert.rejects(flow.send('cluster', crashLoop('cart-1')), { code: 'unavailable' })
  assert.equal((await waiting).eventIds.length, 1)
})

test('Charlie has no record of what Acme sends, not even of the sender', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('A', { deployment: 'cart' })]), { key: newUuid() })
  assert.deepEqual([flow.events(flow.charlie), flow.alerts(flow.charlie), flow.services(flow.charlie)], [[], [], []])
  assert.ok(flow.notices.every(({ organizationId }) => organizationId === flow.acme.key))
})
