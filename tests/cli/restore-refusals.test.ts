/** incmon restore: rejected backups, each with a one-line error and an unchanged database. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import SQLite from 'better-sqlite3'
import { listOrganizations } from '../../src/store/organizations.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { refusal } from '../helpers/cli.ts'
import { left, namesIn, world } from './restoring.ts'

const BACKUPS: readonly [what: string, make: (file: string) => void, line: RegExp][] = [
  [
    'a text',
    (file) => writeFileSync(file, 'dear diary'),
    /is not a database: choose a file that "incmon backup --database \S+" wrote$/,
  ],
  ['empty', (file) => writeFileSync(file, ''), /is empty: choose another backup$/],
  ['cut off', (file) => truncateSync(file, 100_000), /is damaged or truncated \(.+\): choose another backup$/],
  ['damaged', damage, /is damaged or truncated/],
  [
    'of another program',
    otherProgram,
    /belongs to another program: choose a file that "incmon backup --database \S+" wrote$/,
  ],
  [
    'of a newer incmon',
    (file) => setModel(file, 99),
    /has schema version 99, but this version of incmon supports at most \d+: use a newer version of incmon/,
  ],
  ['without anything', (file) => setModel(file, 0), /is empty: choose another backup$/],
  [
    'with a trigger that takes tokens away',
    (file) => change(file, 'CREATE TRIGGER steal AFTER INSERT ON tokens BEGIN DELETE FROM tokens; END'),
    /does not have the schema of an incmon database \(trigger steal is not part of schema version \d+\): choose another backup$/,
  ],
  [
    'with a view in place of a table',
    (file) => change(file, 'DROP TABLE images; CREATE VIEW images AS SELECT * FROM tokens'),
    /\(images is a view instead of a table\)/,
  ],
  ['without an index', (file) => change(file, dropAnIndex(file)), /\(index \w+ is missing\)/],
  [
    'with a table that was altered',
    (file) => change(file, 'ALTER TABLE tokens ADD COLUMN secret TEXT'),
    /\(table tokens differs from schema version \d+\)/,
  ],
  [
    'with a reference to a row that does not exist',
    (file) => change(file, 'UPDATE events SET organization_id = 999'),
    /has broken references \(row 1 of events refers to a row of organizations that does not exist\)/,
  ],
  ['missing', (file) => rmSync(file), /^\S+backup\.db does not exist: choose a backup file, or - for standard input$/],
  ['a directory', directory, /is not a regular file: choose a backup file, or - for standard input$/],
  [
    'still open',
    (file) => writeFileSync(`${file}-wal`, 'log'),
    /is in use or was not closed.+copy it with "incmon backup/,
  ],
]

for (const [what, spoil, line] of BACKUPS) {
  test(`a backup that is ${what} is rejected in one line, and no byte of the database changes`, async (t) => {
    const cwd = world(t)
    spoil(join(cwd, 'backup.db'))
    const before = readFileSync(join(cwd, 'incmon.db'))
    const { text, code } = await refusal(restoring(cwd, 'backup.db', '--force'))
    assert.match(text, line)
    assert.deepEqual([code, text.split('\n').length], [1, 1])
    assert.ok(readFileSync(join(cwd, 'incmon.db')).equals(before))
    assert.deepEqual(
      left(cwd).filter((name) => name !== 'backup.db-wal'),
      [],
    )
  })
}

test('a file that is not a backup is rejected before --force is requested', async (t) => {
  const cwd = world(t)
  writeFileSync(join(cwd, 'README.md'), '# diary')
  const { text, code } = await refusal(restoring(cwd, 'README.md'))
  assert.match(text, /README\.md is not a database: choose a file that "incmon backup --database \S+" wrote$/)
  assert.equal(code, 1)
})

test('without --force an existing database is rejected, and the message names the copy that would be kept', async (t) => {
  const cwd = world(t)
  const { text, code } = await refusal(restoring(cwd, 'backup.db'))
  assert.match(text, /incmon\.db already exists: add --force to replace it and keep it as \S+\.before-restore/)
  assert.deepEqual([code, namesIn(join(cwd, 'incmon.db')), left(cwd)], [1, ['Acme'], []])
})

test('the database is not a backup of itself', async (t) => {
  const { text, code } = await refusal(restoring(world(t), 'incmon.db', '--force'))
  assert.match(text, /incmon\.db is the database itself: choose a backup of it$/)
  assert.equal(code, 1)
})

test('a database in use by another process is not replaced', async (t) => {
  const cwd = world(t)
  const other = openStore(join(cwd, 'incmon.db'))
  t.after(() => other.close())
  listOrganizations(other)
  const { text } = await refusal(restoring(cwd, 'backup.db', '--force'))
  assert.match(text, /incmon\.db is in use by another process: wait for that process or stop it, then restore again$/)
  assert.equal(listOrganizations(other).length, 1)
})

test('a database of another program is not replaced, even with --force', async (t) => {
  const cwd = world(t)
  otherProgram(join(cwd, 'incmon.db'))
  const { text } = await refusal(restoring(cwd, 'backup.db', '--force'))
  assert.match(text, /incmon\.db belongs to another program: choose another --database$/)
  assert.deepEqual(left(cwd), [])
})

test('a missing directory is reported', async (t) => {
  const cwd = world(t)
  const { text, code } = await refusal([
    'restore',
    join(cwd, 'backup.db'),
    '--database',
    join(cwd, 'gone', 'incmon.db'),
  ])
  assert.match(text, /^the directory \S+gone does not exist: create it, or choose another --database$/)
  assert.equal(code, 1)
})

function restoring(cwd: string, backup: string, ...more: readonly string[]): string[] {
  return ['restore', join(cwd, backup), '--database', join(cwd, 'incmon.db'), ...more]
}

function otherProgram(file: string): void {
  rmSync(file)
  const other = new SQLite(file)
  other.exec('CREATE TABLE notes (text TEXT)')
  other.close()
}

function directory(file: string): void {
  rmSync(file)
  mkdirSync(file)
}

function setModel(file: string, model: number): void {
  const sqlite = new SQLite(file)
  sqlite.pragma(`user_version = ${model}`)
  sqlite.close()
}

function change(file: string, text: string): void {
  const sqlite = new SQLite(file)
  sqlite.pragma('foreign_keys = OFF')
  sqlite.exec(text)
  sqlite.close()
}

function dropAnIndex(file: string): string {
  const sqlite = new SQLite(file)
  const name = sqlite.prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL").pluck().get()
  sqlite.close()
  return `DROP INDEX ${name}`
}

function damage(file: string): void {
  writeFileSync(file, readFileSync(file).fill(0x5a, 8192, 12_288))
}
