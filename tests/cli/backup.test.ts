/** incmon backup: with and without a running server, and everything it rejects. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { openStore } from '../../src/store/sqlite/open.ts'
import { migrate } from '../../src/store/sqlite/schema/migrate.ts'
import { call, incmon, refusal, shell } from '../helpers/cli.ts'
import { makeEvent, makeOrganization } from '../helpers/factory.ts'
import { newStore, smallDisk, temporaryDirectory } from '../helpers/store.ts'

/** Creates a directory with a database of about 5 MB. */
function acme(t: TestContext): string {
  const cwd = temporaryDirectory(t)
  const db = newStore(join(cwd, 'incmon.db'))
  const organization = makeOrganization(db, 'Acme', 'Team')
  for (let number = 0; number < 5; number += 1) makeEvent(db, organization, {}, 'x'.repeat(1_000_000))
  db.close()
  return cwd
}

/** Lists the files other than the database and its lock. */
function left(cwd: string): string[] {
  return readdirSync(cwd).filter((name) => !/^incmon\.db(\.lock)?$/.test(name))
}

suite('backup', { concurrency: 4 }, () => {
  test('without a server it writes a file, says so, and leaves nothing else behind', async (t) => {
    const cwd = acme(t)
    const { out, err, code } = await call(cwd, ['backup', 'copy.db'])
    assert.match(out, /^backed up incmon\.db to copy\.db: \d+\.\d MB, verified\n$/)
    assert.deepEqual([code, err, left(cwd)], [0, '', ['copy.db']])
    assert.equal(statSync(join(cwd, 'copy.db')).mode & 0o777, 0o600)
  })

  test('a program can get the database, the file and its size as JSON', async (t) => {
    const cwd = acme(t)
    const { out } = await call(cwd, ['backup', 'copy.db', '--json'])
    const { size } = statSync(join(cwd, 'copy.db'))
    assert.deepEqual(JSON.parse(out), { database: 'incmon.db', file: 'copy.db', bytes: size })
  })

  test('- sends the same bytes to stdout and nothing else', async (t) => {
    const cwd = acme(t)
    const { code, err } = await shell(cwd, 'incmon backup copy.db >said && incmon backup - >sent')
    assert.deepEqual([code, err, left(cwd)], [0, '', ['copy.db', 'said', 'sent']])
    assert.ok(readFileSync(join(cwd, 'sent')).equals(readFileSync(join(cwd, 'copy.db'))))
  })

  test('a reader that closes the pipe early gets no backup, and the command fails', async (t) => {
    const cwd = acme(t)
    const { err } = await shell(cwd, 'incmon backup - | head -c 10 >/dev/null')
    assert.match(
      err,
      /^incmon: the backup is incomplete \(the reader closed the pipe\): [^\n]+run the command again\n$/,
    )
    assert.deepEqual(left(cwd), [])
  })

  for (const [what, script] of [
    ['a file that may not grow', 'ulimit -f 2048; incmon backup copy.db'],
    ['a stream whose copy may not grow', 'ulimit -f 2048; incmon backup - --temporary .'],
    ['a stream onto a full disk', 'incmon backup - >/dev/full'],
  ] as const) {
    test(`${what} fails with one line, exit code 1, and leaves nothing behind`, async (t) => {
      const cwd = acme(t)
      const { code, err } = await shell(cwd, script)
      assert.match(err, /^incmon: [^\n]+ \((SQLITE_IOERR|EFBIG|ENOSPC)\): [^\n]+\n$/)
      assert.deepEqual([code, left(cwd)], [1, []])
    })
  }

  test('a full disk is reported, and nothing is left on it', async (t) => {
    const [cwd, disk] = [acme(t), smallDisk(t)]
    if (disk === null) return t.skip('only root may mount a disk')
    const { code, err } = await incmon(cwd, ['backup', join(disk, 'copy.db')])
    assert.match(
      err,
      /^incmon: \S+copy\.db cannot be written \(SQLITE_FULL\): its disk is full, or its quota is used up: free some space/,
    )
    assert.deepEqual([code, readdirSync(disk)], [1, []])
  })

  test('a read-only directory is reported', async (t) => {
    const [cwd, disk] = [acme(t), smallDisk(t)]
    if (disk === null) return t.skip('only root may mount a disk')
    execFileSync('mount', ['-o', 'remount,ro', disk])
    const { code, err } = await incmon(cwd, ['backup', join(disk, 'copy.db')])
    assert.match(err, /^incmon: \S+copy\.db cannot be written \(EROFS\): check the owner and mode of its directory\n$/)
    assert.equal(code, 1)
  })
})

