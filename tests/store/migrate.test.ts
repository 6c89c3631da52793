/** Migrations: forward only, once each, after making a copy, and never on a newer file. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { migrationText } from '../../src/assets.ts'
import { listOrganizations } from '../../src/store/organizations.ts'
import { inspectFile } from '../../src/store/sqlite/inspect.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { MIGRATIONS, type Migrations, migrate, migrationStates } from '../../src/store/sqlite/schema/migrate.ts'
import { makeOrganization, makeService } from '../helpers/factory.ts'
import { temporaryDirectory, temporaryStore } from '../helpers/store.ts'

const SQL = fileURLToPath(new URL('../../sql', import.meta.url))
const OPEN = new URL('../../src/store/sqlite/open.ts', import.meta.url).href
const MIGRATE = new URL('../../src/store/sqlite/schema/migrate.ts', import.meta.url).href

/** Returns the program's migrations and an additional one. */
function extended(text: string): Migrations {
  const textOf = (name: string) => (name === '9999_next' ? text : migrationText(name))
  return { names: [...MIGRATIONS, '9999_next'], textOf }
}

test('the list of migrations matches the folder, in order', () => {
  const files = readdirSync(SQL).sort()
  assert.deepEqual(
    files,
    MIGRATIONS.map((name) => `${name}.sql`),
  )
})

test('a new file gets all migrations with their times, without a copy', (t) => {
  const db = openStore(join(temporaryDirectory(t), 'incmon.db'))
  t.after(() => db.close())
  assert.ok(migrationStates(db).every(({ appliedAt }) => appliedAt === null))
  assert.deepEqual(migrate(db, 1234), { applied: [...MIGRATIONS], copy: null })
  assert.ok(migrationStates(db).every(({ appliedAt }) => appliedAt === 1234))
})

test('a second run changes nothing', (t) => {
  const db = temporaryStore(t)
  assert.deepEqual(migrate(db, 99), { applied: [], copy: null })
  assert.ok(migrationStates(db).every(({ appliedAt }) => appliedAt === 0))
})

test('an upgrade first makes a private and complete copy', (t) => {
  const db = temporaryStore(t)
  makeOrganization(db, 'Acme', 'Team')
  const { applied, copy } = migrate(db, 1, extended('DELETE FROM organizations; CREATE TABLE next (id INTEGER) STRICT'))
  assert.deepEqual([applied, copy], [['9999_next'], `${db.file}.before-9999_next`])
  assert.equal(statSync(copy ?? '').mode & 0o777, 0o600)
  const older = openStore(copy ?? '')
  t.after(() => older.close())
  assert.deepEqual(
    listOrganizations(older).map(({ name }) => name),
    ['Acme'],
  )
  assert.equal(older.pragma('user_version'), MIGRATIONS.length)
})

test('a failed migration leaves the file unchanged and can be retried', (t) => {
  const db = temporaryStore(t)
  assert.throws(() => migrate(db, 1, extended('CREATE TABLE next (id INTEGER) STRICT; SELECT nonsense')))
  assert.equal(db.pragma('user_version'), MIGRATIONS.length)
  assert.deepEqual(migrate(db, 1, extended('CREATE TABLE next (id INTEGER) STRICT')).applied, ['9999_next'])
})

test('a migration that breaks a reference fails', (t) => {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  makeService(db, acme, 'cart')
  assert.throws(() => migrate(db, 1, extended('DELETE FROM organizations')), /not upgraded: a row of services refers/)
  assert.deepEqual([listOrganizations(db).length, db.pragma('foreign_keys')], [1, 1])
  assert.throws(() => makeService(db, { ...acme, key: 99 }, 'pay'), /FOREIGN KEY/)
})

test('nothing is upgraded without a copy', (t) => {
  const db = temporaryStore(t)
  mkdirSync(join(`${db.file}.before-9999_next`, 'in the way'), { recursive: true })
  assert.throws(() => migrate(db, 1, extended('SELECT 1')), /could not be copied to .+, so it was not upgraded/)
  assert.equal(db.pragma('user_version'), MIGRATIONS.length)
  assert.ok(!existsSync(`${db.file}.before-9999_next.part`))
})

test('a file of a newer version is refused in one line and stays unchanged', (t) => {
  const db = temporaryStore(t)
  migrate(db, 1, extended('CREATE TABLE next (id INTEGER) STRICT'))
  db.pragma('wal_checkpoint(TRUNCATE)')
  const before = readFileSync(db.file)
  const [newer, known] = [MIGRATIONS.length + 1, MIGRATIONS.length]
  assert.throws(() => migrate(db, 1), {
    message: `${db.file} has schema version ${newer}, but this version of incmon supports at most ${known}: use a newer version of incmon, or restore an older backup`,
  })
  assert.ok(readFileSync(db.file).equals(before))
})

test('several processes at once migrate an empty directory once', async (t) => {
  const file = join(temporaryDirectory(t), 'incmon.db')
  const code = `const { openStore } = await import('${OPEN}'); const { migrate } = await import('${MIGRATE}')
    const db = openStore(${JSON.stringify(file)}); console.log(migrate(db, 1).applied.length); db.close()`
  const runs = [1, 2, 3, 4, 5].map(async () => {
    const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', code])
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    const [exit] = await once(child, 'close')
    return `${exit} ${said}`
  })
  assert.deepEqual(await Promise.all(runs), Array(5).fill('0 '))
  const db = openStore(file)
  t.after(() => db.close())
  assert.equal(db.pragma('user_version'), MIGRATIONS.length)
})

test('no check of a column that can be NULL depends on json_valid(NULL), which older versions of SQLite reject', (t) => {
  const db = temporaryStore(t)
  const tables = db.all(db.sql.selectFrom('sqlite_schema' as never).select('sql' as never)) as { sql: string | null }[]
  const columns = tables.flatMap(({ sql }) => (sql ?? '').split('\n').filter((line) => line.includes('json_valid(')))
  const risky = columns.filter((line) => !/NOT NULL|IS NULL OR json_valid/.test(line))
  assert.ok(columns.length > 5)
  assert.deepEqual(risky, [])
})

test('the clocks of senders survive the upgrade that changes their check', (t) => {
  const db = openStore(join(temporaryDirectory(t), 'incmon.db'))
  t.after(() => db.close())
  const older = { names: MIGRATIONS.slice(0, 7), textOf: migrationText }
  migrate(db, 0, older)
  const { key } = makeOrganization(db, 'Acme', 'Team')
  for (const [receiver, clock] of [
    ['a', `'{"offset":1}'`],
    ['b', 'NULL'],
  ])
    db.execute(`INSERT INTO senders (organization_id, source, cluster, receiver, clock)
      VALUES (${key}, 'metrics', '', '${receiver}', ${clock})`)
  migrate(db, 1)
  const clocks = db.all(db.sql.selectFrom('senders').select('clock').orderBy('receiver'))
  assert.deepEqual(clocks, [{ clock: '{"offset":1}' }, { clock: null }])
})

test('the tables of Litestream are no difference from the schema, and those of others are', (t) => {
  const db = temporaryStore(t)
  db.execute('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY); CREATE TABLE other (id INTEGER PRIMARY KEY)')
  const content = inspectFile(db.file, false, 0)
  assert.ok(content.state === 'read' && content.isCopied)
  assert.deepEqual(content.differences, [`table other is not part of schema version ${MIGRATIONS.length}`])
})
