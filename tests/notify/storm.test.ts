/** 10,000 incidents within a minute: people get a handful of digests, and the server keeps working. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listMessages } from '../../src/store/notification/messages.ts'
import { insertNotifications, NO_FACTS } from '../../src/store/notification/outbox.ts'
import { uuidBytes } from '../../src/store/sqlite/uuid.ts'
import { NOON, newUuid } from '../helpers/factory.ts'
import { startReceiver } from './receiver.ts'
import { notifying } from './world.ts'

const INCIDENTS = 10_000
const CHUNK = 500

test('10,000 incidents in a minute result in eight messages, which count them all', async (t) => {
  const { channel, fail, settled, messages, clock, deps, acme } = notifying(t)
  const { url, received } = await startReceiver(t)
  channel('slack', url)
  const delivered = () => listMessages(deps.db, acme.key, { status: 'delivered' }, { page: 1, limit: 100 }).items
  await fail()
  await settled(() => delivered().length === 1)
  copyNews(deps.db, acme.key, INCIDENTS - 1)
  await settled(() => delivered().length === 3)
  for (let sent = 3; sent < 8; sent += 1) {
    clock.now += 30_000
    await settled(() => delivered().length > sent)
  }
  const counted = messages().reduce((sum, { count }) => sum + count, 0)
  assert.deepEqual([counted, messages().length, received.length], [INCIDENTS, 8, 8])
  assert.match(received[3]?.text ?? '', /2,000 new incidents \(2,000 critical\): checkout ×2,000\./)
})

/** Stores copies of the only incident with its notification. */
function copyNews(db: Parameters<typeof insertNotifications>[0], organizationId: number, count: number): void {
  const incident = db.first(db.sql.selectFrom('incidents').selectAll())
  assert.ok(incident)
  const { id: incidentId, number: _, ...copied } = incident
  const ids = Array.from({ length: count }, (_, index) => incidentId + 1 + index)
  db.transaction(() => {
    for (let from = 0; from < count; from += CHUNK) {
      const rows = ids.slice(from, from + CHUNK).map((id) => ({ ...copied, id, uuid: uuidBytes(newUuid()) }))
      db.run(db.sql.insertInto('incidents').values(rows))
    }
    const entry = {
      organizationId,
      channelId: 1,
      kind: 'opened',
      actor: null,
      severityBefore: null,
      isDigest: false,
    } as const
    insertNotifications(
      db,
      ids.map((id) => ({ ...entry, facts: NO_FACTS, incidentId: id, id: newUuid(), createdAt: NOON, dueAt: NOON })),
    )
  })
}
