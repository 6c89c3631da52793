/** Channels whose rules name a service that is renamed, or merged into another one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeServices, updateService } from '../../src/engine/changes/services.ts'
import { listRecipients } from '../../src/store/notification/channels.ts'
import { uuidFromBytes } from '../../src/store/sqlite/uuid.ts'
import { ownChannel } from '../helpers/own-channel.ts'

type World = ReturnType<typeof ownChannel>

const idOf = (service: World['service'], name: string) => uuidFromBytes(service(name)?.uuid ?? Buffer.alloc(16))
const rename = ({ deps, acme, service }: World, from: string, name: string) =>
  deps.engine.run(acme.key, (ctx, now) => updateService(ctx, idOf(service, from), { name }, now))
const merge = ({ deps, acme, service }: World, from: string, into: string) =>
  deps.engine.run(acme.key, (ctx, now) => mergeServices(ctx, idOf(service, from), idOf(service, into), now))

test('a rule that names a service follows it when it is renamed', async (t) => {
  const world = ownChannel(t, [{ services: ['cart'] }])
  const { addOwn, fires, ends, until, sent } = world
  addOwn()
  await fires(1, 'cart')
  await rename(world, 'cart', 'basket')
  await ends(2, 'cart')
  await fires(5, 'cart')
  await until(6)
  assert.deepEqual(sent, ['opened of cart at 1', 'recovered of basket at 3', 'again of basket at 5'])
})

test('it names the ID besides: another service can have the new name, and one the old name', async (t) => {
  const world = ownChannel(t, [{ services: ['cart'] }])
  const { addOwn, fires, deps, acme, service } = world
  addOwn()
  await fires(1, 'cart')
  await rename(world, 'cart', 'basket')
  const own = listRecipients(deps.db, acme.key).find(({ name }) => name === 'own')
  assert.deepEqual(own?.settings.rules, [{ services: ['cart', idOf(service, 'basket')] }])
})

test('a rule that names a service follows it when it is merged into another one', async (t) => {
  const world = ownChannel(t, [{ services: ['cart'] }])
  const { addOwn, fires, ends, until, sent } = world
  addOwn()
  await fires(1, 'cart')
  await ends(2, 'cart')
  await fires(4, 'web')
  await ends(5, 'web')
  await until(40)
  await merge(world, 'cart', 'web')
  await fires(41, 'cart')
  await until(42)
  assert.deepEqual(sent.slice(-1), ['opened of web at 41'])
})

test('rules about other services, and about none, stay as they are', async (t) => {
  const world = ownChannel(t, [{ services: ['web'] }, { minSeverity: 'critical' }])
  const { addOwn, fires, deps, acme } = world
  addOwn()
  await fires(1, 'cart')
  await rename(world, 'cart', 'basket')
  const own = listRecipients(deps.db, acme.key).find(({ name }) => name === 'own')
  assert.deepEqual(own?.settings.rules, [{ services: ['web'] }, { minSeverity: 'critical' }])
})
