/** Lifetimes: how alerts end, by whose word, and how they come back; a day passes in milliseconds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolveAlert } from '../../src/operations/alerts.ts'
import { MINUTE, NOON, newUuid } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop, kubernetesEvent, pipeline, times } from '../helpers/senders.ts'

const HOUR = 60 * MINUTE
const POD = 'cart-5d4f8c7b9-x2kqp'
const SLOW = alert('CartSlow', { deployment: 'cart', severity: 'warning' }, { startsAt: NOON })
const ended = (at: number) =>
  alert('CartSlow', { deployment: 'cart', severity: 'warning' }, { startsAt: NOON, endsAt: at })

/** What became of the only alert. */
function fate(flow: Flow) {
  const [one, ...more] = flow.alerts()
  assert.deepEqual(more, [])
  return [one?.status, one?.resolution, one?.ends_at === null ? null : ((one?.ends_at ?? 0) - NOON) / MINUTE]
}

async function repeat(flow: Flow, body: unknown, from: number, to: number, every: number): Promise<void> {
  for (const at of times(from, to, every)) {
    flow.sweepUntil(at, 10 * MINUTE)
    await flow.send('metrics', body, { at })
  }
}

test('a resolved item ends its alert at the time that it tells', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([SLOW]))
  await flow.send('metrics', alertmanager([ended(NOON + 7 * MINUTE)]), { at: NOON + 8 * MINUTE })
  assert.deepEqual(fate(flow), ['resolved', 'reported', 7])
})

test('an end before its start is held to the start', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([SLOW]))
  await flow.send('metrics', alertmanager([ended(NOON - HOUR)]), { at: NOON + MINUTE })
  assert.deepEqual(fate(flow), ['resolved', 'reported', 0])
})

test('a receiver that has ever reported an end is believed to report them all: silence ends nothing', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('Other', {}, { endsAt: NOON })], { groupKey: 'other' }))
  await flow.send('metrics', alertmanager([SLOW]))
  flow.sweepUntil(NOON + 48 * HOUR, HOUR)
  assert.equal(flow.alerts()[1]?.status, 'firing')
})

test('without reported ends the rhythm of hours is learned, and three missed repeats are the end', async (t) => {
  const flow = makeFlow(t)
  await repeat(flow, alertmanager([SLOW]), NOON, NOON + 9 * HOUR, 4 * HOUR)
  flow.sweepUntil(NOON + 19 * HOUR + 50 * MINUTE, 10 * MINUTE)
  assert.equal(fate(flow)[0], 'firing')
  flow.sweepUntil(NOON + 20 * HOUR, 10 * MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 8 * 60])
})

test('a rhythm of two minutes ends an alert after six, and never sooner than five', async (t) => {
  const flow = makeFlow(t)
  await repeat(flow, alertmanager([SLOW]), NOON, NOON + 9 * MINUTE, 2 * MINUTE)
  flow.sweepUntil(NOON + 13 * MINUTE)
  assert.equal(fate(flow)[0], 'firing')
  flow.sweepUntil(NOON + 14 * MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 8])
})

test('after an outage of a day the rhythm of two minutes is found again', async (t) => {
  const flow = makeFlow(t)
  const back = NOON + 25 * HOUR
  await repeat(flow, alertmanager([SLOW]), NOON, NOON + HOUR, 2 * MINUTE)
  await repeat(flow, alertmanager([SLOW]), back, back + 2 * HOUR, 2 * MINUTE)
  flow.sweepUntil(back + 2 * HOUR + 10 * MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 27 * 60 - 2])
})

test('a storm in which members come and go teaches no rhythm', async (t) => {
  const flow = makeFlow(t)
  for (const at of times(NOON, NOON + 10 * MINUTE, MINUTE / 2)) {
    await flow.send('metrics', alertmanager([SLOW, alert(`Storm${at}`)]), { at })
  }
  flow.sweepUntil(NOON + 8 * HOUR, 10 * MINUTE)
  assert.equal(flow.alerts()[0]?.status, 'firing')
})