const TARGETS: readonly [what: string, target: string, line: RegExp][] = [
  ['a file that exists', 'taken', /taken already exists: add --force to replace it, or choose another file$/],
  ['the database itself', 'incmon.db', /incmon\.db is the database itself or one of its files: choose another file$/],
  ['its log', 'incmon.db-wal', /incmon\.db-wal is the database itself or one of its files/],
  ['its lock', 'incmon.db.lock', /incmon\.db\.lock is the database itself or one of its files/],
  ['the database by a link', 'link', /link is the database itself or one of its files/],
  ['a directory', 'folder', /folder is not a regular file: choose a regular file, or - for standard output$/],
  [
    'a directory that is missing',
    'gone/copy.db',
    /^the directory \S+gone does not exist: create it, or choose another file$/,
  ],
]

for (const [what, target, line] of TARGETS) {
  test(`${what} is rejected as a target, and nothing is changed`, async (t) => {
    const cwd = acme(t)
    writeFileSync(join(cwd, 'taken'), 'precious')
    symlinkSync('incmon.db', join(cwd, 'link'))
    mkdirSync(join(cwd, 'folder'))
    const before = readdirSync(cwd)
    const { text, code } = await refusal(['backup', join(cwd, target), '--database', join(cwd, 'incmon.db')])
    assert.match(text, line)
    assert.deepEqual([code, readdirSync(cwd)], [1, before])
    assert.equal(readFileSync(join(cwd, 'taken'), 'utf8'), 'precious')
  })
}

for (const target of ['incmon.db', 'link', 'folder', 'other.db']) {
  test(`--force does not help against ${target}`, async (t) => {
    const cwd = acme(t)
    symlinkSync('incmon.db', join(cwd, 'link'))
    mkdirSync(join(cwd, 'folder'))
    const other = openStore(join(cwd, 'other.db'))
    migrate(other, 0)
    t.after(() => other.close())
    const { text } = await refusal(['backup', join(cwd, target), '--force', '--database', join(cwd, 'incmon.db')])
    assert.match(text, /is the database itself|is not a regular file|is a database in use: choose another file$/)
  })
}

test('--force replaces a file, and a failure keeps it', async (t) => {
  const cwd = acme(t)
  writeFileSync(join(cwd, 'copy.db'), 'yesterday')
  const failed = await shell(cwd, 'ulimit -f 2048; incmon backup copy.db --force')
  assert.deepEqual([failed.code, readFileSync(join(cwd, 'copy.db'), 'utf8')], [1, 'yesterday'])
  const { code } = await incmon(cwd, ['backup', 'copy.db', '--force'])
  assert.deepEqual([code, left(cwd)], [0, ['copy.db']])
  assert.ok(statSync(join(cwd, 'copy.db')).size > 1_000_000)
})

test('a backup to a file rejects --temporary', async (t) => {
  const file = join(acme(t), 'incmon.db')
  const { text, code } = await refusal(['backup', `${file}.copy`, '--temporary', '/tmp', '--database', file])
  assert.deepEqual(
    [code, text],
    [2, '--temporary is valid only if <file> is -: a backup to a file needs no temporary copy'],
  )
})

test('without a database, no file is created', async (t) => {
  const cwd = temporaryDirectory(t)
  const { text, code } = await refusal(['backup', join(cwd, 'copy.db'), '--database', join(cwd, 'incmon.db')])
  assert.match(
    text,
    /^there is no database at \S+incmon\.db: choose the server's with --database, or create one with .+"incmon serve --database \S+incmon\.db"/,
  )
  assert.deepEqual([code, readdirSync(cwd)], [1, []])
})
