/** One of several fingerprints of an alert that its sender leaves out while it repeats another one. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** A receiver that reports no ends, unless `reportsEnds`. It delivers what fires of a pair of rules every `every` minutes. */
async function pair(t: TestContext, { every = 0.5, reportsEnds = false, remindAfter = 0 } = {}) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter })
  const sent: string[] = []
  const minute = () => (clock.now - NOON) / MINUTE
  const until = async (to: number) => {
    while (minute() < to) {
      await flow.sweepUntil(Math.min(NOON + to * MINUTE, clock.now + MINUTE / 2), MINUTE / 2)
      sent.push(...pump(deps).map(({ title, body }) => `${minute()}: ${title} ${body}`.split('\n').join(' ')))
    }
  }
  const disk = (severity: string, startsAt: number, more = {}) => {
    const summary = `disk ${severity === 'critical' ? 95 : 85} % full`
    return alert('Disk', { service: 'db', severity }, { startsAt: NOON + startsAt * MINUTE, summary, ...more })
  }
  const deliver = (items: readonly unknown[], more = {}) => flow.send('metrics', alertmanager(items, more))
  if (reportsEnds)
    await deliver([alert('Old', { service: 'old' }, { startsAt: NOON - 2, endsAt: NOON - 1 })], { groupKey: 'old' })
  /** Delivers these severities until a minute. */
  const fires = async (to: number, severities: readonly string[], more = {}) => {
    while (minute() < to) {
      await deliver(
        severities.map((severity) => disk(severity, severity === 'critical' ? 2 : 0)),
        more,
      )
      await until(minute() + every)
    }
  }
  return { ...flow, sent, until, fires, disk, deliver, minute }
}

const OPENED = '2.5: db has been critical since 12:02 UTC (30 s). Disk: disk 95 % full. Incident #1, namespace shop.'

test('the critical one ends when it was last received, and the warning is named with its own words', async (t) => {
  const { sent, fires } = await pair(t)
  await fires(2, ['warning'])
  await fires(4, ['warning', 'critical'])
  await fires(12, ['warning'])
  assert.equal(sent[0]?.startsWith(OPENED.slice(0, 78)), true, sent[0])
  assert.match(
    sent[1] ?? '',
    /^8\.5: db is no longer reported as critical: it was critical for at least 1 min 30 s, last reported at 12:03 UTC; no end was reported\./,
  )
  assert.match(sent[1] ?? '', /Still firing, but not critical: Disk: disk 85 % full/)
  assert.equal(sent.length, 2)
})

test('so it does if the warning is not repeated any more either, and then ends the warning', async (t) => {
  const { sent, fires, until, alerts } = await pair(t)
  await fires(2, ['warning'])
  await fires(4, ['warning', 'critical'])
  await fires(6.5, ['warning'])
  await until(30)
  assert.match(
    sent[1] ?? '',
    /^8\.5: db is no longer reported as critical: .* last reported at 12:03 UTC.*disk 85 % full\. Last reported at 12:06 UTC/,
  )
  assert.deepEqual([alerts()[0]?.status, alerts()[0]?.severity], ['resolved', 'warning'])
  assert.equal(alerts()[0]?.ends_at, NOON + 6 * MINUTE)
})

test('nobody is reminded of the critical one while it is left out', async (t) => {
  const { sent, fires } = await pair(t, { remindAfter: 2 })
  await fires(2, ['warning'])
  await fires(4, ['warning', 'critical'])
  await fires(8, ['warning'])
  assert.equal(sent.length, 1)
})

test('a sender that repeats every 15 seconds has an interval, too', async (t) => {
  const { sent, fires, until, alerts } = await pair(t, { every: 0.25 })
  await fires(2, ['warning'])
  await fires(4, ['warning', 'critical'])
  await fires(10, ['warning'])
  await until(20)
  assert.match(
    sent[1] ?? '',
    /^(8\.75|9): db is no longer reported as critical: it was critical for at least 1 min 45 s, last reported at 12:03 UTC/,
  )
  assert.equal(alerts()[0]?.status, 'resolved')
})

test('one that is sent again was firing all the time', async (t) => {
  const { sent, fires } = await pair(t)
  await fires(2, ['warning'])
  await fires(4, ['warning', 'critical'])
  await fires(9, ['warning'])
  await fires(10, ['warning', 'critical'])
  assert.match(sent[1] ?? '', /^8\.5: db is no longer reported as critical/)
  assert.match(sent[2] ?? '', /^9\.5: The all-clear was wrong: db has been critical since 12:02 UTC/)
})

for (const [what, world, more] of [
  ['from a receiver that reports ends, which reports this one, too', { reportsEnds: true }, {}],
  ['in truncated notifications, which do not list all', {}, { truncatedAlerts: 1 }],
] as const) {
  test(`one that is left out goes on ${what}`, async (t) => {
    const { sent, fires } = await pair(t, world)
    await fires(2, ['warning'])
    await fires(4, ['warning', 'critical'])
    await fires(20, ['warning'], more)
    assert.equal(sent.length, 1)
  })
}

test('one that is left out for less than five minutes goes on', async (t) => {
  const { sent, fires } = await pair(t)
  await fires(2, ['warning'])
  await fires(4, ['warning', 'critical'])
  await fires(8, ['warning'])
  await fires(10, ['warning', 'critical'])
  assert.equal(sent.length, 1)
})

test('the state after an end survives a restart', async (t) => {
  const flow = await pair(t)
  await flow.fires(2, ['warning'])
  await flow.fires(4, ['warning', 'critical'])
  await flow.fires(9, ['warning'])
  flow.restart()
  await flow.deliver([flow.disk('warning', 0), flow.disk('critical', 2)])
  await flow.until(10)
  assert.match(flow.sent[2] ?? '', /The all-clear was wrong/)
})
