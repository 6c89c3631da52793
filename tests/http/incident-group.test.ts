/** The group of an incident in the API. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

async function grouped(t: TestContext) {
  const world = makeWorld(t)
  const { acme, request } = world
  const summary = 'dial tcp: lookup postgres.shop.svc: no such host'
  const alerts = ['postgres', 'cart', 'search'].map((service) => alert('Down', { service }, { summary }))
  await request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertmanager(alerts) })
  const list = async (token = acme.token) => (await request('GET', '/api/incidents', { token })).body.data
  const post = (id: string, token = acme.token) => request('POST', `/api/incidents/${id}/acknowledge-group`, { token })
  return { ...world, list, post }
}

test('each incident of a group names the leader and the size', async (t) => {
  const { acme, request, list } = await grouped(t)
  const incidents = await list()
  const leader = incidents.find(({ title }: { title: string }) => title === 'postgres: Down').id
  for (const { id, group } of incidents) {
    assert.deepEqual(group, { leader, size: 3 })
    const { body } = await request('GET', `/api/incidents/${id}`, { token: acme.token })
    assert.deepEqual(body.group, { leader, size: 3 })
  }
})

test('one request acknowledges all open incidents of a group', async (t) => {
  const { list, post } = await grouped(t)
  const [{ id }] = await list()
  const { status, body } = await post(id)
  assert.deepEqual([status, body.data.length], [200, 3])
  const states = (await list()).map((one: { status: string; acknowledgedBy: string }) => [
    one.status,
    one.acknowledgedBy,
  ])
  assert.deepEqual(new Set(states.map(String)), new Set([`investigating,${body.data[0].acknowledgedBy}`]))
  const again = await post(id)
  assert.deepEqual([again.status, again.body], [200, body])
})

test('a resolved incident leaves its group, and two are no group', async (t) => {
  const { acme, request, list } = await grouped(t)
  const [{ id }] = await list()
  await request('PATCH', `/api/incidents/${id}`, { token: acme.token, body: { status: 'resolved' } })
  assert.deepEqual(
    (await list()).map(({ group }: { group: unknown }) => group),
    [null, null, null],
  )
})

test('Charlie cannot acknowledge a group of Acme', async (t) => {
  const { charlie, list, post } = await grouped(t)
  const [{ id }] = await list()
  assert.equal((await post(id, charlie.token)).status, 404)
  assert.deepEqual(await list(charlie.token), [])
})
