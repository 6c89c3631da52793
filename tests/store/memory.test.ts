/** Memory: what is remembered of hot rows is never older than the tables, whoever writes them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { effectOf } from '../../src/store/memory.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { makeOrganization } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

function nameOf(db: ReturnType<typeof temporaryStore>): string | undefined {
  return db.first(db.sql.selectFrom('organizations').select('name'))?.name
}

/** Reads through memory, as the write path does. */
function remembered(db: ReturnType<typeof temporaryStore>): string | undefined {
  db.refresh()
  return db.memory.row('tokens', 'acme', () => nameOf(db) ?? null) ?? undefined
}

function rename(db: ReturnType<typeof temporaryStore>, name: string): void {
  db.run(db.sql.updateTable('organizations').set({ name }))
}

test('a row is loaded once, and again after its table was written', (t) => {
  const db = temporaryStore(t)
  makeOrganization(db, 'Acme', 'Pro')
  let loads = 0
  const ask = () => db.memory.row('tokens', 'acme', () => ({ load: ++loads }))
  assert.deepEqual([ask(), ask()], [{ load: 1 }, { load: 1 }])
  rename(db, 'Acme Ltd')
  assert.deepEqual(ask(), { load: 2 })
})

test('a write of another process is seen after a refresh, a millisecond later at most', async (t) => {
  const db = temporaryStore(t)
  makeOrganization(db, 'Acme', 'Pro')
  assert.equal(remembered(db), 'Acme')
  const other = openStore(db.file)
  t.after(() => other.close())
  rename(other, 'Acme Ltd')
  await pause(2)
  assert.equal(remembered(db), 'Acme Ltd')
})

test('what a rollback undoes is forgotten', (t) => {
  const db = temporaryStore(t)
  makeOrganization(db, 'Acme', 'Pro')
  assert.throws(() =>
    db.transaction(() => {
      rename(db, 'Other')
      remembered(db)
      throw new Error('undone')
    }),
  )
  assert.equal(remembered(db), 'Acme')
})

test('an answer is asked for again after an insert, a row is not', (t) => {
  const db = temporaryStore(t)
  let asked = 0
  const answer = () => db.memory.answer('tokens', 'how many', () => ++asked)
  const row = () => db.memory.row('tokens', 'first', () => ({ asked: ++asked }))
  assert.deepEqual([answer(), row(), answer()], [1, { asked: 2 }, 1])
  makeOrganization(db, 'Acme', 'Pro')
  assert.deepEqual([row(), answer()], [{ asked: 2 }, 3])
})

test('what is missing is not remembered', (t) => {
  const db = temporaryStore(t)
  assert.equal(remembered(db), undefined)
  makeOrganization(db, 'Acme', 'Pro')
  assert.equal(remembered(db), 'Acme')
})

test('a write that waits is done before a statement that names its table, and the last of a key counts', (t) => {
  const db = temporaryStore(t)
  makeOrganization(db, 'Acme', 'Pro')
  db.transaction(() => {
    for (const name of ['First', 'Second']) db.memory.later('tokens', 'name', name, (last) => rename(db, last))
    assert.equal(db.memory.waiting('tokens', 'name'), 'Second')
    assert.equal(nameOf(db), 'Second')
    assert.equal(db.memory.waiting('tokens', 'name'), null)
  })
})

test('a write that waits is part of its transaction: committed with it, undone with it', (t) => {
  const db = temporaryStore(t)
  makeOrganization(db, 'Acme', 'Pro')
  const later = (name: string) => db.memory.later('tokens', 'name', name, (last) => rename(db, last))
  db.transaction(() => later('Committed'))
  assert.equal(nameOf(db), 'Committed')
  assert.throws(() =>
    db.transaction(() => {
      later('Undone')
      throw new Error('undone')
    }),
  )
  assert.equal(nameOf(db), 'Committed')
})

test('a savepoint that is undone takes nothing with it that waited before it', (t) => {
  const db = temporaryStore(t)
  makeOrganization(db, 'Acme', 'Pro')
  const later = (name: string) => db.memory.later('tokens', 'name', name, (last) => rename(db, last))
  db.transaction(() => {
    later('Kept')
    assert.throws(() =>
      db.transaction(() => {
        later('Undone')
        throw new Error('undone')
      }),
    )
  })
  assert.equal(nameOf(db), 'Kept')
})

test('of more rows than fit the oldest are loaded anew, and the others are still there', (t) => {
  const db = temporaryStore(t)
  for (let i = 0; i <= 40_000; i++) db.memory.keep('tokens', String(i), { i })
  const [oldest, newer] = ['0', '20000'].map((key) => db.memory.row('tokens', key, () => ({ i: 'loaded' })))
  assert.deepEqual([oldest, newer], [{ i: 'loaded' }, { i: 20_000 }])
})

test('an answer about an object is asked once, and again after a write', (t) => {
  const db = temporaryStore(t)
  const [one, other] = [{}, {}]
  let asked = 0
  const ask = (about: object) => db.memory.answer('tokens', about, () => ++asked)
  assert.deepEqual([ask(one), ask(one), ask(other)], [1, 1, 2])
  makeOrganization(db, 'Acme', 'Pro')
  assert.equal(ask(one), 3)
})

for (const [text, reads, writes] of [
  ['select "name" from "events" where "alert_id" = ?', ['changes'], null],
  ['select 1 from "rejections"', [], null],
  ['insert into "alerts" ("uuid") values (?)', [], { shelf: 'alerts', inserts: true }],
  ['update "active_alerts" set "due_at" = ?', ['alerts'], { shelf: 'alerts', inserts: false }],
  ['replace into "active_fingerprints" values (?)', ['alerts'], { shelf: 'alerts', inserts: false }],
  [
    'insert into "pipelines" ("ref") values (?) on conflict do update set "ref" = ?',
    ['changes'],
    { shelf: 'changes', inserts: false },
  ],
  ['delete from "services" where "id" = ?', ['places'], { shelf: 'places', inserts: false }],
  ['insert into "timeline" select "id" from "services"', ['places'], null],
] as const) {
  test(`what memory has to know of: ${text}`, () => {
    assert.deepEqual(effectOf(text), { reads, writes })
  })
}
