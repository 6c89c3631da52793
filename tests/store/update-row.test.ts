/** Row updates write only the columns that changed, because each indexed column costs an index entry. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateRow } from '../../src/store/sqlite/query.ts'
import { MINUTE, makeOrganization } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { listening } from '../helpers/listening.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { temporaryStore } from '../helpers/store.ts'

test('an update writes only the columns that changed', (t) => {
  const queries = new Set<string>()
  const db = listening(queries)(temporaryStore(t))
  const { key } = makeOrganization(db, 'Acme', 'Team')
  queries.clear()
  updateRow(db, 'organizations', key, { name: 'Basil', plan: 'Team' }, { name: 'Acme', plan: 'Team' })
  assert.deepEqual([...queries], ['update "organizations" set "name" = ? where "id" = ?'])
  assert.equal(db.first(db.sql.selectFrom('organizations').select('name').where('id', '=', key))?.name, 'Basil')
})

test('an update without changes runs no statement', (t) => {
  const queries = new Set<string>()
  const db = listening(queries)(temporaryStore(t))
  updateRow(db, 'organizations', 1, { name: 'Acme' }, { name: 'Acme' })
  assert.equal(queries.size, 0)
})

test('an update changes no other row', (t) => {
  const db = temporaryStore(t)
  const [acme] = [makeOrganization(db, 'Acme', 'Team'), makeOrganization(db, 'Charlie', 'Pro')]
  updateRow(db, 'organizations', acme.key, { plan: 'Free' }, { plan: 'Team' })
  const plans = db.all(db.sql.selectFrom('organizations').select('plan').orderBy('id')).map(({ plan }) => plan)
  assert.deepEqual(plans, ['Free', 'Pro'])
})

test('a repeated delivery writes only what it changes of its sender and its group', async (t) => {
  const queries = new Set<string>()
  const flow = makeFlow(t, listening(queries))
  const body = alertmanager([alert('Slow', { service: 'cart' }, { startsAt: flow.clock.now - MINUTE })])
  for (const at of [0, MINUTE, 2 * MINUTE].map((ms) => flow.clock.now + ms)) {
    queries.clear()
    await flow.send('metrics', body, { at })
  }
  const updates = [...queries].filter((text) => /^update "(senders|groups)"/.test(text))
  assert.equal(updates.length, 2)
  for (const text of updates) assert.doesNotMatch(text, /"(key|members|receiver|reports_ends|rejections)"/)
})

test('an alert that ends writes its end to the only index that contains it', async (t) => {
  const queries = new Set<string>()
  const flow = makeFlow(t, listening(queries))
  await flow.send('metrics', alertmanager([alert('Slow', { service: 'cart' })]))
  queries.clear()
  const endsAt = flow.clock.now + MINUTE
  await flow.send('metrics', alertmanager([alert('Slow', { service: 'cart' }, { endsAt })]), { at: endsAt })
  const updates = [...queries].filter((text) => text.startsWith('update "alerts"'))
  assert.equal(updates.length, 1)
  assert.match(updates[0] ?? '', /"ends_at" = \?/)
  assert.doesNotMatch(updates[0] ?? '', /"(service_id|incident_id|severity|source|starts_at|settled_at)"/)
})
