/** A request that is stored in several chunks: what it says at once is told at once, and not as something that got worse. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

for (const [what, age, count, expected] of [
  ['one message opens the incident', 0, 400, [['opened', 0, ['A', 'B']]]],
  [
    'one message says what got worse',
    5,
    250,
    [
      ['opened', 0, ['Old']],
      ['worse', 5, ['A', 'B']],
    ],
  ],
  [
    'one message says what got worse',
    5,
    2_000,
    [
      ['opened', 0, ['Old']],
      ['worse', 5, ['A', 'B']],
    ],
  ],
] as const) {
  test(`of two conditions at both ends of a request with ${count} others, ${what}`, async (t) => {
    const { deps, acme, send, sweepUntil, clock } = makeFlow(t)
    createChannel(deps, acme.key, { name: 'one', kind: 'slack', target: 'https://a.example/', remindAfter: 0 })
    if (age > 0) {
      await send('metrics', alertmanager([alert('Old', { service: 'cart' }, { startsAt: NOON })]))
      await sweepUntil(NOON + age * MINUTE)
    }
    const times = { startsAt: clock.now }
    const others = Array.from({ length: count }, (_, n) => {
      return alert('Busy', { service: `s${n}`, severity: 'warning' }, times)
    })
    const one = (name: string) => alert(name, { service: 'cart' }, times)
    await send('metrics', alertmanager([one('A'), ...others, one('B')]))
    await sweepUntil(clock.now + 3 * MINUTE)
    const told = deps.db.sql.selectFrom('outbox').select(['kind', 'created_at as at', 'facts']).orderBy('id')
    const rows = deps.db.all(told)
    assert.deepEqual(
      rows.map(({ kind, at, facts }) => [kind, (at - NOON) / MINUTE, JSON.parse(facts).names]),
      expected,
    )
  })
}
