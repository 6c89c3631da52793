/** Deliveries of thousands of items: stored in parts, so that nothing else waits for all of them, and still one delivery. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import SQLite from 'better-sqlite3'
import { MINUTE } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const COUNT = 2_500
const MANY = Array.from({ length: COUNT }, (_, i) => alert('PodDown', { pod: `job-${i}`, severity: 'warning' }))

/** A flow that looks at what is stored after each part. */
function watched(t: TestContext) {
  const stored: number[] = []
  let synced = () => {}
  const flow = makeFlow(t, (db) => ({
    ...db,
    sync: async () => {
      stored.push(db.all(db.sql.selectFrom('events').select('id')).length)
      synced()
    },
  }))
  const after = (work: () => void) => {
    synced = work
  }
  return { flow, stored, after }
}

test('a delivery of very many items is stored a thousand at a time, and answered once', async (t) => {
  const { flow, stored } = watched(t)
  const { eventIds } = await flow.send('metrics', alertmanager(MANY))
  assert.deepEqual(stored, [1_000, 2_000, COUNT])
  assert.equal(new Set(eventIds).size, COUNT)
  assert.deepEqual(
    flow.batches.map(({ deliveries, items }) => [deliveries, items]),
    [[1, COUNT]],
  )
})

test('what cannot be used of it is kept once', async (t) => {
  const { flow } = watched(t)
  const { rejected } = await flow.send('metrics', alertmanager([...MANY, { labels: 7 } as never]))
  const kept = flow.deps.db.all(flow.deps.db.sql.selectFrom('rejections').select('item'))
  assert.deepEqual([rejected.length, kept], [1, [{ item: COUNT }]])
})

test('its sender is heard once', async (t) => {
  const { flow } = watched(t)
  await flow.send('metrics', alertmanager(MANY))
  assert.deepEqual(flow.deps.db.all(flow.deps.db.sql.selectFrom('senders').select('events')), [{ events: COUNT }])
  assert.equal(flow.deps.db.all(flow.deps.db.sql.selectFrom('groups').select('id')).length, 1)
})

test('under its Idempotency-Key it is answered again as it was', async (t) => {
  const { flow } = watched(t)
  const first = await flow.send('metrics', alertmanager(MANY), { key: 'long' })
  const again = await flow.send('metrics', alertmanager(MANY), { key: 'long' })
  assert.deepEqual(again, first)
  assert.equal(flow.events().length, COUNT)
})

test('a dry run of it stores nothing', async (t) => {
  const { flow } = watched(t)
  const { decisions } = await flow.send('metrics', alertmanager(MANY), { dryRun: true })
  assert.deepEqual([decisions?.length, flow.events().length], [COUNT, 0])
})

test('where another process holds the store for too long the sender is told what is stored, and may send all again', async (t) => {
  const { flow, stored, after } = watched(t)
  const other = new SQLite(flow.file)
  t.after(() => other.close())
  after(() => {
    if (stored.length > 1) return
    other.exec('BEGIN IMMEDIATE')
    // Longer than anybody waits.
    flow.clock.now += MINUTE
  })
  const told = /another process holds the database: a part of this request was stored, and will not be stored twice/
  await assert.rejects(flow.send('metrics', alertmanager(MANY)), told)
  other.exec('COMMIT')
  const { eventIds } = await flow.send('metrics', alertmanager(MANY))
  assert.deepEqual([new Set(eventIds).size, flow.events().length, flow.alerts().length], [COUNT, COUNT, COUNT])
})

test('where it is held for a moment the next part waits', async (t) => {
  const { flow, stored, after } = watched(t)
  const other = new SQLite(flow.file)
  t.after(() => other.close())
  after(() => {
    if (stored.length > 1) return
    other.exec('BEGIN IMMEDIATE')
    setTimeout(() => other.exec('COMMIT'), 60)
  })
  await flow.send('metrics', alertmanager(MANY))
  assert.equal(flow.events().length, COUNT)
})
