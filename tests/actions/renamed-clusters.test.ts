/** A service that is renamed, or merged, while another cluster has a service of the same name. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { mergeServices, updateService } from '../../src/engine/changes/services.ts'
import { uuidFromBytes } from '../../src/store/sqlite/uuid.ts'
import { NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

function world(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme, send } = flow
  const fire = (cluster: string, service = 'x') => {
    const labels = { service, namespace: 'shop', ...(cluster === '' ? {} : { cluster }) }
    return send(
      'metrics',
      alertmanager([alert('Down', labels, { startsAt: NOON })], { groupKey: `${cluster} ${service}` }),
    )
  }
  const services = () =>
    deps.db.all(deps.db.sql.selectFrom('services').select(['id', 'uuid', 'cluster', 'name', 'status']).orderBy('id'))
  const found = (cluster: string, name: string) => {
    const service = services().find((one) => one.cluster === cluster && one.name === name)
    if (!service) throw new Error(`no ${name} in ${cluster}`)
    return { ...service, id: uuidFromBytes(service.uuid) }
  }
  const rename = (cluster: string, from: string, name: string) =>
    deps.engine.run(acme.key, (ctx, now) => updateService(ctx, found(cluster, from).id, { name }, now))
  const merge = (from: readonly [string, string], into: readonly [string, string]) =>
    deps.engine.run(acme.key, (ctx, now) => mergeServices(ctx, found(...from).id, found(...into).id, now))
  const names = () => services().map(({ cluster, name }) => `${name} in ${cluster}`)
  const alertsOf = () =>
    deps.db
      .all(
        deps.db.sql
          .selectFrom('alerts')
          .innerJoin('services', 'services.id', 'alerts.service_id')
          .select(['services.cluster', 'services.name'])
          .orderBy('alerts.id'),
      )
      .map(({ cluster, name }) => `${name} in ${cluster}`)
  return { ...flow, fire, rename, merge, names, alertsOf }
}

test('the alerts of the other cluster stay with their service', async (t) => {
  const { fire, rename, alertsOf } = world(t)
  for (const cluster of ['eu', 'us']) await fire(cluster)
  await rename('eu', 'x', 'xx')
  for (const cluster of ['eu', 'us']) await fire(cluster)
  assert.deepEqual(alertsOf(), ['xx in eu', 'x in us'])
})

test('the first alert of another cluster after the rename gets a service of its own', async (t) => {
  const { fire, rename, alertsOf } = world(t)
  await fire('us')
  await rename('us', 'x', 'xx')
  await fire('eu')
  assert.deepEqual(alertsOf(), ['xx in us', 'x in eu'])
})

test('both can be renamed, and each keeps its alerts', async (t) => {
  const { fire, rename, alertsOf } = world(t)
  for (const cluster of ['eu', 'us']) await fire(cluster)
  await rename('eu', 'x', 'xx')
  await rename('us', 'x', 'xy')
  for (const cluster of ['eu', 'us']) await fire(cluster)
  assert.deepEqual(alertsOf(), ['xx in eu', 'xy in us'])
})

test('after a merge in one cluster, the other cluster keeps its service', async (t) => {
  const { fire, merge, alertsOf } = world(t)
  for (const cluster of ['eu', 'us']) await fire(cluster)
  await fire('eu', 'y')
  await merge(['eu', 'x'], ['eu', 'y'])
  for (const cluster of ['eu', 'us']) await fire(cluster)
  assert.deepEqual([...new Set(alertsOf())].sort(), ['x in us', 'y in eu'])
})

test('after a merge into a service of another cluster, later alerts go there', async (t) => {
  const { fire, merge, names, alertsOf } = world(t)
  await fire('eu')
  await fire('us', 'y')
  await merge(['eu', 'x'], ['us', 'y'])
  await fire('eu')
  assert.deepEqual([...new Set(alertsOf())], ['y in us'])
  assert.deepEqual(names(), ['y in us'])
})

test('an alert that names no cluster belongs to the renamed service', async (t) => {
  const { fire, rename, alertsOf } = world(t)
  await fire('eu')
  await rename('eu', 'x', 'xx')
  await fire('')
  assert.deepEqual([...new Set(alertsOf())], ['xx in eu'])
})
