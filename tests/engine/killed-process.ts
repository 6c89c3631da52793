/**
 * A process that stores a request in a real database and is killed with SIGKILL before it responds. It prints its live
 * state. Arguments: the database file, `before the commit` or `after the commit`, the organization's row id, the
 * source, the body as JSON, and an Idempotency-Key or ''.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { withEngine } from '../../src/actions/deps.ts'
import type { Source } from '../../src/domain/event/event.ts'
import { READERS } from '../../src/intake/index.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { takeSnapshot } from '../simulation/snapshot.ts'

const [file = '', moment = '', organization = '', source = '', body = '', key = ''] = process.argv.slice(2)
const receivedAt = NOON + MINUTE
const organizationId = Number(organization)
const db = openStore(file)

const die = (): never => {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('still alive')
}
const { engine } = withEngine({
  db: {
    ...db,
    transactionAhead: (work) => (moment === 'before the commit' ? die() : db.transactionAhead(work)),
    sync: async () => {
      writeSync(1, JSON.stringify(await engine.read(organizationId, (state) => takeSnapshot(state, receivedAt))))
      die()
    },
  },
  now: () => receivedAt,
  newId: randomUUID,
  newSecret: () => assert.fail('no secret is needed'),
  announce: () => {},
  observe: () => {},
})
const intake = READERS[source as Source](JSON.parse(body), receivedAt)
const from = { organizationId, cluster: '', source: source as Source, intake, receivedAt }
await engine.submit({ ...from, idempotencyKey: key || null, bodyHash: body, dryRun: false, isFromCache: false })
