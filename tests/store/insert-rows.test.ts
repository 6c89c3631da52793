/** Inserts of several rows leave out columns that are null in every row, because binding nulls takes time. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { insertRows } from '../../src/store/sqlite/query.ts'
import { makeOrganization, makeService } from '../helpers/factory.ts'
import { listening } from '../helpers/listening.ts'
import { temporaryStore } from '../helpers/store.ts'

/** Inserts one sender per time and returns the last statement and the stored times. */
function insertSenders(t: TestContext, times: readonly (number | null)[]) {
  const queries = new Set<string>()
  const db = listening(queries)(temporaryStore(t))
  const organization_id = makeOrganization(db, 'Acme', 'Team').key
  insertRows(db, 'senders', [...times.entries()], ([index, last_event_at]) => {
    return { organization_id, source: 'metrics' as const, cluster: '', receiver: `${index}`, last_event_at }
  })
  const statement = [...queries].at(-1) ?? ''
  const stored = db.all(db.sql.selectFrom('senders').select('last_event_at').orderBy('id'))
  return { statement, stored: stored.map((row) => row.last_event_at) }
}

test('a column that is null in every row is left out', (t) => {
  const { statement, stored } = insertSenders(t, [null, null])
  assert.doesNotMatch(statement, /last_event_at/)
  assert.deepEqual(stored, [null, null])
})

test('a column that is null in some rows is inserted into all rows', (t) => {
  const { statement, stored } = insertSenders(t, [null, 7, null])
  assert.match(statement, /last_event_at/)
  assert.deepEqual(stored, [null, 7, null])
})

test('no rows need no statement', (t) => {
  assert.doesNotMatch(insertSenders(t, []).statement, /senders/)
})

test('rows that list their columns in different orders are refused', (t) => {
  const db = temporaryStore(t)
  const rows = [
    { tag: '1', path: 'shop/cart' },
    { path: 'shop/cart', tag: '2' },
  ]
  const service_id = makeService(db, makeOrganization(db, 'Acme', 'Team'), 'cart').key
  const insert = () => insertRows(db, 'images', rows, (row) => ({ ...row, service_id, pulled_at: 9 }))
  assert.throws(insert, /must list its columns in the order tag,path,service_id,pulled_at/)
})
