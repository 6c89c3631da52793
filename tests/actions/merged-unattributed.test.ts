/** Alerts without a service, whose incidents a user merged or resolved while they fired: who hears of them, and as what. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { changeIncident, createIncident, createSilence, mergeIncidents } from '../helpers/acts.ts'
import { MINUTE } from '../helpers/factory.ts'
import { ownChannel } from '../helpers/own-channel.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** The alerts Disk and Fan fire from minute 1 on, and each has an incident. */
async function world(t: TestContext) {
  const flow = ownChannel(t)
  const { deps, acme, clock, until, incidents } = flow
  flow.addOwn()
  const report = async (minute: number, name: string, isOver = false, host = 'a') => {
    await until(minute)
    const times = isOver ? { startsAt: clock.now - 1, endsAt: clock.now } : { startsAt: clock.now }
    const item = alert(name, { severity: 'critical', zone: host }, times)
    await flow.send('metrics', alertmanager([item], { groupKey: name + host }))
  }
  const idOf = (title: string) => incidents().findLast((one) => one.title.startsWith(title))?.id ?? ''
  const merge = async (minute: number, from: string, into: string) => {
    await until(minute)
    await mergeIncidents(deps, acme.key, { from: idOf(from), into: idOf(into) }, 'Dana')
  }
  const resolve = async (minute: number, title: string) => {
    await until(minute)
    await changeIncident(deps, acme.key, idOf(title), { status: 'resolved' }, 'Dana')
  }
  const silence = async (from: number, to: number, alertname = 'Disk') => {
    await until(from)
    const period = { startsAt: clock.now, endsAt: clock.now + (to - from) * MINUTE, schedule: null, comment: 'work' }
    const matchers = parseMatchers(`alertname="${alertname}"`)
    await createSilence(deps, acme.key, { ...period, matchers } as never, 'Dana')
  }
  await report(1, 'Disk')
  await report(1, 'Fan')
  await until(2)
  flow.sent.length = 0
  flow.texts.length = 0
  /** Returns the messages since then, without the service. */
  const told = () => flow.sent.map((one) => one.replace(' of unattributed', ''))
  const fires = (minute: number, name: string, host?: string) => report(minute, name, false, host)
  return {
    ...flow,
    fires,
    ends: (minute: number, name: string, host?: string) => report(minute, name, true, host),
    ...{ merge, resolve, silence, told, idOf },
  }
}

test('what is merged belongs to the other incident until it ends', async (t) => {
  const { merge, ends, until, told, texts, restart, incidents } = await world(t)
  await merge(3, 'Disk', 'Fan')
  await until(4)
  restart()
  await ends(5, 'Fan')
  await until(8)
  assert.deepEqual(told(), ['resolved at 3.5'])
  assert.match(texts[0] ?? '', /merged the incident into “Fan: Fan fires”, where Disk and Fan go on/)
  await ends(9, 'Disk')
  await until(12)
  assert.deepEqual(told().slice(1), ['recovered at 10'])
  assert.equal(incidents().length, 2)
})

test('another alert with the name of the merged one belongs to it, too, and is told, unless that one has ended', async (t) => {
  const { merge, fires, ends, until, told, incidents } = await world(t)
  await merge(3, 'Disk', 'Fan')
  await fires(5, 'Disk', 'b')
  await until(7)
  assert.deepEqual([told(), incidents().at(-1)?.alert_count], [['resolved at 3.5', 'worse (Disk) at 6'], 3])
  await ends(8, 'Disk')
  await ends(8, 'Disk', 'b')
  await fires(10, 'Disk', 'c')
  await until(11)
  assert.deepEqual(told().slice(2), ['opened at 10.5'])
})

test('what is merged under a silence comes back with the other incident', async (t) => {
  const { merge, ends, silence, until, told, texts, incidents } = await world(t)
  await silence(3, 10)
  await merge(4, 'Disk', 'Fan')
  await ends(5, 'Fan')
  await until(12)
  assert.deepEqual(told(), ['resolved at 4.5', 'again at 10'])
  assert.match(texts[1] ?? '', /Disk/)
  assert.equal(incidents().length, 2)
})