test('before any rhythm is known an alert lasts twelve hours of silence', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([SLOW]))
  flow.sweepUntil(NOON + 12 * HOUR - MINUTE, HOUR)
  assert.equal(fate(flow)[0], 'firing')
  flow.sweepUntil(NOON + 12 * HOUR)
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 0])
})

test('a repeat after an inferred end takes the guess back, however late', async (t) => {
  const flow = makeFlow(t)
  await repeat(flow, alertmanager([SLOW]), NOON, NOON + 9 * MINUTE, 2 * MINUTE)
  flow.sweepUntil(NOON + 3 * HOUR, 10 * MINUTE)
  assert.equal(fate(flow)[0], 'resolved')
  await flow.send('metrics', alertmanager([SLOW]), { at: NOON + 3 * HOUR })
  assert.deepEqual(fate(flow), ['firing', null, null])
})

test('a late copy within two minutes of a reported end reopens nothing', async (t) => {
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
  test(`a new start ${minutes} minutes after the end makes ${count} alert(s)`, async (t) => {
    const flow = makeFlow(t)
    await flow.send('metrics', alertmanager([SLOW]))
    await flow.send('metrics', alertmanager([ended(NOON + MINUTE)]), { at: NOON + MINUTE })
    const at = NOON + MINUTE + minutes * MINUTE
    const again = alert('CartSlow', { deployment: 'cart', severity: 'warning' }, { startsAt: at })
    await flow.send('metrics', alertmanager([again]), { at })
    assert.deepEqual([flow.alerts().length, flow.alerts().at(-1)?.status], [count, 'firing'])
  })
}

test('an event that nobody takes back expires an hour after its last repeat', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop(POD))
  await flow.send('cluster', crashLoop(POD), { at: NOON + 30 * MINUTE })
  flow.sweepUntil(NOON + 89 * MINUTE)
  assert.equal(fate(flow)[0], 'firing')
  flow.sweepUntil(NOON + 90 * MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'expired', 90])
})

test('an event does not expire while Alertmanager says that the service is ill', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop(POD))
  await flow.send('metrics', alertmanager([SLOW]))
  flow.sweepUntil(NOON + 3 * HOUR, 5 * MINUTE)
  assert.deepEqual(
    flow.alerts().map(({ status }) => status),
    ['firing', 'firing'],
  )
})

test('an event expires beside a warning that began long before it', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([SLOW]))
  await flow.send('cluster', crashLoop(POD), { at: NOON + 5 * HOUR })
  flow.sweepUntil(NOON + 6 * HOUR, 5 * MINUTE)
  assert.deepEqual(
    flow.alerts().map(({ status }) => status),
    ['firing', 'resolved'],
  )
})

test('a pod that is scheduled after all ends its condition; another pod does not', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', kubernetesEvent('FailedScheduling', POD))
  await flow.send('cluster', kubernetesEvent('Scheduled', 'cart-5d4f8c7b9-zzzzz'), { at: NOON + MINUTE })
  assert.equal(fate(flow)[0], 'firing')
  await flow.send('cluster', kubernetesEvent('Scheduled', POD), { at: NOON + 4 * MINUTE })
  assert.deepEqual(fate(flow), ['resolved', 'reported', 4])
})

test('a failed pipeline ends with a success on the same ref, not with one on another', async (t) => {
  const flow = makeFlow(t)
  await flow.send('ci', pipeline('failed', 'shop/cart', { at: NOON }))
  await flow.send('ci', pipeline('success', 'shop/cart', { id: 32, ref: 'v1', tag: true }), { at: NOON + MINUTE })
  assert.equal(fate(flow)[0], 'firing')
  await flow.send('ci', pipeline('success', 'shop/cart', { id: 33 }), { at: NOON + 5 * MINUTE })
  assert.deepEqual(fate(flow), ['resolved', 'reported', 5])
})

