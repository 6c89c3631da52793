/** What is told after an all-clear, when conditions of an incident return one after the other. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { digestTextOf } from '../../src/domain/notification/digest.ts'
import { listItems } from '../../src/store/notification/items.ts'
import { changeIncident, createSilence, expireSilence } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { criticalMsOf } from '../helpers/lengths.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

function returning(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  createChannel(deps, acme.key, { name: 'pager', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const send = async (minute: number, name: string, isOver = false) => {
    await flow.sweepUntil(NOON + minute * MINUTE, MINUTE / 6)
    const { now } = flow.clock
    const times = isOver ? { startsAt: now - 1, endsAt: now } : { startsAt: now }
    await flow.send('metrics', alertmanager([alert(name, { service: 'cart' }, times)], { groupKey: name }))
  }
  const told = () => {
    const rows = deps.db.all(deps.db.sql.selectFrom('outbox').select(['kind', 'due_at as at']).orderBy('id'))
    return rows.map(({ kind, at }) => `${kind} at ${(at - NOON) / MINUTE}`)
  }
  const act = (change: object) => changeIncident(deps, acme.key, flow.incidents()[0]?.id ?? '', change, 'anna')
  return { ...flow, fires: send, ends: (minute: number, name: string) => send(minute, name, true), told, act }
}

test('a second condition of the first outage is news in the second one', async (t) => {
  const { fires, ends, told, sweepUntil } = returning(t)
  await fires(0, 'Slow')
  await ends(1, 'Slow')
  await fires(8, 'Down')
  await fires(12, 'Slow')
  await sweepUntil(NOON + 15 * MINUTE)
  assert.deepEqual(told(), ['opened at 0', 'recovered at 2', 'again at 8', 'worse at 12'])
})

test('without an all-clear in between, it is not', async (t) => {
  const { fires, ends, told, sweepUntil } = returning(t)
  await fires(0, 'Slow')
  await fires(0.5, 'Down')
  await ends(3, 'Slow')
  await fires(12, 'Slow')
  await sweepUntil(NOON + 15 * MINUTE)
  assert.deepEqual(told(), ['opened at 0', 'worse at 1'])
})

test('what a user rated lower stays so', async (t) => {
  const { fires, ends, told, act, incidents } = returning(t)
  await fires(0, 'Slow')
  await act({ severity: 'warning' })
  await ends(1, 'Slow')
  await fires(8, 'Slow')
  await ends(9, 'Slow')
  await fires(15, 'Slow')
  assert.deepEqual([incidents()[0]?.severity, told().includes('worse at 15')], ['warning', false])
})

test('a second alert after a resolution by hand is no return of the problem', async (t) => {
  const { fires, ends, told, act, deps } = returning(t)
  await fires(0, 'Bad')
  await fires(0.2, 'Odd')
  await act({ status: 'resolved' })
  await fires(0.5, 'Worse')
  for (const name of ['Bad', 'Odd', 'Worse']) await ends(3, name)
  for (const minute of [6, 10]) {
    await fires(minute, 'Bad')
    await ends(minute + 1, 'Bad')
  }
  assert.equal(told().filter((one) => one.startsWith('flapping')).length, 0)
  await fires(14, 'Bad')
  assert.deepEqual(told().at(-1), 'flapping at 14')
  deps.db.all(deps.db.sql.updateTable('outbox').set({ leader_id: 1 }).where('kind', '=', 'flapping').returning('id'))
  const items = listItems(deps.db, 1, new Map(), NOON + 14 * MINUTE).filter(({ kind }) => kind === 'flapping')
  const context = { now: NOON + 14 * MINUTE, timeZone: 'UTC', resolveAfter: null, cause: '', suspects: [] }
  const { title } = digestTextOf(items, { ...context, url: null, acknowledgeUrl: null, acknowledgeUrls: {} })
  assert.match(title, /it came back 3 times within the last hour/)
})

/** Mutes the service with a silence until the returned function ends it. */
async function mute({ deps, acme, clock }: ReturnType<typeof returning>) {
  const period = { startsAt: clock.now, endsAt: clock.now + 240 * MINUTE, schedule: null, comment: 'work' }
  const matchers = [{ name: 'service', op: '=' as const, value: 'cart' }]
  const id = await createSilence(deps, acme.key, { ...period, matchers } as never, 'anna')
  return () => expireSilence(deps, acme.key, id)
}

test('there is no all-clear while another critical alert fires that began under the silence', async (t) => {
  const flow = returning(t)
  const { fires, ends, told, sweepUntil, incidents } = flow
  await fires(0, 'Bad')
  await mute(flow)
  await fires(1, 'Second')
  await ends(2, 'Bad')
  await sweepUntil(NOON + 6 * MINUTE)
  assert.deepEqual([told(), incidents()[0]?.status], [['opened at 0'], 'open'])
  await ends(7, 'Second')
  await sweepUntil(NOON + 9 * MINUTE)
  assert.deepEqual([told(), incidents()[0]?.status], [['opened at 0', 'recovered at 8'], 'monitoring'])
})

test('a critical alert that has been silenced all the time does not delay the all-clear', async (t) => {
  const flow = returning(t)
  const { fires, ends, told, sweepUntil } = flow
  await mute(flow)
  await fires(0, 'Noise')
  await flow.deps.engine.sweep()
  await sweepUntil(NOON + 6 * MINUTE)
  assert.deepEqual(told(), [])
  await ends(7, 'Noise')
})

test('an alert that fired under a silence, and fires anew after it, has been critical only since then', async (t) => {
  const flow = returning(t)
  const { fires, ends, sweepUntil, incidents } = flow
  const unmute = await mute(flow)
  await fires(1, 'Slow')
  await ends(13, 'Slow')
  await unmute()
  await fires(16, 'Slow')
  await sweepUntil(NOON + 17 * MINUTE)
  const [{ problem, started_at: at } = { problem: '{}', started_at: 0 }] = incidents()
  assert.deepEqual([JSON.parse(problem).since, at], [NOON + 16 * MINUTE, NOON + 16 * MINUTE])
})

test('what a user left on neither names the next incident nor begins it', async (t) => {
  const flow = returning(t)
  const { fires, act, incidents, sweepUntil } = flow
  await fires(0, 'Down')
  const unmute = await mute(flow)
  await sweepUntil(NOON + 2 * MINUTE)
  await act({ status: 'resolved' })
  await sweepUntil(NOON + 5 * MINUTE)
  await unmute()
  await fires(45, 'Slow')
  await sweepUntil(NOON + 47 * MINUTE)
  const last = incidents().at(-1)
  const problem = JSON.parse(last?.problem ?? '{}')
  assert.deepEqual(
    [incidents().length, last?.title, problem.since, criticalMsOf(problem, problem.since)],
    [2, 'cart: Slow', NOON + 45 * MINUTE, 0],
  )
})
