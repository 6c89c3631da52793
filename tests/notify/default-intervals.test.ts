/**
 * A pager beside an Alertmanager with its default intervals. Alertmanager itself cannot run under a moved clock: a Go
 * program reads the time without the C library. So its dispatcher is repeated here; `alertmanager.test.ts` runs the real
 * one with short intervals.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const [GROUP_WAIT, GROUP_INTERVAL, REPEAT_INTERVAL] = [MINUTE / 2, 5 * MINUTE, 240 * MINUTE]
const STEP = MINUTE / 2

type Group = { startsAt: number; endsAt: number | null; flushAt: number; toldAt: number | null }

/** Alertmanager's dispatcher for groups by `alertname`. `due`: returns the alerts to send at this time. */
function dispatcher(sendResolved: boolean) {
  const groups = new Map<string, Group>()
  const fire = (name: string, at: number) => {
    const flushAt = groups.get(name)?.flushAt ?? at + GROUP_WAIT
    const toldAt = groups.get(name)?.toldAt ?? null
    groups.set(name, { startsAt: at, endsAt: null, flushAt, toldAt })
  }
  const heal = (name: string, at: number) => {
    const group = groups.get(name)
    assert.ok(group)
    group.endsAt = at
  }
  const due = (now: number) =>
    [...groups].flatMap(([name, group]) => {
      if (group.flushAt > now) return []
      group.flushAt += GROUP_INTERVAL
      const { startsAt, endsAt, toldAt } = group
      if (endsAt !== null) groups.delete(name)
      const isDue =
        endsAt === null ? toldAt === null || now - toldAt >= REPEAT_INTERVAL : toldAt !== null && sendResolved
      if (!isDue) return []
      group.toldAt = now
      return [{ name, startsAt, endsAt }]
    })
  return { fire, heal, due }
}

/** Runs to the minute after noon, and returns which messages were made since the last call, and when. */
function pager(t: TestContext, sendResolved: boolean) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  createChannel(deps, acme.key, { name: 'pager', kind: 'webhook', target: 'https://a.example/', remindAfter: 0 })
  const prometheus = dispatcher(sendResolved)
  let seen = 0
  const until = async (minute: number) => {
    for (; clock.now < NOON + minute * MINUTE; clock.now += STEP) {
      for (const { name, startsAt, endsAt } of prometheus.due(clock.now)) {
        const one = alert(name, { service: 'cart' }, { startsAt, ...(endsAt === null ? {} : { endsAt }) })
        await flow.send('metrics', alertmanager([one], { groupKey: name }))
      }
      while (await deps.engine.sweep());
      remind(deps)
    }
    const all = deps.db.all(deps.db.sql.selectFrom('outbox').select(['kind', 'created_at']).orderBy('id'))
    const told = all.slice(seen).map((row) => `${row.kind} at ${Math.floor((row.created_at - NOON) / MINUTE)}`)
    seen = all.length
    return told
  }
  const acknowledge = () =>
    changeIncident(deps, acme.key, flow.incidents()[0]?.id ?? '', { status: 'investigating' }, 'Dana')
  const fire = (name: string) => prometheus.fire(name, clock.now)
  const heal = (name: string) => prometheus.heal(name, clock.now)
  return { flow, until, acknowledge, fire, heal }
}

/** An alert fires for four hours, heals for ten minutes, and returns; another one joins. Both heal after a day. */
async function story(t: TestContext, sendResolved: boolean) {
  const { flow, until, acknowledge, fire, heal } = pager(t, sendResolved)
  fire('CartDown')
  const opened = await until(2)
  await acknowledge()
  const acknowledged = await until(250)
  heal('CartDown')
  const healed = await until(260)
  fire('CartDown')
  const returned = await until(265)
  fire('CartSlow')
  const joined = await until(1_500)
  heal('CartDown')
  heal('CartSlow')
  return { told: { opened, acknowledged, healed, returned, joined, over: await until(2_200) }, flow }
}

test('with default intervals, each turn of an alert is one message within minutes', async (t) => {
  const { told, flow } = await story(t, true)
  assert.deepEqual(told, {
    ...{ opened: ['opened at 0'], acknowledged: ['acknowledged at 2'], healed: ['recovered at 251'] },
    ...{ returned: ['again at 260'], joined: ['worse at 265'], over: ['recovered at 1501'] },
  })
  assert.deepEqual(flow.alerts().map(endOf), [
    ['reported', 1500],
    ['reported', 1500],
  ])
})

test('with default intervals and without ends, a later start is a return, and silence of half a day the end', async (t) => {
  const { told, flow } = await story(t, false)
  assert.deepEqual(told, {
    ...{ opened: ['opened at 0'], acknowledged: ['acknowledged at 2'], healed: [] },
    ...{ returned: ['again at 260'], joined: ['worse at 265'], over: ['recovered at 2185'] },
  })
  assert.deepEqual(flow.alerts().map(endOf), [
    ['inferred', 240.5],
    ['inferred', 1460.5],
    ['inferred', 1465.5],
  ])
})

function endOf({ resolution, ends_at: at }: { resolution: string | null; ends_at: number | null }) {
  return [resolution, at === null ? null : (at - NOON) / MINUTE]
}
