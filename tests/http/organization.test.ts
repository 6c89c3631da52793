/** GET and PATCH /api/organization. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { DAY, makeEvent, makeToken, NOON } from '../helpers/factory.ts'
import { pruneFully } from '../helpers/retention.ts'

const PATH = '/api/organization'

test('Acme, Basil and Charlie each see their own organization', async (t) => {
  const { acme, basil, charlie, request } = makeWorld(t)
  const answers = await Promise.all([acme, basil, charlie].map(({ token }) => request('GET', PATH, { token })))
  assert.deepEqual(
    answers.map(({ body }) => [body.name, body.plan]),
    [
      ['Acme', 'Team'],
      ['Basil', 'Free'],
      ['Charlie', 'Pro'],
    ],
  )
})

test('a change affects only the named fields of the own organization', async (t) => {
  const { acme, charlie, request } = makeWorld(t)
  const body = { plan: 'Pro', settings: { 'auto-incidents': 'off' }, id: charlie.id, createdAt: 0 }
  const changed = await request('PATCH', PATH, { token: acme.token, body })
  const { name, plan, settings } = changed.body
  assert.deepEqual([changed.body.id, name, plan], [acme.id, 'Acme', 'Pro'])
  assert.deepEqual([settings['auto-incidents'], settings['auto-resolve']], ['off', 30])
  const other = await request('GET', PATH, { token: charlie.token })
  assert.equal(other.body.settings['auto-incidents'], 'critical')
})

for (const [body, field] of [
  [{ name: '' }, 'name'],
  [{ name: 'x'.repeat(101) }, 'name'],
  [{ name: 'Acme\u001b[31m' }, 'name'],
  [{ name: 'Acme\nBasil' }, 'name'],
  [{ name: 'Acme\u202e' }, 'name'],
  [{ plan: 'Gold' }, 'plan'],
  [{ settings: { 'auto-incidents': 'always' } }, 'settings.auto-incidents'],
  [{ settings: { 'auto-resolve': 'yes' } }, 'settings.auto-resolve'],
  [{ settings: 'off' }, 'settings'],
  [{ settings: { 'time-zone': 'Berlin' } }, 'settings.time-zone'],
  [{ settings: { 'retention-events-days': 0 } }, 'settings.retention-events-days'],
  [{ settings: { 'retention-alerts-days': 3651 } }, 'settings.retention-alerts-days'],
  [{ settings: { 'retention-alerts-days': 30.5 } }, 'settings.retention-alerts-days'],
  [{ settings: { 'retention-events-days': '7' } }, 'settings.retention-events-days'],
  [{ settings: { 'retention-events-days': 401 } }, 'settings.retention-events-days'],
  [{ settings: { 'retention-alerts-days': 29 } }, 'settings.retention-events-days'],
] as const) {
  test(`${JSON.stringify(body).slice(0, 60)} is refused by name`, async (t) => {
    const { acme, request } = makeWorld(t)
    const answer = await request('PATCH', PATH, { token: acme.token, body })
    assert.deepEqual([answer.status, answer.body.errors[0].path], [400, field])
  })
}

test('valid retention limits are stored and shown with pending approvals', async (t) => {
  const { acme, charlie, clock, db, deps, request } = makeWorld(t)
  const settings = { 'retention-events-days': 60, 'retention-alerts-days': 60 }
  const changed = await request('PATCH', PATH, { token: acme.token, body: { settings } })
  assert.deepEqual({ ...changed.body.settings, ...settings }, changed.body.settings)
  makeEvent(db, acme)
  clock.now = NOON + 61 * DAY
  pruneFully(deps, acme, { approved: false })
  const [ours, theirs] = await Promise.all([acme, charlie].map(({ token }) => request('GET', PATH, { token })))
  const since = new Date(clock.now).toISOString()
  assert.deepEqual(ours?.body.pruningWaits, { since, events: { due: 1, total: 1 }, alerts: { due: 0, total: 0 } })
  assert.equal(theirs?.body.pruningWaits, null)
})

test('a name that is taken is refused with 409', async (t) => {
  const { acme, request } = makeWorld(t)
  const { status } = await request('PATCH', PATH, { token: acme.token, body: { name: 'Basil' } })
  assert.equal(status, 409)
})

test('an old name with control characters can be kept and corrected', async (t) => {
  const { acme, db, request } = makeWorld(t)
  const name = 'Acme\u0007'
  db.run(db.sql.updateTable('organizations').set({ name }).where('id', '=', acme.key))
  const kept = await request('PATCH', PATH, { token: acme.token, body: { name, plan: 'Pro' } })
  const corrected = await request('PATCH', PATH, { token: acme.token, body: { name: 'Acme & Söhne' } })
  assert.deepEqual([kept.status, corrected.status, corrected.body.name], [200, 200, 'Acme & Söhne'])
})

test('a token without admin can read it but not change it', async (t) => {
  const { acme, db, request } = makeWorld(t)
  const token = makeToken(db, acme, ['read', 'write'])
  const read = await request('GET', PATH, { token })
  const changed = await request('PATCH', PATH, { token, body: { plan: 'Pro' } })
  assert.deepEqual([read.status, changed.status], [200, 403])
})
