/** Reading ahead: a server that was just started knows all names before anybody asks, and lives where it cannot. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '../../src/server/log.ts'
import { startReadingAhead } from '../../src/server/reading-ahead.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { makeAlert, makeOrganization, makeService } from '../helpers/factory.ts'
import { eventually, startServer } from '../helpers/server.ts'
import { temporaryStore } from '../helpers/store.ts'

const yes = (is: boolean) => is

test('a server that nobody has called yet knows all names', async (t) => {
  const { db } = await startServer(t)
  await eventually(async () => db.identities.isCurrent(), yes)
})

test('all are read, however small the steps', async (t) => {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  const service = makeService(db, acme, 'cart')
  for (let i = 0; i < 5; i += 1) makeAlert(db, acme, service)
  const fresh = openStore(db.file)
  t.after(() => fresh.close())
  t.after(startReadingAhead(fresh, createLog('info', assert.fail), 2))
  await eventually(async () => fresh.identities.isCurrent(), yes)
})

test('a store that cannot be read is told once, and left to the next delivery', async (t) => {
  const lines: string[] = []
  const db = openStore(temporaryStore(t).file)
  db.close()
  startReadingAhead(
    db,
    createLog('info', (line) => void lines.push(line)),
  )
  await eventually(async () => lines.length > 0, yes)
  assert.match(lines[0] ?? '', /the active alerts could not be loaded in advance/)
})

test('while another process holds the store it is tried again, without a word', async (t) => {
  const { file } = temporaryStore(t)
  const [other, db] = [openStore(file), openStore(file, { busyMs: 0 })]
  t.after(() => other.close())
  t.after(() => db.close())
  other.execute('BEGIN IMMEDIATE')
  t.after(startReadingAhead(db, createLog('info', assert.fail)))
  setTimeout(() => other.execute('ROLLBACK'), 100)
  await eventually(async () => db.identities.isCurrent(), yes)
})
