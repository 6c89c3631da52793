/** Two senders report one alert, as a pair of Alertmanagers does, and the first reports its end. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { createChannel } from '../../src/actions/channels.ts'
import { absorb } from '../../src/domain/alert/alert.ts'
import { SECOND } from '../../src/domain/units.ts'
import { toProblem } from '../../src/store/incident/live-incidents.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { criticalMsOf } from '../helpers/lengths.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { firing, type Held, opened, resolved } from '../helpers/signals.ts'

const ENDS = NOON + 5 * MINUTE

/** `Bad` fires at noon for both senders, and the first reports the end 5 minutes later. Times are seconds after it. */
async function ended(t: TestContext, receiver = 'b') {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const send = async (at: number, to: string, more: object) => {
    await flow.sweepUntil(at, SECOND)
    const items = [alert('Bad', { service: 'pay', severity: 'critical' }, { startsAt: NOON, ...more })]
    return flow.send('metrics', { ...alertmanager(items), receiver: to })
  }
  await send(NOON, 'a', {})
  await send(NOON + 8 * SECOND, receiver, {})
  await send(ENDS, 'a', { endsAt: ENDS })
  const second = (seconds: number, more: object = {}) => send(ENDS + seconds * SECOND, receiver, more)
  const told = async (until: number) => {
    await flow.sweepUntil(ENDS + until * SECOND, SECOND)
    return deps.db
      .all(deps.db.sql.selectFrom('outbox').select(['kind', 'facts', 'created_at as at']).orderBy('id'))
      .map(({ kind, facts, at }) => [kind, JSON.parse(facts).wasWrong, (at - ENDS) / SECOND])
      .slice(1)
  }
  // The interval goes on from its start without a gap, so that messages name the start of the incident.
  const begun = () => {
    const [incident] = flow.incidents()
    const problem = toProblem(incident?.problem ?? '{}')
    return [incident?.started_at, problem.since, criticalMsOf(problem, problem.since ?? 0)]
  }
  return { ...flow, second, told, begun }
}

for (const [title, more, receiver] of [
  ['the same start', {}, 'b'],
  ['a start of its own', { startsAt: NOON + 8 * SECOND }, 'b'],
  ['the name of the first', {}, 'a'],
] as const) {
  test(`a second sender with ${title} that goes on repeating the alert within a minute prevents the all-clear`, async (t) => {
    const { second, told, begun } = await ended(t, receiver)
    for (let at = 5; at <= 300; at += 25) await second(at, more)
    assert.deepEqual(await told(310), [])
    assert.deepEqual(begun(), [NOON, NOON, 0])
  })

  test(`a second sender with ${title} that goes on later disproves the all-clear once`, async (t) => {
    const { second, told, begun } = await ended(t, receiver)
    for (let at = 50; at <= 500; at += 50) await second(at, more)
    assert.deepEqual(await told(510), [
      ['recovered', false, 60],
      ['again', true, 100],
    ])
    assert.deepEqual(begun(), [NOON, NOON, 0])
  })
}

test('the first repeat is remembered over a restart', async (t) => {
  const { second, told, restart } = await ended(t)
  await second(10)
  restart()
  await second(35)
  assert.deepEqual(await told(120), [])
})

test('the alert ends with the end that the second sender reports', async (t) => {
  const { second, told } = await ended(t)
  for (const at of [20, 45, 70]) await second(at)
  await second(90, { endsAt: ENDS + 90 * SECOND })
  assert.deepEqual(await told(200), [['recovered', false, 150]])
})

const RECOVERED = [['recovered', false, 60]]
for (const [title, firing, ends] of [
  ['that is silent', [], []],
  ['that delivers one copy late', [20], []],
  ['that delivers one copy after the all-clear', [90], []],
  ['that tries one delivery several times', [20, 25, 35], []],
  ['that delivers one copy before its own end', [20], [40]],
  ['that delivers one copy before its own end and one after it', [20, 70], [40]],
  ['whose only copy comes after its own end', [70], [15]],
] as const) {
  test(`a second sender ${title} does not change the end`, async (t) => {
    const { second, told, alerts } = await ended(t)
    const sent = [...firing.map((at) => [at, {}] as const), ...ends.map((at) => [at, { endsAt: ENDS }] as const)]
    for (const [at, more] of sent.toSorted(([one], [other]) => one - other)) await second(at, more)
    assert.deepEqual(await told(400), RECOVERED)
    assert.equal(alerts()[0]?.status, 'resolved')
  })
}

test('one late delivery, tried for less than 20 seconds, never reopens, and a repeat after that always does', () => {
  const seconds = (min: number, max: number) => fc.integer({ min, max })
  const shown = fc.record({
    first: seconds(1, 300),
    tries: fc.array(seconds(0, 19), { maxLength: 4 }),
    ownEnd: fc.option(seconds(1, 600)),
    repeat: seconds(20, 300),
  })
  fc.assert(
    fc.property(shown, ({ first, tries, ownEnd, repeat }) => {
      const copies = [0, ...tries].map((late) => [first + late, firing()] as const)
      const ends = [0, ...(ownEnd === null ? [] : [ownEnd])].map((at) => [at, resolved(ENDS)] as const)
      const statusAfter = (items: readonly (readonly [number, ReturnType<typeof firing>])[]) =>
        items
          .toSorted(([one], [other]) => one - other)
          .reduce<Held>(
            ({ alert: before, fingerprints }, [at, signal]) => absorb(before, fingerprints, signal, ENDS + at * SECOND),
            opened(firing()),
          ).alert.status
      assert.equal(statusAfter([...ends, ...copies]), 'resolved')
      const isOver = ownEnd !== null && ownEnd >= first
      if (!isOver) assert.equal(statusAfter([...ends, ...copies, [first + repeat, firing()]]), 'firing')
    }),
  )
})
