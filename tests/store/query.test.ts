/** Prepared queries: placeholders are bound by name on every execution. */
import assert from 'node:assert/strict'
import { constants, DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sql as raw } from 'kysely'
import { query } from '../../src/store/sqlite/query.ts'
import { makeOrganization } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

const named = query<{ name: string }>()((sql, hole) =>
  sql.selectFrom('organizations').select('plan').where('name', '=', hole('name')),
)

test('a query is compiled to text with one placeholder per parameter', () => {
  assert.equal(named.text, 'select "plan" from "organizations" where "name" = +?')
  assert.deepEqual(named.parameters({ name: 'Acme' }), ['Acme'])
})

test('the same query runs with other arguments', (t) => {
  const db = temporaryStore(t)
  makeOrganization(db, 'Acme', 'Team')
  makeOrganization(db, 'Basil', 'Free')
  const plans = ['Acme', 'Basil', 'Charlie'].map((name) => db.first(named, { name })?.plan)
  assert.deepEqual(plans, ['Team', 'Free', undefined])
})

test('a parameter can be used several times, and constants are written out', () => {
  const between = query<{ at: number; key: number }>()((sql, hole) =>
    sql
      .selectFrom('tokens')
      .select('id')
      .where('organization_id', '=', hole('key'))
      .where('cluster', '=', 'staging')
      .where('created_at', '<=', hole('at'))
      .where('expires_at', '>', hole('at')),
  )
  assert.deepEqual(between.parameters({ at: 7, key: 1 }), [1, 7, 7])
  assert.match(between.text, /"cluster" = 'staging' and/)
})

test('SQLite prepares it once for all arguments', () => {
  const newest = query<{ limit: number }>()((sql, hole) =>
    sql.selectFrom('organizations').select('id').orderBy('id').limit(hole('limit')),
  )
  const sqlite = new DatabaseSync(':memory:')
  sqlite.exec('CREATE TABLE organizations (id INTEGER PRIMARY KEY)')
  const planned: number[] = []
  sqlite.setAuthorizer((action) => planned.push(action) && constants.SQLITE_OK)
  const statement = sqlite.prepare(newest.text)
  const once = planned.length
  for (const limit of [1, 20, 300]) statement.all(...(newest.parameters({ limit }) as number[]))
  assert.deepEqual([once > 0, planned.length], [true, once])
})

test('a constant with a quote is escaped, and one with a question mark is refused', () => {
  const named = (name: string) =>
    query<{ key: number }>()((sql, hole) =>
      sql.selectFrom('organizations').select('plan').where('id', '=', hole('key')).where('name', '=', name),
    )
  assert.match(named("O'Neill").text, /"name" = 'O''Neill'$/)
  const asking = query()((sql) => sql.selectFrom('organizations').select(raw<string>`'?'`.as('x')))
  assert.throws(() => asking.text, TypeError)
})

test('an argument is never part of the SQL text', (t) => {
  const db = temporaryStore(t)
  makeOrganization(db, 'Acme', 'Team')
  assert.deepEqual(db.all(named, { name: "' OR 1=1 --" }), [])
})

test('a prepared change returns the number of changed rows', (t) => {
  const db = temporaryStore(t)
  makeOrganization(db, 'Acme', 'Team')
  const rename = query<{ from: string; to: string }>()((sql, hole) =>
    sql
      .updateTable('organizations')
      .set({ name: hole('to') })
      .where('name', '=', hole('from')),
  )
  assert.equal(db.run(rename, { from: 'Acme', to: 'Acme Ltd' }), 1)
  assert.equal(db.run(rename, { from: 'Acme', to: 'Acme Ltd' }), 0)
})
