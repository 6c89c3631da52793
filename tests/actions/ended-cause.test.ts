/** Once what a common cause has broken is over, messages about what goes on name no cause. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { findLikelyCause } from '../../src/store/incident/likely-cause.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const REFUSED = 'dial tcp: connect to postgres.shop.svc:5432: connection refused'

/** The database is down, and three services cannot reach it. */
async function world(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const sent: string[] = []
  const until = async (minute: number) => {
    await flow.sweepUntil(NOON + minute * MINUTE, MINUTE / 6)
    sent.push(...pump(deps).map(({ items, title, body }) => `${items.at(-1)?.kind}: ${title} ${body}`))
  }
  const report = (name: string, service: string, from: number, to?: number, severity = 'critical') => {
    const times = { startsAt: NOON + from * MINUTE, ...(to === undefined ? {} : { endsAt: NOON + to * MINUTE }) }
    const more = name === 'Slow' ? { summary: REFUSED } : {}
    const items = [alert(name, { service, severity }, { ...times, ...more })]
    return flow.send('metrics', alertmanager(items, { groupKey: `${name} ${service}` }))
  }
  const causeOf = (service: string, names: readonly string[] | null = null) => {
    const incident = flow.incidents().find(({ title }) => title.startsWith(`${service}: `))
    return findLikelyCause(deps.db, acme.key, incident?.id ?? '', clock.now, names)?.cause ?? ''
  }
  await report('DbDown', 'postgres', 0)
  for (const service of ['cart', 'payment', 'search']) await report('Slow', service, 0.2)
  await until(2)
  const told = () => sent.splice(0)
  return { ...flow, until, report, causeOf, told }
}

test('while it goes on, messages name it', async (t) => {
  const { told, causeOf } = await world(t)
  assert.match(told().join('\n'), /4 services are critical, probably because of postgres\./)
  assert.match(causeOf('cart'), /postgres/)
})

test('a condition that has nothing to do with it is told without it', async (t) => {
  const { report, until, causeOf } = await world(t)
  await report('Cert', 'cart', 2)
  await until(2.5)
  assert.match(causeOf('cart'), /postgres/)
  assert.equal(causeOf('cart', ['Cert']), '')
  assert.match(causeOf('cart', ['Slow']), /postgres/)
})

test('such a condition keeps neither the group nor the cause after the rest is over', async (t) => {
  const { report, until, causeOf, told } = await world(t)
  await report('Cert', 'cart', 2)
  await until(3)
  told()
  await report('DbDown', 'postgres', 0, 3)
  for (const service of ['cart', 'payment', 'search']) await report('Slow', service, 0.2, 3)
  await until(5)
  assert.equal(causeOf('cart'), '')
  const texts = told().join('\n')
  assert.match(texts, /postgres/)
  assert.doesNotMatch(texts, /Still critical|cart/)
})

test('nor does a condition that begins only then', async (t) => {
  const { report, until, causeOf, told } = await world(t)
  for (const service of ['cart', 'payment', 'search']) await report('Slow', service, 0.2, 3)
  await report('DbDown', 'postgres', 0, 3)
  await until(5)
  told()
  await report('Cert', 'cart', 5)
  await until(5.5)
  const texts = told().join('\n')
  assert.match(texts, /^again: cart is critical again: .*Cert/)
  assert.doesNotMatch(`${texts} ${causeOf('cart')}`, /postgres/)
})

test('if nothing fires, the group is that of what has ended', async (t) => {
  const { report, until, told } = await world(t)
  told()
  await report('Slow', 'cart', 0.2, 3)
  await until(4.5)
  assert.match(told().join('\n'), /^recovered: .*Still critical: postgres \(the probable cause\), /)
})

test('an information that goes on keeps the cause of what has ended', async (t) => {
  const { report, until, causeOf } = await world(t)
  await report('Note', 'cart', 2, undefined, 'info')
  await report('Slow', 'cart', 0.2, 3)
  await until(4.5)
  assert.match(causeOf('cart'), /postgres/)
})