test('a failed pipeline that nobody mends expires after a day', async (t) => {
  const flow = makeFlow(t)
  await flow.send('ci', pipeline('failed', 'shop/cart', { at: NOON }))
  flow.sweepUntil(NOON + 24 * HOUR, HOUR)
  assert.deepEqual(fate(flow), ['resolved', 'expired', 24 * 60])
})

test('a restart in the middle changes nothing: rhythm, reopening and expiry are in the database', async (t) => {
  const flow = makeFlow(t)
  await repeat(flow, alertmanager([SLOW]), NOON, NOON + 5 * MINUTE, 2 * MINUTE)
  flow.restart()
  await repeat(flow, alertmanager([SLOW]), NOON + 6 * MINUTE, NOON + 9 * MINUTE, 2 * MINUTE)
  flow.restart()
  flow.sweepUntil(NOON + 14 * MINUTE)
  assert.deepEqual(fate(flow), ['resolved', 'inferred', 8])
  flow.restart()
  await flow.send('metrics', alertmanager([SLOW]), { at: NOON + HOUR })
  assert.deepEqual(fate(flow), ['firing', null, null])
})

test('what a person ended stays ended for its repeats, and fires anew only with a new start', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([SLOW]))
  flow.clock.now += MINUTE
  resolveAlert(flow.deps, flow.acme.key, flow.alerts()[0]?.id ?? '', 'Ann')
  await flow.send('metrics', alertmanager([SLOW]), { at: NOON + HOUR })
  assert.deepEqual(fate(flow), ['resolved', 'manual', 1])
  const anew = alert('CartSlow', { deployment: 'cart', severity: 'warning' }, { startsAt: NOON + 2 * HOUR })
  await flow.send('metrics', alertmanager([anew]), { at: NOON + 2 * HOUR })
  assert.equal(flow.alerts().at(-1)?.status, 'firing')
})

test('Charlie cannot end an alert of Acme, nor anybody one that never was', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([SLOW]))
  const [one] = flow.alerts()
  assert.throws(() => resolveAlert(flow.deps, flow.charlie.key, one?.id ?? '', 'Eve'), { code: 'not-found' })
  assert.throws(() => resolveAlert(flow.deps, flow.acme.key, newUuid(), 'Ann'), { code: 'not-found' })
  assert.equal(fate(flow)[0], 'firing')
})

test('a member that went missing before the rhythm was known ends by the rhythm of the others', async (t) => {
  const flow = makeFlow(t)
  const other = alert('CartLate', { deployment: 'cart', severity: 'warning' }, { startsAt: NOON })
  await flow.send('metrics', alertmanager([other, SLOW]))
  await repeat(flow, alertmanager([SLOW]), NOON + 2 * MINUTE, NOON + 13 * MINUTE, 2 * MINUTE)
  assert.deepEqual(
    flow.alerts().map(({ status }) => status),
    ['resolved', 'firing'],
  )
})

test('a member that a cut delivery leaves out is not missed', async (t) => {
  const flow = makeFlow(t)
  const other = alert('CartLate', { deployment: 'cart', severity: 'warning' }, { startsAt: NOON })
  await flow.send('metrics', alertmanager([other, SLOW]))
  const cut = alertmanager([SLOW], { truncatedAlerts: 1 })
  await repeat(flow, cut, NOON + 2 * MINUTE, NOON + 60 * MINUTE, 2 * MINUTE)
  assert.deepEqual(
    flow.alerts().map(({ status }) => status),
    ['firing', 'firing'],
  )
})

test('what was heard by a clock that was ahead ends by itself only then, and by hand at once', async (t) => {
  const flow = makeFlow(t)
  const ahead = NOON + 72 * HOUR
  await flow.send('metrics', alertmanager([SLOW]), { at: ahead })
  flow.clock.now = NOON
  flow.sweepUntil(NOON + 24 * HOUR, HOUR)
  assert.deepEqual(fate(flow), ['firing', null, null])
  resolveAlert(flow.deps, flow.acme.key, flow.alerts()[0]?.id ?? '', 'a person')
  assert.deepEqual(fate(flow), ['resolved', 'manual', 24 * 60])
})
