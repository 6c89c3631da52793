/**
 * Damage to the file of a running server: a query that encounters it, or the daily check, makes the server not ready.
 */
import assert from 'node:assert/strict'
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { test } from 'node:test'
import { watchDamage } from '../../src/server/checks.ts'
import { findDamage } from '../../src/store/sqlite/sound.ts'
import { alertGroup } from '../helpers/payloads.ts'
import { eventually, startServer } from '../helpers/server.ts'
import { temporaryStore } from '../helpers/store.ts'

const SOON = { first: 1, every: 60_000 }
const CORRUPT = Object.assign(new Error('database disk image is malformed'), { code: 'SQLITE_CORRUPT' })

/**
 * Overwrites all pages except the first with random bytes. SQLite's descriptor must not be the only open one: see
 * `openBeside`.
 */
function overwrite(file: string): number {
  const handle = openSync(file, 'r+')
  for (let at = 4096; at < statSync(file).size; at += 4096) writeSync(handle, Buffer.alloc(4096, 0x5a), 0, 4096, at)
  return handle
}

test('overwritten pages make /readyz return 503 with the reason', async (t) => {
  const { url, get, request, db, running } = await startServer(t)
  await request('POST', '/api/webhooks/metrics', String(alertGroup(2000)))
  // Otherwise, the timer's sweep would write to the damaged file, which ends the process.
  while (await running.engine.sweep());
  db.checkpoint('TRUNCATE')
  const handle = overwrite(db.file)
  t.after(() => closeSync(handle))
  db.pragma('shrink_memory')
  const refused = await eventually(
    () => get('/api/alerts?page=40'),
    ({ status }) => status === 503,
  )
  assert.match(refused.detail, /^the database is damaged; see GET \/readyz for what to do$/)
  const response = await fetch(`${url}/readyz`)
  const { checks } = (await response.json()) as { checks: { name: string; detail?: string }[] }
  assert.equal(response.status, 503)
  const { detail = '' } = checks.find(({ name }) => name === 'integrity') ?? {}
  assert.match(detail, /^the database is damaged \(SQLITE_CORRUPT\w*\): stop the server, keep this file, and restore/)
})

test('the background check finds damage that no query encounters', async (t) => {
  const found: string[] = []
  const fault = () => Promise.resolve('Tree 7 page 9: btreeInitPage() returns error code 11')
  const damage = watchDamage(fault, (detail) => void found.push(detail), SOON)
  t.after(damage.stop)
  await eventually(
    async () => damage.detail(),
    (detail) => detail !== null,
  )
  assert.match(found.join(), /^the database is damaged \(Tree 7 page 9.+"incmon doctor --full" names the table$/)
})

test('damage is logged once and remembered', () => {
  const found: string[] = []
  const damage = watchDamage(
    () => Promise.resolve(null),
    (detail) => void found.push(detail),
  )
  for (let times = 0; times < 3; times += 1) damage.note(CORRUPT)
  damage.stop()
  assert.deepEqual([found.length, damage.detail()], [1, found[0]])
})

test('a full disk, a locked file and bugs are not damage', () => {
  const damage = watchDamage(
    () => Promise.resolve(null),
    () => assert.fail('told'),
  )
  for (const code of ['SQLITE_FULL', 'SQLITE_BUSY', 'ENOENT']) damage.note(Object.assign(new Error(), { code }))
  for (const error of [undefined, null, new TypeError('x')]) damage.note(error)
  damage.stop()
  assert.equal(damage.detail(), null)
})

test('an intact file has no damage', (t) => assert.equal(findDamage(temporaryStore(t)), null))
