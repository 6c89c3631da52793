/** Upgrades: a database of every earlier data model comes to the newest, and the interface answers what it always did. */
import assert from 'node:assert/strict'
import { copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import SQLite from 'better-sqlite3'
import { MIGRATIONS, migrate } from '../../src/store/sqlite/migrate.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { asking, assertAnswers, type Recording } from './schemas/answers.ts'

const FOLDER = fileURLToPath(new URL('schemas', import.meta.url))
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.db'))
const MOST_BYTES = 200_000

/** Those of the earlier data models whose file nobody has made. */
function missing(models: number, files: readonly string[]): string[] {
  const earlier = Array.from({ length: models - 1 }, (_, index) => `${String(index + 1).padStart(4, '0')}.db`)
  return earlier.filter((name) => !files.includes(name))
}

function opened(t: TestContext, name: string): Db {
  const copy = join(temporaryDirectory(t), name)
  copyFileSync(join(FOLDER, name), copy)
  const db = openStore(copy)
  t.after(() => db.close())
  return db
}

test('every earlier data model has its file; tests/store/schemas/make.ts makes it, before the next migration', () => {
  assert.deepEqual(missing(MIGRATIONS.length, FILES), [])
})

test('a migration after the newest would want the file of the newest', () => {
  assert.deepEqual(missing(3, ['0001.db']), ['0002.db'])
})

for (const name of FILES) {
  test(`${name} is small, of its data model, and holds rows in every table`, (t) => {
    const db = opened(t, name)
    assert.ok(statSync(join(FOLDER, name)).size < MOST_BYTES)
    assert.equal(db.pragma('user_version'), Number.parseInt(name, 10))
    assert.deepEqual(emptyTables(db.file), [])
  })

  test(`${name}, brought to the newest data model, is answered about as it was recorded`, async (t) => {
    const db = opened(t, name)
    const recording: Recording = JSON.parse(readFileSync(join(FOLDER, name.replace('.db', '.json')), 'utf8'))
    migrate(db, recording.now)
    assert.equal(db.pragma('user_version'), MIGRATIONS.length)
    assert.equal(db.pragma('integrity_check'), 'ok')
    const ask = asking(db, recording)
    for (const { status, body, ...question } of recording.answers) {
      assertAnswers(await ask(question), { ...question, status, body })
    }
    assert.ok(recording.answers.length > 50)
  })
}

function emptyTables(file: string): string[] {
  const sqlite = new SQLite(file)
  const names = sqlite.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
  const empty = names.filter((name) => sqlite.prepare(`SELECT 1 FROM "${name}" LIMIT 1`).get() === undefined)
  sqlite.close()
  return empty
}

test('an answer that lacks a field, changes one, or brings another record is noticed; a new field is not', () => {
  const recorded = { as: 'Acme', path: '/', status: 200, body: { data: [{ id: 'a', name: 'cart' }] } } as const
  const answer = (data: unknown[]) => () => assertAnswers({ ...recorded, body: { data } }, recorded)
  assert.doesNotThrow(answer([{ id: 'a', name: 'cart', owner: null }]))
  assert.throws(answer([{ id: 'a' }]))
  assert.throws(answer([{ id: 'a', name: 'web' }]))
  assert.throws(answer([{ id: 'a', name: 'cart' }, { id: 'b' }]))
})
