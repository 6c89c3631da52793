/** An alert that ended and fires anew within ten minutes is the same alert, but its problem began anew. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { createSilence } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const after = (minutes: number) => NOON + minutes * MINUTE
const down = (startsAt: number, endsAt?: number) =>
  alertmanager([alert('Down', { service: 'cart' }, { startsAt, ...(endsAt === undefined ? {} : { endsAt }) })])

type Flow = ReturnType<typeof makeFlow>

async function refire(flow: Flow): Promise<void> {
  await flow.send('metrics', down(NOON, after(2)), { at: after(2) })
  await flow.sweepUntil(after(4))
  await flow.send('metrics', down(after(4)))
  while (await flow.deps.engine.sweep());
}

const problems = ({ incidents }: Flow) =>
  incidents().map(({ problem }) => {
    const { since, covered } = JSON.parse(problem)
    return { since: since && (since - NOON) / MINUTE, covered }
  })

test('an incident that opens then has been critical since the new start', async (t) => {
  const flow = makeFlow(t)
  await flow.send(
    'metrics',
    alertmanager([alert('Down', { service: 'cart', severity: 'warning' }, { startsAt: NOON })]),
  )
  await flow.send('metrics', down(NOON, after(2)), { at: after(2) })
  await flow.sweepUntil(after(4))
  await flow.send('metrics', down(after(4)))
  assert.deepEqual(problems(flow), [{ since: 4, covered: null }])
})

test('an incident that comes back has been critical since the new start', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down(NOON))
  await refire(flow)
  assert.deepEqual(problems(flow), [{ since: 4, covered: null }])
})

for (const [what, minutes, covered] of [
  ['before the new start did not cover it', 3, null],
  ['after the new start did', 6, { since: after(4), until: after(6) }],
] as const) {
  test(`a silence that ended ${what}`, async (t) => {
    const flow = makeFlow(t)
    const { deps, acme } = flow
    const period = { startsAt: NOON, endsAt: after(minutes), schedule: null }
    await createSilence(
      deps,
      acme.key,
      { matchers: parseMatchers('service=cart'), ...period, comment: 'Upgrade' },
      'anna',
    )
    await flow.send('metrics', down(NOON), { at: after(0.5) })
    await refire(flow)
    await flow.sweepUntil(after(6))
    assert.deepEqual(
      problems(flow).map((problem) => problem.covered),
      [covered],
    )
  })
}
