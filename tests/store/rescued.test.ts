/** Files that a server saved: nothing opens the database beside them before somebody has decided about them. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { refuseVanished } from '../../src/store/sqlite/file.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { makeOrganization } from '../helpers/factory.ts'
import { newStore, temporaryDirectory } from '../helpers/store.ts'

const TIME = '20261126T150405Z'

/** Creates a database with one organization. */
function databaseAt(file: string, name: string): void {
  const db = newStore(file)
  makeOrganization(db, name, 'Team')
  db.checkpoint('TRUNCATE')
  db.close()
}

function namesIn(file: string): unknown[] {
  const db = openStore(file)
  try {
    return db.all(db.sql.selectFrom('organizations').select('name')).map(({ name }) => name)
  } finally {
    db.close()
  }
}

/** Returns the message of a refused start. */
function refusalOf(file: string): string {
  try {
    openStore(file).close()
  } catch (error) {
    return String((error as Error).message)
  }
  return assert.fail(`${file} was opened`)
}

/** Runs the command as printed, with this checkout as `incmon`. */
function run(t: TestContext, refusal: string, which: number): void {
  const command = [...refusal.matchAll(/"([^"]+)"/g)].map(([, text]) => text)[which] ?? ''
  const bin = temporaryDirectory(t)
  writeFileSync(join(bin, 'incmon'), `#!/bin/sh\nexec sh node.sh --import tsx src/main.ts "$@"\n`)
  chmodSync(join(bin, 'incmon'), 0o755)
  execFileSync('sh', ['-c', command], { env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } })
}

/** A stale database, and beside it the copy that a server saved. */
function withCopy(t: TestContext, directory = temporaryDirectory(t)) {
  const [file, copy] = [join(directory, 'incmon.db'), join(directory, `incmon.db.rescued-${TIME}`)]
  databaseAt(file, 'Charlie')
  databaseAt(join(directory, 'made.db'), 'Acme')
  renameSync(join(directory, 'made.db'), copy)
  return { file, copy }
}

for (const [what, which, names] of [
  ['used', 0, ['Acme']],
  ['set aside', 1, ['Charlie']],
] as const) {
  test(`beside a stale database, the copy is ${what} with the printed command`, (t) => {
    const { file } = withCopy(t)
    const refusal = refusalOf(file)
    assert.match(refusal, /had stored .+ on 2026-11-26 at 15:04:05 UTC.+to keep the present file$/)
    run(t, refusal, which)
    assert.deepEqual(namesIn(file), names)
  })

  test(`in a path with a space and a quote, the copy is ${what}`, (t) => {
    const directory = join(temporaryDirectory(t), "it's here")
    mkdirSync(directory)
    const { file } = withCopy(t, directory)
    run(t, refusalOf(file), which)
    assert.deepEqual(namesIn(file), names)
  })
}

for (const [what, which, names] of [
  ['used', 0, ['Acme']],
  ['set aside', 1, []],
] as const) {
  test(`in the place of a missing database, the copy is ${what} with the printed command`, (t) => {
    const { file } = withCopy(t)
    rmSync(file)
    const refusal = refusalOf(file)
    assert.match(
      refusal,
      /incmon\.db is missing, and .+ contains its data, saved on 2026-11-26 at 15:04:05 UTC: run "mv/,
    )
    run(t, refusal, which)
    if (names.length > 0) assert.deepEqual(namesIn(file), names)
    else openStore(file).close()
  })
}

for (const [what, lose] of [
  ['missing', rmSync],
  ['empty', truncateSync],
] as const) {
  test(`after the printed command for ${what === 'empty' ? 'an' : 'a'} ${what} database, a server starts with a new one`, (t) => {
    const { file } = withCopy(t)
    lose(file)
    for (const end of ['.lock', '.sock']) writeFileSync(`${file}${end}`, '')
    assert.throws(() => refuseVanished(file), /contains its data/)
    run(t, refusalOf(file), 1)
    assert.doesNotThrow(() => refuseVanished(file))
  })

  test(`a server does not start with a database that is ${what} where one has been used`, (t) => {
    const file = join(temporaryDirectory(t), 'incmon.db')
    databaseAt(file, 'Acme')
    lose(file)
    assert.doesNotThrow(() => refuseVanished(file))
    writeFileSync(`${file}.lock`, '')
    assert.throws(
      () => refuseVanished(file),
      new RegExp(`incmon.db is ${what}, but .+ shows that a server has used it`),
    )
  })
}

for (const [what, replace] of [
  ['directory', (file: string) => mkdirSync(file)],
  ['link to another database', (file: string) => symlinkSync(`${file}.other`, file)],
] as const) {
  for (const [decision, which, kept] of [
    ['used', 0, ['Acme']],
    ['set aside', 1, ['Basil']],
  ] as const) {
    test(`in the place of a ${what}, the copy is ${decision} with the printed command`, (t) => {
      const { file } = withCopy(t)
      rmSync(file)
      databaseAt(`${file}.other`, 'Basil')
      replace(file)
      run(t, refusalOf(file), which)
      if (which === 1 && what === 'directory') assert.match(refusalOf(file), /is a directory: choose a file/)
      else assert.deepEqual(namesIn(file), kept)
      assert.deepEqual(namesIn(`${file}.other`), ['Basil'])
    })
  }
}

test('a copy in the parent directory is found when the directory is new', (t) => {
  const parent = temporaryDirectory(t)
  databaseAt(join(parent, 'made.db'), 'Acme')
  renameSync(join(parent, 'made.db'), join(parent, `data-incmon.db.rescued-${TIME}`))
  mkdirSync(join(parent, 'data'))
  const file = join(parent, 'data', 'incmon.db')
  run(t, refusalOf(file), 0)
  assert.deepEqual(namesIn(file), ['Acme'])
})

test('the copy of another directory does not concern this one', (t) => {
  const parent = temporaryDirectory(t)
  writeFileSync(join(parent, `other-incmon.db.rescued-${TIME}`), '')
  mkdirSync(join(parent, 'data'))
  openStore(join(parent, 'data', 'incmon.db')).close()
})

for (const [what, which] of [
  ['set aside', 0],
  ['used', 1],
] as const) {
  test(`a saved log beside its database is ${what} with the printed command`, (t) => {
    const file = join(temporaryDirectory(t), 'incmon.db')
    databaseAt(file, 'Acme')
    writeFileSync(`${file}-wal.rescued-${TIME}`, '')
    const refusal = refusalOf(file)
    assert.match(refusal, /is a log of .+ with its newest data, saved on 2026-11-26 at 15:04:05 UTC because another/)
    run(t, refusal, which)
    assert.deepEqual(namesIn(file), ['Acme'])
  })
}

test('of several copies, the newest is offered and all are set aside', (t) => {
  const { file } = withCopy(t)
  writeFileSync(`${file}.rescued-20251126T150405Z`, '')
  const refusal = refusalOf(file)
  assert.match(refusal, /rescued-20251126T150405Z lies there too/)
  run(t, refusal, 0)
  assert.deepEqual(namesIn(file), ['Acme'])
})

test('without saved files, and beside files that only look like them, a start is unaffected', (t) => {
  const file = join(temporaryDirectory(t), 'incmon.db')
  databaseAt(file, 'Acme')
  for (const end of ['.rescued-', '.rescued-notes', `.rescued-${TIME}.part`, `.aside-${TIME}`, `-wal.aside-${TIME}`])
    writeFileSync(file + end, '')
  assert.deepEqual(namesIn(file), ['Acme'])
})
