/** Notifications in the outbox whose incident was deleted. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { takeMessage } from '../../src/actions/messages.ts'
import { listMessages } from '../../src/store/notification/messages.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const PAGE = { page: 1, limit: 10 }

/**
 * Creates a channel, a notification about an incident of each service, and a message with all of them that is being
 * sent.
 */
async function digest(t: TestContext, services: readonly string[]) {
  const flow = makeFlow(t)
  createChannel(flow.deps, flow.acme.key, { name: 'on-call', kind: 'ntfy', target: 'https://ntfy.example.com/incmon' })
  for (const service of services) {
    await flow.send('metrics', alertmanager([alert('Down', { service, severity: 'critical' })]))
  }
  const take = () => takeMessage(flow.deps, 1)
  const deleteIncidents = (where: string) => {
    flow.deps.db.execute(`UPDATE alerts SET incident_id = NULL; DELETE FROM timeline; DELETE FROM incidents ${where}`)
  }
  return { ...flow, first: take(), take, deleteIncidents }
}

test('a message about a deleted incident does not block the next one', async (t) => {
  const { first, take, deleteIncidents } = await digest(t, ['cart', 'checkout', 'search'])
  assert.equal(first?.items.length, 1)
  deleteIncidents('WHERE number = 1')
  assert.equal(take(), null)
  assert.deepEqual(
    take()?.items.map(({ incident }) => incident.number),
    [2],
  )
})

test('messages about deleted incidents fail and say why', async (t) => {
  const { deps, acme, take, deleteIncidents } = await digest(t, ['cart', 'checkout'])
  deleteIncidents('')
  assert.deepEqual([take(), take()], [null, null])
  for (const { status, detail } of listMessages(deps.db, acme.key, {}, PAGE).items)
    assert.deepEqual([status, detail], ['failed', 'the incident was deleted'])
})
