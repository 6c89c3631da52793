/** An exporter with a pod of its own asks a database: the database is ill, and stays the same if the exporter restarts. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

type Labels = Readonly<Record<string, string>>
const pod = (end: string) => ({ pod: `db-exporter-7d9f5b6c8-${end}`, service: 'db-exporter', job: 'db-exporter' })

/** The exporter reports `labels`, then restarts and reports them again; returns the services and the alerts. */
async function play(t: Parameters<typeof makeFlow>[0], labels: Labels) {
  const flow = makeFlow(t)
  for (const [minute, end, instance] of [
    [0, 'xk2lp', '10.42.1.8:9187'],
    [2, 'b7k4z', '10.42.3.9:9187'],
  ] as const) {
    const told = alert('DatabaseDown', { ...pod(end), instance, ...labels }, { startsAt: NOON })
    await flow.send('metrics', alertmanager([told]), { at: NOON + minute * MINUTE })
  }
  const services = flow.services().map(({ namespace, name }) => `${namespace}/${name}`)
  return { services, alerts: flow.alerts().length, incidents: flow.incidents().length }
}

describe('the database has one alert and one incident, also after a restart of the exporter, named by', () => {
  const stories: readonly (readonly [string, Labels])[] = [
    ['the label of the exporter of PostgreSQL', { server: 'orders-db.shop.svc.cluster.local:5432', datname: 'orders' }],
    ['the label of the exporter of Redis', { addr: 'orders-db:6379' }],
    ['the member of a replica set of MongoDB', { member_idx: 'orders-db-2.orders-db.shop.svc:27017', rs_nm: 'rs0' }],
    ['the scraped address of a database', { instance: 'orders-db:3306' }],
  ]
  for (const [title, labels] of stories)
    test(title, async (t) =>
      assert.deepEqual(await play(t, labels), { services: ['shop/orders-db'], alerts: 1, incidents: 1 }),
    )
})

describe('the exporter is ill', () => {
  test('if no label names what it asked', async (t) =>
    assert.deepEqual((await play(t, {})).services, ['shop/db-exporter']))
  test('if it asked its own host', async (t) =>
    assert.deepEqual((await play(t, { server: '127.0.0.1:5432' })).services, ['shop/db-exporter']))
})
