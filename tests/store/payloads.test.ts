/** Payloads are saved together, and read and deleted one by one. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { deletePayloads, payloadOf, savePayloads } from '../../src/store/payloads.ts'
import type { Db } from '../../src/store/sqlite/open.ts'
import { makeEvent, makeOrganization } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

/** Saves one event for each body, in batches of the given sizes. Returns the row ids. */
function saved(db: Db, bodies: readonly string[], sizes: readonly number[] = [bodies.length]): number[] {
  const organization = makeOrganization(db, 'Acme', 'Team')
  const all = bodies.map((body) => ({ rowId: makeEvent(db, organization).key, body }))
  db.run(db.sql.deleteFrom('payloads'))
  let from = 0
  for (const size of sizes) {
    savePayloads(db, all.slice(from, from + size))
    from += size
  }
  return all.map(({ rowId }) => rowId)
}

const read = (db: Db) =>
  db.all(db.sql.selectFrom('events').select(payloadOf().as('body')).orderBy('id')).map((it) => it.body)
const rows = (db: Db) => db.all(db.sql.selectFrom('payloads').selectAll().orderBy('event_id'))
const many = (count: number) => Array.from({ length: count }, (_, n) => `{"n":${n},"text":"a line\\nand another"}`)
const store = (t: TestContext) => temporaryStore(t)

test('twenty payloads are one row, each reads as it was saved', (t) => {
  const db = store(t)
  saved(db, many(20))
  assert.equal(rows(db).length, 1)
  assert.deepEqual(read(db), many(20))
})

test('seven payloads are not compressed', (t) => {
  const db = store(t)
  saved(db, many(7))
  assert.deepEqual(
    rows(db).map(({ body }) => body),
    many(7),
  )
})

test('a large payload has a row of its own', (t) => {
  const db = store(t)
  const large = JSON.stringify({ text: 'x'.repeat(20_000) })
  const all = [...many(8), large, ...many(8)]
  saved(db, all)
  assert.deepEqual(
    rows(db).map(({ body }) => typeof body === 'string'),
    [false, true, false],
  )
  assert.deepEqual(read(db), all)
})

test('the other payloads of a row stay when one is deleted', (t) => {
  const db = store(t)
  const ids = saved(db, many(9))
  deletePayloads(db, ids.slice(0, 2))
  assert.deepEqual(read(db), [null, null, ...many(9).slice(2)])
  assert.doesNotMatch(JSON.stringify(rows(db)), /"n":0/)
  deletePayloads(db, ids)
  assert.deepEqual(rows(db), [])
})

test('an event without a payload does not read its neighbour’s', (t) => {
  const db = store(t)
  const ids = saved(db, many(2))
  deletePayloads(db, ids.slice(1))
  deletePayloads(db, ids.slice(1))
  assert.deepEqual(read(db), [many(2)[0], null])
})

test('what is left after any deletions reads as it was saved', () => {
  const text = fc.record({
    size: fc.integer({ min: 1, max: 12 }),
    gone: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
  })
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 1, maxLength: 6 }),
      fc.array(fc.json(), { minLength: 72, maxLength: 72 }),
      (batches, json) => {
        const after: (() => void)[] = []
        const db = temporaryStore({ after: (work) => void after.push(work as () => void) })
        const count = batches.reduce((sum, { size }) => sum + size, 0)
        const bodies = json.slice(0, count).map((one) => JSON.stringify(JSON.parse(one)))
        const ids = saved(
          db,
          bodies,
          batches.map(({ size }) => size),
        )
        const gone = batches.flatMap(({ size, gone }) => gone.slice(0, size))
        deletePayloads(
          db,
          ids.filter((_, n) => gone[n]),
        )
        assert.deepEqual(
          read(db),
          bodies.map((body, n) => (gone[n] ? null : body)),
        )
        for (const work of after) work()
      },
    ),
    { numRuns: 30 },
  )
})
