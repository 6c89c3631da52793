/**
 * kill -9 during a long migration: the file has either the old or the new schema version, with every row, and the next
 * attempt succeeds.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import SQLite from 'better-sqlite3'
import { openStore } from '../../src/store/sqlite/open.ts'
import { MIGRATIONS } from '../../src/store/sqlite/schema/migrate.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { figure } from './generator.ts'
import { makeDatabase } from './server.ts'

const ROWS = 100_000
const KILLS = 20
const PROGRAM = new URL('migrating.ts', import.meta.url).pathname

/** Creates a database with many rows and the latest schema version, which the program migrates to an even newer one. */
function makeFile(directory: string): string {
  const { file } = makeDatabase(directory)
  const db = openStore(file)
  db.execute(`CREATE TABLE ballast (id INTEGER PRIMARY KEY, label TEXT NOT NULL) STRICT;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
    INSERT INTO ballast (label) SELECT 'row ' || i FROM n`)
  db.checkpoint('TRUNCATE')
  db.close()
  return file
}

function lookAt(file: string) {
  const sqlite = new SQLite(file)
  try {
    const rows = Number(sqlite.prepare('SELECT count(*) FROM ballast').pluck().get())
    const columns = (sqlite.pragma('table_info(ballast)') as unknown[]).length
    const model = Number(sqlite.pragma('user_version', { simple: true }))
    return { rows, columns, model, integrity: sqlite.pragma('integrity_check(1)', { simple: true }) }
  } finally {
    sqlite.close()
  }
}

/** Returns the exit code and the duration of the migration in milliseconds. */
async function migrating(file: string, killAfter: number | null) {
  const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  await once(child.stdout, 'data')
  const began = performance.now()
  const done = once(child.stdout, 'data').then(() => performance.now() - began)
  if (killAfter !== null) {
    await pause(killAfter)
    child.kill('SIGKILL')
  }
  const [code] = await ended
  return { code, took: killAfter === null ? await done : killAfter }
}

test('kill -9 during a migration', async (t) => {
  const directory = temporaryDirectory(t)
  const original = makeFile(directory)
  const whole = join(directory, 'whole.db')
  copyFileSync(original, whole)
  const { code, took } = await migrating(whole, null)
  assert.equal(code, 0)
  // The first run also reads the program from the disk.
  copyFileSync(original, whole)
  const typical = Math.min(took, (await migrating(whole, null)).took)
  const before = MIGRATIONS.length
  let halfway = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const file = join(directory, `${kill}.db`)
    copyFileSync(original, file)
    await migrating(file, (1.25 * typical * kill) / KILLS)
    const { rows, columns, model, integrity } = lookAt(file)
    assert.deepEqual([rows, integrity], [ROWS, 'ok'])
    assert.deepEqual([columns, model], model === before ? [2, before] : [3, before + 1])
    if (model !== before) continue
    halfway += 1
    assert.equal((await migrating(file, null)).code, 0)
    assert.deepEqual(lookAt(file), { rows: ROWS, columns: 3, model: before + 1, integrity: 'ok' })
  }
  figure(t, 5, `${KILLS} kills, ${halfway} of them before the commit, ${ROWS} rows each time`)
  assert.ok(halfway >= KILLS / 4, `${halfway} of ${KILLS} kills came before the commit`)
})
