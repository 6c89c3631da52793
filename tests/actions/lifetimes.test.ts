/** Lifetimes: how alerts end and come back. A day passes in milliseconds. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { resolveAlert } from '../helpers/acts.ts'
import { MINUTE, NOON, newUuid } from '../helpers/factory.ts'
import { fate, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop, kubernetesEvent, pipeline } from '../helpers/senders.ts'

const HOUR = 60 * MINUTE
const POD = 'cart-5d4f8c7b9-x2kqp'
const SLOW = alert('CartSlow', { deployment: 'cart', severity: 'warning' }, { startsAt: NOON })
const ended = (at: number) =>
  alert('CartSlow', { deployment: 'cart', severity: 'warning' }, { startsAt: NOON, endsAt: at })

test('a resolved item ends its alert at its own end time', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([SLOW]))
  await flow.send('metrics', alertmanager([ended(NOON + 7 * MINUTE)]), { at: NOON + 8 * MINUTE })
  assert.deepEqual(fate(flow), ['resolved', 'reported', 7])
})

test('an end before the start becomes the start', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([SLOW]))
  await flow.send('metrics', alertmanager([ended(NOON - HOUR)]), { at: NOON + MINUTE })
  assert.deepEqual(fate(flow), ['resolved', 'reported', 0])
})

test('a late duplicate within two minutes after a reported end reopens nothing', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([SLOW]))
  await flow.send('metrics', alertmanager([ended(NOON + MINUTE)]), { at: NOON + MINUTE })
  await flow.send('metrics', alertmanager([SLOW]), { at: NOON + 3 * MINUTE })
  assert.deepEqual(fate(flow), ['resolved', 'reported', 1])
})

for (const [minutes, count] of [
  [10, 1],
  [11, 2],
] as const) {
  test(`a new start ${minutes} minutes after the end results in ${count} alert(s)`, async (t) => {
    const flow = makeFlow(t)
    await flow.send('metrics', alertmanager([SLOW]))
    await flow.send('metrics', alertmanager([ended(NOON + MINUTE)]), { at: NOON + MINUTE })
    const at = NOON + MINUTE + minutes * MINUTE
    const again = alert('CartSlow', { deployment: 'cart', severity: 'warning' }, { startsAt: at })
    await flow.send('metrics', alertmanager([again]), { at })
    assert.deepEqual([flow.alerts().length, flow.alerts().at(-1)?.status], [count, 'firing'])
  })
}

test('an event without an end expires a quarter of an hour after its last repeat, and ended with that repeat', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop(POD))
  await flow.send('cluster', crashLoop(POD), { at: NOON + 4 * MINUTE })
  await flow.sweepUntil(NOON + 18 * MINUTE)
  assert.equal(fate(flow)[0], 'firing')
  await flow.sweepUntil(NOON + 19 * MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'expired', 4])
})

test('an event ended by a late repeat can still be reopened for a day', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop(POD, { at: NOON }))
  await flow.send('cluster', crashLoop(POD, { at: NOON, since: NOON, count: 6 }), { at: NOON + 15 * MINUTE })
  await flow.sweepUntil(NOON + 20 * MINUTE)
  assert.deepEqual([fate(flow)[0], flow.alerts()[0]?.settled_at], ['resolved', null])
})

test('an event that was counted 20 times does not expire while a metrics alert of the service fires', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('Other', {}, { endsAt: NOON })], { groupKey: 'other' }))
  await flow.send('cluster', crashLoop(POD, { at: NOON, since: NOON - 30 * MINUTE, count: 20 }))
  await flow.send('metrics', alertmanager([SLOW]))
  await flow.sweepUntil(NOON + 3 * HOUR, 5 * MINUTE)
  assert.deepEqual(
    flow
      .alerts()
      .map(({ status }) => status)
      .slice(1),
    ['firing', 'firing'],
  )
})

for (const count of [19, 20]) {
  const goesOn = count === 20
  test(`the incident of an event that was counted ${count} times ${goesOn ? 'goes on with' : 'recovers despite'} a metrics alert`, async (t) => {
    const flow = makeFlow(t)
    const state = () => [flow.incidents()[0]?.status, flow.alerts()[0]?.status]
    await flow.send('cluster', crashLoop(POD, { at: NOON, since: NOON - 30 * MINUTE, count }))
    await flow.send('metrics', alertmanager([SLOW]))
    // The receiver reports ends, so that it need not repeat the alert.
    await flow.send('metrics', alertmanager([alert('Other', {}, { endsAt: NOON })], { groupKey: 'other' }))
    await flow.sweepUntil(NOON + 2 * HOUR, 5 * MINUTE)
    assert.deepEqual(state(), goesOn ? ['open', 'firing'] : ['resolved', 'resolved'])
    await flow.send('metrics', alertmanager([ended(NOON + 2 * HOUR)]), { at: NOON + 2 * HOUR })
    await flow.sweepUntil(NOON + 2 * HOUR + 6 * MINUTE, MINUTE)
    assert.deepEqual(state(), goesOn ? ['monitoring', 'resolved'] : ['resolved', 'resolved'])
  })
}

test('an event expires even if a warning that started long before is firing', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('Other', {}, { endsAt: NOON })], { groupKey: 'other' }))
  await flow.send('metrics', alertmanager([SLOW]))
  await flow.send('cluster', crashLoop(POD), { at: NOON + 5 * HOUR })
  await flow.sweepUntil(NOON + 6 * HOUR, 5 * MINUTE)
  assert.deepEqual(
    flow
      .alerts()
      .map(({ status }) => status)
      .slice(1),
    ['firing', 'resolved'],
  )
})

test('a condition ends when its own pod is scheduled, not another pod', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', kubernetesEvent('FailedScheduling', POD))
  await flow.send('cluster', kubernetesEvent('Scheduled', 'cart-5d4f8c7b9-zzzzz'), { at: NOON + MINUTE })
  assert.equal(fate(flow)[0], 'firing')
  await flow.send('cluster', kubernetesEvent('Scheduled', POD), { at: NOON + 4 * MINUTE })
  assert.deepEqual(fate(flow), ['resolved', 'reported', 4])
})

test('a failed pipeline ends with a success on the same ref only', async (t) => {
  const flow = makeFlow(t)
  await flow.send('ci', pipeline('failed', 'shop/cart', { at: NOON }))
  await flow.send('ci', pipeline('success', 'shop/cart', { id: 32, ref: 'v1', tag: true }), { at: NOON + MINUTE })
  assert.equal(fate(flow)[0], 'firing')
  await flow.send('ci', pipeline('success', 'shop/cart', { id: 33 }), { at: NOON + 5 * MINUTE })
  assert.deepEqual(fate(flow), ['resolved', 'reported', 5])
})

test('a failed pipeline without a later success expires after a day', async (t) => {
  const flow = makeFlow(t)
  await flow.send('ci', pipeline('failed', 'shop/cart', { at: NOON }))
  await flow.sweepUntil(NOON + 24 * HOUR, HOUR)
  assert.deepEqual(fate(flow), ['resolved', 'expired', 0])
})

test('an alert resolved by a person stays resolved for half an hour, or until it starts again', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([SLOW]))
  flow.clock.now += MINUTE
  await resolveAlert(flow.deps, flow.acme.key, flow.alerts()[0]?.id ?? '', 'Ann')
  await flow.send('metrics', alertmanager([SLOW]), { at: NOON + 30 * MINUTE })
  assert.deepEqual(fate(flow), ['resolved', 'manual', 1])
  const anew = alert('CartSlow', { deployment: 'cart', severity: 'warning' }, { startsAt: NOON + 2 * HOUR })
  await flow.send('metrics', alertmanager([anew]), { at: NOON + 2 * HOUR })
  assert.equal(flow.alerts().at(-1)?.status, 'firing')
})

test("Charlie cannot resolve Acme's alert, and nobody can resolve an unknown one", async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([SLOW]))
  const [one] = flow.alerts()
  await assert.rejects(() => resolveAlert(flow.deps, flow.charlie.key, one?.id ?? '', 'Eve'), { code: 'not-found' })
  await assert.rejects(() => resolveAlert(flow.deps, flow.acme.key, newUuid(), 'Ann'), { code: 'not-found' })
  assert.equal(fate(flow)[0], 'firing')
})

test('an alert received while the clock was ahead expires only at that time, and can be resolved immediately', async (t) => {
  const flow = makeFlow(t)
  const ahead = NOON + 72 * HOUR
  await flow.send('metrics', alertmanager([SLOW]), { at: ahead })
  flow.clock.now = NOON
  await flow.sweepUntil(NOON + 24 * HOUR, HOUR)
  assert.deepEqual(fate(flow), ['firing', null, null])
  await resolveAlert(flow.deps, flow.acme.key, flow.alerts()[0]?.id ?? '', 'a person')
  assert.deepEqual(fate(flow), ['resolved', 'manual', 24 * 60])
})

describe('without send_resolved', () => {
  const disk = alert('DiskFull', { deployment: 'cart', severity: 'critical' }, { startsAt: NOON })
  const other = alert('Other', {}, { startsAt: NOON })

  test('an alert fires on between two repeats of Alertmanager’s default', async (t) => {
    const flow = makeFlow(t)
    for (const hours of [0, 4, 8]) {
      await flow.sweepUntil(NOON + hours * HOUR, HOUR / 4)
      assert.ok(flow.alerts().every(({ status }) => status === 'firing'))
      await flow.send('metrics', alertmanager([disk]), { at: NOON + hours * HOUR })
    }
    await flow.sweepUntil(NOON + 19.9 * HOUR, HOUR / 4)
    assert.equal(fate(flow)[0], 'firing')
    await flow.sweepUntil(NOON + 20 * HOUR, HOUR / 4)
    assert.deepEqual(fate(flow), ['resolved', 'inferred', 8 * 60])
  })

  test('one repeat after an inferred end disproves it and teaches the interval', async (t) => {
    const flow = makeFlow(t)
    await flow.send('metrics', alertmanager([disk]))
    await flow.sweepUntil(NOON + 12 * HOUR, HOUR / 4)
    assert.deepEqual(fate(flow), ['resolved', 'inferred', 0])
    await flow.send('metrics', alertmanager([disk]), { at: NOON + 12 * HOUR })
    await flow.sweepUntil(NOON + 47 * HOUR, HOUR / 4)
    assert.equal(fate(flow)[0], 'firing')
    assert.equal(flow.alerts().length, 1)
  })

  test('a group without an interval ends as soon as its receiver’s interval is known', async (t) => {
    const flow = makeFlow(t)
    await flow.send('metrics', alertmanager([disk], { groupKey: 'disk' }))
    for (const minute of [0, 2, 4, 6]) {
      await flow.send('metrics', alertmanager([other], { groupKey: 'other' }), { at: NOON + minute * MINUTE })
    }
    await flow.sweepUntil(NOON + 7 * MINUTE)
    const [first] = flow.alerts()
    assert.deepEqual([first?.resolution, first?.ends_at], ['inferred', NOON])
  })
})
