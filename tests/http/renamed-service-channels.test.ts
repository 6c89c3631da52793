/** Who is told of a burning service that is renamed, or merged into another one. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

async function burning(t: TestContext, services: readonly string[]) {
  const world = makeWorld(t)
  const { acme, request, db } = world
  const ask = (method: string, path: string, body?: object, token = acme.token) =>
    request(method, path, { token, body })
  await ask('POST', '/api/channels', {
    name: 'own',
    kind: 'slack',
    url: 'https://example.com/x',
    rules: [{ services }],
  })
  for (const service of ['cart', 'web']) {
    const items = [alert('Down', { service, namespace: 'shop', severity: service === 'cart' ? 'critical' : 'warning' })]
    await ask('POST', '/api/webhooks/metrics', alertmanager(items, { groupKey: service }))
  }
  const { body } = await ask('GET', '/api/services')
  const idOf = (name: string): string => body.find((one: { name: string }) => one.name === name).id
  const told = () => {
    const deliveries = db.all(db.sql.selectFrom('outbox').select('kind').orderBy('id'))
    return deliveries.map(({ kind }) => kind)
  }
  return { ...world, ask, idOf, told }
}

test('a channel whose rule names the new name is told what burns', async (t) => {
  const { ask, idOf, told } = await burning(t, ['basket'])
  assert.deepEqual(told(), [])
  assert.equal((await ask('PATCH', `/api/services/${idOf('cart')}`, { name: 'basket' })).status, 200)
  assert.deepEqual(told(), ['opened'])
})

test('a channel whose rule names the service that is left after a merge is told what burns', async (t) => {
  const { ask, idOf, told } = await burning(t, ['web'])
  assert.equal((await ask('POST', `/api/services/${idOf('cart')}/merge`, { into: idOf('web') })).status, 200)
  assert.deepEqual(told(), ['opened'])
})

test('who was told is not told again, and other aliases tell nobody', async (t) => {
  const { ask, idOf, told } = await burning(t, ['cart'])
  assert.deepEqual(told(), ['opened'])
  await ask('PATCH', `/api/services/${idOf('cart')}`, { name: 'basket' })
  await ask('PATCH', `/api/services/${idOf('web')}`, { aliases: [{ kind: 'label', value: 'app=front' }] })
  assert.deepEqual(told(), ['opened'])
})

test('a dry run says that its rule still matches', async (t) => {
  const { ask, idOf } = await burning(t, ['cart'])
  await ask('PATCH', `/api/services/${idOf('cart')}`, { name: 'basket' })
  const items = [alert('Full', { service: 'basket', namespace: 'shop', severity: 'critical' })]
  const { body } = await ask('POST', '/api/webhooks/metrics?dryRun=1', alertmanager(items, { groupKey: 'basket' }))
  assert.deepEqual([body.decisions[0].told[0].rule, body.decisions[0].told[0].why], [1, 'at-once'])
})

test('Charlie cannot rename the service, and nobody is told', async (t) => {
  const { ask, idOf, told, charlie } = await burning(t, ['basket'])
  const { status } = await ask('PATCH', `/api/services/${idOf('cart')}`, { name: 'basket' }, charlie.token)
  assert.equal(status, 404)
  assert.deepEqual(told(), [])
})
