/** Action items of an incident: on every plan, from the moment it opens, and in its postmortem. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { makeService } from '../helpers/factory.ts'

async function withIncident(t: TestContext, of: 'acme' | 'basil' = 'acme') {
  const world = makeWorld(t)
  const member = world[of]
  const { id: serviceId } = makeService(world.db, member, 'cart')
  const as = (token: string) => (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) =>
    world.request(method, `/api/incidents${path}`, { token, ...(body ? { body } : {}) })
  const ask = as(member.token)
  const wanted = { title: 'Down', serviceId, severity: 'critical' }
  const { id } = (await ask('POST', '', wanted)).body
  const items = async () => (await ask('GET', `/${id}/actions`)).body.data
  return { ...world, as, ask, id, items }
}

test('on the Free plan, items are added, assigned, finished and removed', async (t) => {
  const { ask, id, items } = await withIncident(t, 'basil')
  const added = await ask('POST', `/${id}/actions`, { text: 'Add an alert', due: '2026-03-31' })
  const item = { id: added.body.id, text: 'Add an alert', owner: null, due: '2026-03-31', state: 'open' }
  assert.deepEqual([added.status, added.body], [201, item])
  const done = await ask('PATCH', `/${id}/actions/${item.id}`, { owner: 'Dana', state: 'done' })
  assert.deepEqual(done.body, { ...item, owner: 'Dana', state: 'done' })
  assert.deepEqual(await items(), [done.body])
  assert.equal((await ask('DELETE', `/${id}/actions/${item.id}`)).status, 204)
  assert.deepEqual(await items(), [])
})

test('the postmortem shows the items, and a later change reaches it', async (t) => {
  const { ask, id, items } = await withIncident(t)
  const { body } = await ask('POST', `/${id}/actions`, { text: 'Add an alert' })
  await ask('PATCH', `/${id}`, { status: 'resolved' })
  await ask('PATCH', `/${id}/actions/${body.id}`, { state: 'done' })
  const { actions } = (await ask('GET', `/${id}/postmortem`)).body
  const own = actions.filter((one: { id: string }) => one.id === body.id)
  assert.deepEqual(own, [{ ...body, because: null, state: 'done' }])
  assert.equal((await items()).length, actions.length)
})

test('an item that a rule suggested is changed by the name of the rule', async (t) => {
  const { ask, id } = await withIncident(t)
  await ask('PATCH', `/${id}`, { status: 'resolved' })
  const { body } = await ask('PATCH', `/${id}/actions/channels`, { state: 'open', owner: 'Dana' })
  assert.deepEqual([body.id, body.state, body.owner], ['channels', 'open', 'Dana'])
  assert.equal((await ask('PATCH', `/${id}/actions/constructor`, { state: 'open' })).status, 404)
})

test('an item that a rule suggested is dropped, not removed', async (t) => {
  const { ask, id, items } = await withIncident(t)
  await ask('PATCH', `/${id}`, { status: 'resolved' })
  for (const { id: item } of await items()) assert.equal((await ask('DELETE', `/${id}/actions/${item}`)).status, 204)
  assert.ok((await items()).every(({ state }: { state: string }) => state === 'dropped'))
})

test('the timeline says who added an item, and a merge moves the items', async (t) => {
  const { ask, id } = await withIncident(t)
  await ask('POST', `/${id}/actions`, { text: 'Add an alert' })
  const { timeline, serviceId } = (await ask('GET', `/${id}`)).body
  assert.ok(timeline.some(({ text }: { text: string }) => text === 'action item added: Add an alert'))
  const other = (await ask('POST', '', { title: 'Other', serviceId, severity: 'error' })).body
  await ask('POST', `/${id}/merge`, { into: other.id })
  assert.equal((await ask('GET', `/${other.id}/actions`)).body.data.length, 1)
})

test('the timeline says that an item is done, and not which other detail changed', async (t) => {
  const { ask, id } = await withIncident(t)
  const { id: item } = (await ask('POST', `/${id}/actions`, { text: 'Add an alert' })).body
  await ask('PATCH', `/${id}/actions/${item}`, { owner: 'Eve' })
  await ask('PATCH', `/${id}/actions/${item}`, { state: 'done' })
  const { timeline } = (await ask('GET', `/${id}`)).body
  const texts = timeline.map(({ text }: { text: string }) => text).slice(-2)
  assert.deepEqual(texts, ['action item changed: Add an alert', 'action item done: Add an alert'])
})

test('a wrong date, an empty text and an unknown item are refused', async (t) => {
  const { ask, id } = await withIncident(t)
  assert.equal((await ask('POST', `/${id}/actions`, { text: 'x', due: '2026-02-30' })).status, 400)
  assert.equal((await ask('POST', `/${id}/actions`, { text: ' ' })).status, 400)
  assert.equal((await ask('PATCH', `/${id}/actions/none`, { state: 'done' })).status, 404)
  assert.equal((await ask('DELETE', `/${id}/actions/none`)).status, 404)
})

test("Charlie sees and changes none of Acme's items", async (t) => {
  const { ask, as, id, charlie } = await withIncident(t)
  const { body } = await ask('POST', `/${id}/actions`, { text: 'Add an alert' })
  const outsider = as(charlie.token)
  for (const [method, path] of [
    ['GET', ''],
    ['POST', ''],
    ['PATCH', `/${body.id}`],
    ['DELETE', `/${body.id}`],
  ] as const)
    assert.equal(
      (await outsider(method, `/${id}/actions${path}`, method === 'GET' ? undefined : { text: 'x' })).status,
      404,
    )
})
