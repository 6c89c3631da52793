/** The lock of a running server survives the deletion of its file. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openFile } from '../../src/store/sqlite/file.ts'
import { keepLock, lastUsedAt, tryLock } from '../../src/store/sqlite/lock.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'

function locked(t: TestContext) {
  const file = join(temporaryDirectory(t), 'data', 'incmon.db')
  mkdirSync(dirname(file))
  writeFileSync(file, '')
  const lost: Error[] = []
  const keep = (every: number) => t.after(keepLock(file, Date.now, (error) => lost.push(error), every))
  return { file, lock: `${file}.lock`, lost, keep }
}

test('a lock whose file is deleted is taken again, so that no second server can start', async (t) => {
  const { file, lock, lost, keep } = locked(t)
  keep(1)
  for (let time = 0; time < 3; time += 1) {
    rmSync(lock)
    await eventually(async () => existsSync(lock), Boolean)
  }
  assert.deepEqual([tryLock(file), lost], [null, []])
})

test('a server whose lock another process has taken meanwhile stops, and says why', async (t) => {
  const { file, lock, lost, keep } = locked(t)
  keep(20)
  rmSync(lock)
  const other = tryLock(file) ?? assert.fail('not locked')
  t.after(other)
  await eventually(
    async () => lost.length,
    (count) => count === 1,
  )
  assert.match(String(lost[0]), /\.lock was deleted while incmon was running, and another process has locked/)
})

test('a lock that disappears with its directory is not taken again, because the data must be saved first', async (t) => {
  const { file, lost, keep } = locked(t)
  keep(1)
  rmSync(dirname(file), { recursive: true })
  await pause(20)
  assert.deepEqual([existsSync(dirname(file)), lost], [false, []])
})

test('a named pipe in the place of the lock or the database is refused instead of waiting for it forever', (t) => {
  const { file, lock } = locked(t)
  execFileSync('mkfifo', [lock])
  assert.throws(() => tryLock(file), /incmon\.db\.lock is not a regular file: .+move it away, and start again$/)
  rmSync(file)
  execFileSync('mkfifo', [file])
  assert.throws(() => openFile(file, 0), /incmon\.db is not a regular file: .+move it away, and start again$/)
})

test('the lock file shows when a server last used the database, and looking at the lock does not change that', async (t) => {
  const { file, lock } = locked(t)
  assert.equal(lastUsedAt(file), null)
  const noon = Date.UTC(2026, 2, 14, 12)
  const clock = { now: noon }
  const stop = keepLock(file, () => clock.now, assert.fail, 1)
  await eventually(
    async () => lastUsedAt(file),
    (at) => at === noon,
  )
  clock.now += 60_000
  stop()
  assert.equal(lastUsedAt(file), noon + 60_000)
  utimesSync(lock, noon / 1000, noon / 1000)
  tryLock(file)?.()
  assert.equal(lastUsedAt(file), noon)
})

test('a server goes on if its lock file cannot be marked', (t) => {
  const { file, lock } = locked(t)
  const stop = keepLock(file, Date.now, assert.fail, 1_000)
  rmSync(lock)
  assert.doesNotThrow(stop)
})
