/** The all-clear of several incidents names their common cause only if what was over named it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const VICTIMS = ['cart', 'payment', 'search']
const REFUSED = 'dial tcp: connect to postgres.shop.svc:5432: connection refused'

/** Three services name the database that fails from minute 0 to 2. Then an alert fires on each of them from minute 5 to 8. */
async function allClears(t: TestContext, name: string, summary: string, moreOn: readonly string[] = []) {
  const flow = makeFlow(t)
  createChannel(flow.deps, flow.acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x' })
  const sent: string[] = []
  const until = async (minute: number) => {
    while (flow.clock.now < NOON + minute * MINUTE) {
      await flow.sweepUntil(flow.clock.now + MINUTE / 4, MINUTE / 4)
      sent.push(...pump(flow.deps).map(({ title, body }) => `${title} ${body}`))
    }
  }
  const report = (title: string, services: readonly string[], text: string, from: number, to?: number) => {
    const times = { startsAt: NOON + from * MINUTE, ...(to !== undefined && { endsAt: NOON + to * MINUTE }) }
    const labels = { namespace: 'shop', severity: 'critical' }
    const items = services.map((service) => alert(title, { ...labels, service }, { ...times, summary: text }))
    return flow.send('metrics', alertmanager(items, { groupKey: title }))
  }
  await report('Refused', VICTIMS, REFUSED, 0)
  await until(2)
  await report('Refused', VICTIMS, REFUSED, 0, 2)
  await until(5)
  await report(name, [...VICTIMS, ...moreOn], summary, 5)
  await until(8)
  await report(name, [...VICTIMS, ...moreOn], summary, 5, 8)
  await until(12)
  return sent.filter((text) => text.includes('recovered'))
}

test('what named the database is over with the database', async (t) => {
  const [first = '', ...others] = await allClears(t, 'Refused', REFUSED)
  for (const text of [first, ...others.slice(-1)]) assert.match(text, /Probable cause: postgres\./)
})

for (const [what, name, moreOn] of [
  ['another alert', 'Cert', []],
  ['an alert of the same name', 'Refused', []],
  ['an alert that fires on further services, too', 'Cert', ['till', 'web']],
] as const)
  test(`${what} that names no database is not over because of it`, async (t) => {
    const [first = '', ...others] = await allClears(t, name, 'The certificate has expired', moreOn)
    assert.match(first, /Probable cause: postgres\./)
    assert.ok(others.length > 0)
    assert.doesNotMatch(others.join(' | '), /postgres/)
  })
