/** What a channel is told first about an incident that its rules did not match before. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import type { ChannelSettings } from '../../src/domain/notification/channel.ts'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { SECOND } from '../../src/domain/units.ts'
import { changeIncident, createIncident } from '../helpers/acts.ts'
import { NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** Returns a flow with the channels `all` and `pay`, and what each was told: `opened at 10: Pay`, in seconds after noon. */
function told(t: TestContext, settings: Partial<ChannelSettings>) {
  const flow = makeFlow(t)
  const { deps, acme, clock, incidents, service } = flow
  for (const [name, more] of [
    ['all', {}],
    ['pay', settings],
  ] as const)
    createChannel(deps, acme.key, { name, kind: 'slack', target: 'https://example.com/x', ...more })
  const fires = async (second: number, name: string, labels: Readonly<Record<string, string>> = {}, isOver = false) => {
    clock.now = NOON + second * SECOND
    const times = isOver ? { startsAt: clock.now - 1, endsAt: clock.now } : { startsAt: clock.now }
    const item = alert(name, { service: 'cart', ...labels }, times)
    await flow.send('metrics', alertmanager([item], { groupKey: name }))
  }
  const declare = async () => {
    await fires(0, 'Busy', { severity: 'info' })
    const wanted = { serviceId: service('cart')?.id ?? '', title: 'Typo', severity: 'warning' } as const
    await createIncident(deps, acme.key, wanted, 'anna')
  }
  const change = (to: object) => changeIncident(deps, acme.key, incidents()[0]?.id ?? '', to, 'bob')
  const of = (channel: string) => {
    const joined = deps.db.sql.selectFrom('outbox').innerJoin('channels', 'channels.id', 'channel_id')
    const rows = joined.where('channels.name', '=', channel).select(['outbox.kind', 'due_at as at', 'facts'])
    return deps.db.all(rows.orderBy('outbox.id')).map(({ kind, at, facts }) => {
      return `${kind} at ${(at - NOON) / SECOND}: ${JSON.parse(facts).names.join(', ')}`
    })
  }
  return { ...flow, fires, declare, change, of }
}

const PAY = { rules: [{ matchers: parseMatchers('team="pay"') }] }
const CRITICAL = { rules: [{ minSeverity: 'critical' as const }] }

test('an alert of a team in the first minute is told to the team at once, and to others with the rest', async (t) => {
  const { fires, of } = told(t, PAY)
  await fires(0, 'Bad')
  await fires(10, 'Pay', { team: 'pay' })
  await fires(50, 'Pay', { team: 'pay' }, true)
  await fires(110, 'Pay', { team: 'pay' })
  assert.deepEqual(of('pay'), ['opened at 10: Pay'])
  assert.deepEqual(of('all'), ['opened at 0: Bad', 'worse at 60: Pay'])
})

test('what the team was told at once is not told to it again, but what comes next is', async (t) => {
  const { fires, of } = told(t, PAY)
  await fires(0, 'Bad')
  await fires(10, 'Pay', { team: 'pay' })
  await fires(40, 'Slow', { team: 'pay' })
  assert.deepEqual(of('pay'), ['opened at 10: Pay', 'worse at 60: Slow'])
})

test('an alert without the label of the team is not told to it', async (t) => {
  const { fires, of } = told(t, PAY)
  await fires(0, 'Bad')
  await fires(10, 'Slow', { team: 'web' })
  assert.deepEqual(of('pay'), [])
})

for (const [what, events, expected] of [
  ['that wants openings only', ['opened'], ['opened at 20: Bad']],
  ['that wants everything but openings', ['worse', 'recovered'], ['worse at 20: Bad']],
  ['that wants recoveries only', ['recovered'], []],
] as const) {
  test(`a channel for critical incidents ${what} hears when a declared warning becomes critical`, async (t) => {
    const { fires, declare, of } = told(t, { rules: [{ events, minSeverity: 'critical' }] })
    await declare()
    await fires(20, 'Bad')
    assert.deepEqual([of('pay'), of('all')], [expected, ['opened at 0: ', 'worse at 20: Bad']])
  })
}

test('a user who raises the severity opens the incident for the channel for critical ones, which was not told', async (t) => {
  const { declare, change, clock, of } = told(t, CRITICAL)
  await declare()
  clock.now = NOON + 30 * SECOND
  await change({ severity: 'critical' })
  assert.deepEqual([of('pay'), of('all')], [['opened at 30: '], ['opened at 0: ', 'severity at 30: ']])
})

test('a user who raises it to error does not', async (t) => {
  const { declare, change, of } = told(t, CRITICAL)
  await declare()
  await change({ severity: 'error' })
  assert.deepEqual(of('pay'), [])
})

test('an escalation channel waits for its time although its rule matches later', async (t) => {
  const { fires, of } = told(t, { ...PAY, escalateAfter: 5 })
  await fires(0, 'Bad')
  await fires(10, 'Pay', { team: 'pay' })
  assert.deepEqual(of('pay'), [])
})

test('a condition that only others were told of is told to the team once it fires with the label of the team', async (t) => {
  const { fires, of } = told(t, PAY)
  await fires(0, 'Pay', { team: 'pay' })
  await fires(100, 'Bad', { team: 'web' })
  await fires(200, 'Bad', { team: 'pay' })
  await fires(230, 'Bad', { team: 'pay' })
  assert.deepEqual(of('pay'), ['opened at 0: Pay', 'worse at 200: Bad'])
  assert.deepEqual(of('all'), ['opened at 0: Pay', 'worse at 100: Bad'])
})

test('in the first minute, it is told at its end', async (t) => {
  const { fires, of } = told(t, PAY)
  await fires(0, 'Pay', { team: 'pay' })
  await fires(10, 'Bad', { team: 'web' })
  await fires(20, 'Bad', { team: 'pay' })
  assert.deepEqual(of('pay'), ['opened at 0: Pay', 'worse at 60: Bad'])
})

for (const [what, labels] of [
  ['as a warning', { team: 'pay', severity: 'warning' }],
  ['with the label of another team', { team: 'shop' }],
] as const) {
  test(`the team hears nothing of it if it fires ${what}`, async (t) => {
    const { fires, of } = told(t, PAY)
    await fires(0, 'Pay', { team: 'pay' })
    await fires(100, 'Bad', { team: 'web' })
    await fires(200, 'Bad', labels)
    assert.deepEqual(of('pay'), ['opened at 0: Pay'])
  })
}

test('what the team was told of is not told again when another alert of the same name joins', async (t) => {
  const { fires, of } = told(t, PAY)
  await fires(0, 'Pay', { team: 'pay' })
  await fires(100, 'Bad', { team: 'pay' })
  await fires(200, 'Bad', { team: 'pay', pod: 'cart-2' })
  assert.deepEqual(of('pay'), ['opened at 0: Pay', 'worse at 100: Bad'])
})