test('what is merged into an incident that a user declared opens no other one', async (t) => {
  const { deps, acme, service, merge, until, told } = await world(t)
  await until(3)
  const serviceId = service('unattributed')?.id ?? ''
  await createIncident(deps, acme.key, { title: 'Typo', serviceId, severity: 'warning' }, 'Dana')
  await merge(4, 'Disk', 'Typo')
  await until(6)
  assert.deepEqual(told(), ['opened at 3.5', 'again at 4.5', 'resolved at 4.5'])
})

for (const [what, from] of [
  ['after it was resolved', 6],
  ['before it was resolved', 4],
] as const) {
  test(`what a user left on does not come back at the end of a silence that began ${what}`, async (t) => {
    const { resolve, silence, until, told } = await world(t)
    if (from < 5) await silence(from, 15)
    await resolve(5, 'Disk')
    if (from > 5) await silence(from, 15)
    await until(34)
    assert.deepEqual(told(), ['resolved at 5.5'])
    await until(40)
    assert.deepEqual(told().slice(1), ['still-firing at 35'])
  })
}

test('what a user left on after a merge does not come back at the end of a silence', async (t) => {
  const { merge, resolve, silence, until, told } = await world(t)
  await silence(3, 15)
  await merge(4, 'Disk', 'Fan')
  await resolve(5, 'Fan')
  await until(40)
  assert.deepEqual(told().slice(2), ['still-firing at 35'])
})

test('what ended under the silence and fires anew does come back', async (t) => {
  const { resolve, silence, ends, fires, until, told } = await world(t)
  await resolve(5, 'Disk')
  await silence(6, 15)
  await ends(8, 'Disk')
  await until(20)
  assert.deepEqual(told(), ['resolved at 5.5'])
  await fires(21, 'Disk')
  await until(22)
  assert.deepEqual(told().slice(1), ['again at 21.5'])
})

test('people hear of each alert that a user left on', async (t) => {
  const { resolve, until, told, texts, restart } = await world(t)
  await resolve(5, 'Fan')
  await resolve(6, 'Disk')
  await until(20)
  restart()
  await until(34)
  assert.deepEqual(told(), ['resolved at 5.5', 'resolved at 6.5'])
  await until(80)
  assert.deepEqual(told().slice(2), ['still-firing at 35', 'still-firing at 36'])
  assert.deepEqual([/Fan/.test(texts[2] ?? ''), /Disk/.test(texts[3] ?? '')], [true, true])
})

test('they do so of the first one although the last one has ended', async (t) => {
  const { resolve, ends, until, told } = await world(t)
  await resolve(5, 'Fan')
  await resolve(6, 'Disk')
  await ends(10, 'Disk')
  await until(80)
  assert.deepEqual(told().slice(2), ['still-firing at 35'])
})

test('what was merged and has ended fires anew while a user left another alert on', async (t) => {
  const { merge, resolve, fires, ends, until, told } = await world(t)
  await merge(3, 'Disk', 'Fan')
  await ends(5, 'Fan')
  await ends(5, 'Disk')
  await resolve(7, 'Fan')
  await fires(8, 'Cpu')
  await resolve(9, 'Cpu')
  const { length } = told()
  await fires(11, 'Disk')
  await until(13)
  assert.deepEqual(told().slice(length), ['resolved at 9.5', 'opened at 11.5'])
})

for (const [what, from] of [
  ['before', 3],
  ['after', 5],
] as const) {
  test(`what was merged into the incident of a service ${what} a silence began does not come back by itself`, async (t) => {
    const flow = await world(t)
    const { merge, silence, until, sent, clock } = flow
    const item = alert('Down', { service: 'web', severity: 'critical' }, { startsAt: clock.now })
    await flow.send('metrics', alertmanager([item], { groupKey: 'web' }))
    await until(2.5)
    if (from === 3) await silence(3, 10)
    await merge(4, 'Disk', 'web: Down')
    if (from === 5) await silence(5, 10)
    await until(14)
    assert.deepEqual(sent, ['opened of web at 2.5', 'resolved of unattributed at 4.5'])
    await flow.ends(15, 'Disk')
    await flow.fires(18, 'Disk')
    await until(19)
    assert.deepEqual(sent.slice(2), ['opened of unattributed at 18.5'])
  })
}
