/** What ends before its opening could be sent is told with its end. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import type { Rule } from '../../src/domain/notification/rule.ts'
import { SECOND } from '../../src/domain/units.ts'
import { NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const REFUSED = 'dial tcp: connect to postgres.shop.svc:5432: connection refused'

/** Returns a flow whose channel sends what is due every five seconds. `told`: the messages, with the second of each. */
function pager(t: TestContext, rules: readonly Rule[] = []) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0, rules })
  const told: string[] = []
  const until = async (second: number) => {
    for (let at = clock.now; at <= NOON + second * SECOND; at += SECOND) {
      clock.now = at
      while (await deps.engine.sweep());
      for (const { title, body } of pump(deps)) told.push(`${(at - NOON) / SECOND}: ${title} ${body}`)
    }
  }
  const report = async (second: number, name: string, services: readonly string[], isOver = false) => {
    await until(second)
    const times = { startsAt: isOver ? NOON : clock.now, ...(isOver ? { endsAt: clock.now } : {}) }
    const labels = { namespace: 'shop', severity: 'critical' }
    const summary = name === 'Refused' ? REFUSED : `${name} text`
    const items = services.map((service) => alert(name, { ...labels, service }, { ...times, summary }))
    await flow.send('metrics', alertmanager(items, { groupKey: `${name} ${services.join()}` }))
  }
  return { ...flow, report, until, told }
}

test('the cause of a group that burns for less than a minute is told with its end', async (t) => {
  const { report, until, told } = pager(t)
  await report(0, 'Refused', ['cart', 'payment', 'search'])
  await report(10, 'Down', ['postgres'])
  await report(46, 'Down', ['postgres'], true)
  await until(130)
  assert.equal(told.length, 2)
  assert.match(told[0] ?? '', /^0: 3 services are critical, probably because of postgres\./)
  assert.match(told[1] ?? '', /^10\d: postgres has recovered: it was critical for 36 s, until 12:00 UTC\./)
  assert.match(told[1] ?? '', /Still critical, probably because of postgres: cart, payment and search\. It was: Down: /)
})

test('a fourth victim of a group that burns for less than a minute is told with its end', async (t) => {
  const { report, until, told } = pager(t)
  await report(0, 'Refused', ['cart', 'payment', 'search'])
  await report(10, 'Refused', ['till'])
  await report(35, 'Refused', ['till'], true)
  await until(130)
  assert.equal(told.length, 2)
  assert.match(told[1] ?? '', /^95: till has recovered: it was critical for 25 s, until 12:00 UTC\./)
})

test('what burns for longer than the group waits is named by the next message about the group, as before', async (t) => {
  const { report, until, told } = pager(t)
  await report(0, 'Refused', ['cart', 'payment', 'search'])
  await report(10, 'Refused', ['till'])
  await until(130)
  assert.equal(told.length, 2)
  assert.match(told[1] ?? '', /^60: 4 services are critical.*till: Refused/)
})

test('what ends while a digest waits is told in it with its end', async (t) => {
  const { report, until, told } = pager(t)
  for (const service of ['a', 'b', 'c']) await report(0, service, [service])
  await report(1, 'd', ['d'])
  await report(20, 'd', ['d'], true)
  await until(100)
  assert.equal(told.length, 4)
  assert.match(told[3] ?? '', /^8\d: d has recovered: it was critical for 19 s/)
})

test('an outage whose begin and end are delivered together, after a stop of incmon, is told with its end', async (t) => {
  const { send, clock, restart, until, told } = pager(t)
  clock.now = NOON + 120 * SECOND
  restart()
  const times = [{ startsAt: NOON }, { startsAt: NOON, endsAt: NOON + 100 * SECOND }]
  for (const one of times) await send('metrics', alertmanager([alert('Down', { service: 'cart' }, one)]))
  await until(200)
  assert.equal(told.length, 1)
  assert.match(told[0] ?? '', /^1\d\d: cart has recovered: it was critical for 1 min 40 s, until 12:01 UTC\./)
})

test('a channel that wants only groups does not hear of it', async (t) => {
  const { report, until, told } = pager(t, [{ events: ['group'] }])
  await report(0, 'Refused', ['cart', 'payment', 'search'])
  await report(10, 'Refused', ['till'])
  await report(35, 'Refused', ['till'], true)
  await until(130)
  assert.equal(told.length, 1)
})
