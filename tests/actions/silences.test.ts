/** The effects of silences on health and incidents. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { listMatchingAlerts } from '../../src/store/history/alert-search.ts'
import {
  changeSilence,
  createService,
  createSilence,
  expireSilence,
  importSilences,
  mergeServices,
  updateService,
} from '../helpers/acts.ts'
import { type Made, MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const HOUR = 60 * MINUTE
const PAGE = { page: 1, limit: 50 }
const LABELS = { deployment: 'cart', team: 'shop' }
const DOWN = alert('CartDown', LABELS, { startsAt: NOON })
const SLOW = alert('CartSlow', { ...LABELS, team: 'web' }, { startsAt: NOON })

function silenced(t: TestContext) {
  const flow = makeFlow(t)
  const silence = (text: string, more: object = {}, as: Made = flow.acme) => {
    const wanted = { matchers: parseMatchers(text), startsAt: flow.clock.now, endsAt: flow.clock.now + HOUR }
    return createSilence(flow.deps, as.key, { ...wanted, schedule: null, comment: 'Upgrade', ...more }, 'on call')
  }
  const silencedBy = (filter: object = {}) =>
    listMatchingAlerts(flow.deps.db, flow.acme.key, filter, PAGE).items.map((one) => [one.name, one.silencedBy.length])
  const state = () => [flow.service('cart')?.status, flow.service('cart')?.score, flow.incidents().length]
  /** The sender is known to report ends, so an alert does not end when repeats stop. */
  const reportEnds = () => {
    const ended = alert('Ended', { deployment: 'web', severity: 'info' }, { startsAt: flow.clock.now - MINUTE })
    const endsAt = new Date(flow.clock.now).toISOString()
    return flow.send('metrics', alertmanager([{ ...ended, status: 'resolved', endsAt }]))
  }
  return { ...flow, silence, silencedBy, state, reportEnds }
}

test('a silenced alert is stored and counted, opens no incident and lowers no score', async (t) => {
  const { silence, send, state, silencedBy } = silenced(t)
  await silence('service="cart"')
  await send('metrics', alertmanager([DOWN]))
  assert.deepEqual(state(), ['healthy', 100, 0])
  assert.deepEqual(silencedBy(), [['CartDown', 1]])
})

test('an alert silenced by a label stays silenced when its service is merged', async (t) => {
  const { silence, send, silencedBy, deps, acme, service, incidents } = silenced(t)
  await silence('team="shop"')
  await send('metrics', alertmanager([DOWN]))
  await createService(deps, acme.key, { cluster: '', namespace: '', name: 'basket' })
  await mergeServices(deps, acme.key, service('cart')?.id ?? '', service('basket')?.id ?? '')
  assert.deepEqual([silencedBy(), service('basket')?.status, incidents().length], [[['CartDown', 1]], 'healthy', 0])
})

test('an alert that is firing when the silence ends opens its incident once', async (t) => {
  const { silence, send, state, sweepUntil, silencedBy, reportEnds } = silenced(t)
  await reportEnds()
  await silence('service="cart"')
  await send('metrics', alertmanager([DOWN]))
  await sweepUntil(NOON + HOUR + MINUTE)
  await sweepUntil(NOON + HOUR + 10 * MINUTE)
  assert.deepEqual(state(), ['critical', 60, 1])
  assert.deepEqual(silencedBy({ status: 'firing' }), [['CartDown', 0]])
})

test('the timeline names the silence whose end opened an incident, and the silence that affects an open one', async (t) => {
  const { silence, send, incidents, timeline, sweepUntil, reportEnds, deps, acme } = silenced(t)
  const told = () => timeline({ key: incidents()[0]?.key ?? 0 }).filter(({ kind }) => kind === 'silence')
  await reportEnds()
  const first = await silence('service="cart"')
  await send('metrics', alertmanager([DOWN]))
  await sweepUntil(NOON + HOUR + MINUTE)
  const second = await silence('team="shop"', { comment: 'Repair' })
  await expireSilence(deps, acme.key, second)
  assert.deepEqual(
    told().map(({ text, actor }) => [text, actor]),
    [
      ['the silence “Upgrade” no longer applies to CartDown; on call set it from 2026-03-14 12:00:00 UTC', null],
      ['the silence “Repair” applies to CartDown', 'on call'],
      ['removed the silence “Repair” (set until 2026-03-14 14:01:00 UTC), which applied to CartDown', 'Ann'],
    ],
  )
  const refs = [`silence/${first}`, `silence/${second}`]
  assert.deepEqual(
    told().map(({ code, ref }) => [code, refs.indexOf(ref ?? '')]),
    [
      ['unsilenced', 0],
      ['silenced', 1],
      ['unsilenced', 1],
    ],
  )
})

test('an alert that was silenced from its start does not change the timeline of an open incident', async (t) => {
  const { silence, send, incidents, timeline } = silenced(t)
  await silence('team="shop"')
  await send('metrics', alertmanager([SLOW]))
  await send('metrics', alertmanager([DOWN]))
  assert.deepEqual(
    timeline({ key: incidents()[0]?.key ?? 0 }).map(({ kind }) => kind),
    ['opened'],
  )
})

test('a silence that ends while the server is stopped for hours still releases its alerts', async (t) => {
  const { silence, send, state, clock, deps, sweepUntil, reportEnds } = silenced(t)
  await reportEnds()
  await silence('service="cart"')
  await send('metrics', alertmanager([DOWN]))
  clock.now = NOON + 3 * HOUR
  await deps.engine.reload()
  await sweepUntil(NOON + 3 * HOUR + MINUTE)
  assert.deepEqual(state(), ['critical', 60, 1])
})

test('an engine that was not swept for hours still ends its silences', async (t) => {
  const { silence, send, state, clock, sweepUntil, reportEnds } = silenced(t)
  await reportEnds()
  await silence('service="cart"')
  await send('metrics', alertmanager([DOWN]))
  clock.now = NOON + 3 * HOUR
  await sweepUntil(NOON + 3 * HOUR + MINUTE)
  assert.deepEqual(state(), ['critical', 60, 1])
})

test('a renamed service stays silenced, until a user takes its former name away', async (t) => {
  const { silence, send, deps, acme, service, incidents } = silenced(t)
  await silence('service="cart"')
  await send('metrics', alertmanager([DOWN]))
  const id = service('cart')?.id ?? ''
  await updateService(deps, acme.key, id, { name: 'basket' })
  assert.deepEqual([service('basket')?.status, incidents().length], ['healthy', 0])
  await updateService(deps, acme.key, id, { aliases: [] })
  assert.deepEqual([service('basket')?.status, incidents().length], ['critical', 1])
})

test('an alert that ended during the silence opens nothing and still names the silence', async (t) => {
  const { silence, send, state, sweepUntil, silencedBy } = silenced(t)
  await silence('service="cart"', { endsAt: NOON + 20 * MINUTE })
  await send('metrics', alertmanager([DOWN]))
  const ended = { ...DOWN, status: 'resolved', endsAt: new Date(NOON + 15 * MINUTE).toISOString() }
  await send('metrics', alertmanager([ended]), { at: NOON + 15 * MINUTE })
  await sweepUntil(NOON + 25 * MINUTE)
  assert.deepEqual(state(), ['healthy', 100, 0])
  assert.deepEqual(silencedBy(), [['CartDown', 1]])
})

test('a silence takes effect immediately for firing alerts', async (t) => {
  const { silence, send, state } = silenced(t)
  await send('metrics', alertmanager([DOWN]))
  assert.deepEqual(state(), ['critical', 60, 1])
  await silence('alertname="CartDown"')
  assert.deepEqual(state(), ['healthy', 100, 1])
})

test('another alert of the same service opens its own incident', async (t) => {
  const { silence, send, incidents, alerts } = silenced(t)
  await silence('team="shop"')
  const sibling = alert('CartDown', { ...LABELS, team: 'web' }, { startsAt: NOON, fingerprint: 'other' })
  await send('metrics', alertmanager([DOWN]))
  await send('metrics', alertmanager([sibling]))
  assert.equal(incidents().length, 1)
  assert.deepEqual(
    alerts().map(({ incident_id: incident }) => incident !== null),
    [false, true],
  )
})

test('a silenced alert does not join the open incident of its service', async (t) => {
  const { silence, send, alerts } = silenced(t)
  await silence('team="shop"')
  await send('metrics', alertmanager([SLOW]))
  await send('metrics', alertmanager([DOWN]))
  assert.deepEqual(
    alerts().map(({ name, incident_id: incident }) => [name, incident !== null]),
    [
      ['CartSlow', true],
      ['CartDown', false],
    ],
  )
})

test('a weekly silence starts and ends by the clock of its time zone', async (t) => {
  const { silence, send, state, sweepUntil, reportEnds } = silenced(t)
  await reportEnds()
  // Noon in UTC is 13:00 in Berlin.
  const schedule = { weekdays: ['saturday'], from: '13:30', to: '14:00', timeZone: 'Europe/Berlin' }
  await silence('service="cart"', { schedule })
  await send('metrics', alertmanager([DOWN]))
  const seen = [state()[0]]
  for (const minutes of [31, 61]) {
    await sweepUntil(NOON + minutes * MINUTE)
    seen.push(state()[0])
  }
  assert.deepEqual(seen, ['critical', 'healthy', 'critical'])
})

test('changing the matchers releases the alerts that no longer match', async (t) => {
  const { silence, send, state, deps, acme, silencedBy } = silenced(t)
  const id = await silence('service="cart"')
  await send('metrics', alertmanager([DOWN]))
  await changeSilence(deps, acme.key, id, { matchers: parseMatchers('service="web"'), revision: 1 })
  assert.deepEqual(state(), ['critical', 60, 1])
  assert.deepEqual(silencedBy({ silenced: true }), [])
})

test('an alert that matches two silences stays silenced until both have ended', async (t) => {
  const { silence, send, state, deps, acme } = silenced(t)
  const first = await silence('service="cart"')
  const second = await silence('team="shop"')
  await send('metrics', alertmanager([DOWN]))
  await expireSilence(deps, acme.key, first)
  assert.equal(state()[2], 0)
  await expireSilence(deps, acme.key, second)
  assert.equal(state()[2], 1)
})

test("Charlie's silence silences nothing of Acme", async (t) => {
  const { silence, send, state, charlie } = silenced(t)
  await silence('service="cart"', {}, charlie)
  await send('metrics', alertmanager([DOWN]))
  assert.deepEqual(state(), ['critical', 60, 1])
})

test('if two people edit one silence, the second gets a conflict', async (t) => {
  const { silence, deps, acme } = silenced(t)
  const id = await silence('service="cart"')
  await changeSilence(deps, acme.key, id, { comment: 'Longer upgrade', revision: 1 })
  await assert.rejects(() => changeSilence(deps, acme.key, id, { comment: 'Mine', revision: 1 }), /somebody else/)
})

test('the conflict lists everything that both have changed', async (t) => {
  const { silence, deps, acme } = silenced(t)
  const id = await silence('service="cart"')
  const change = (more: object) => changeSilence(deps, acme.key, id, { revision: 1, ...more })
  await change({ matchers: parseMatchers('service="web"'), endsAt: NOON + 2 * HOUR })
  await assert.rejects(
    () => change({ matchers: parseMatchers('team="a"'), startsAt: NOON, endsAt: NOON + 3 * HOUR }),
    /\(endsAt is now 2026-03-14T14:00:00\.000Z; matchers are now \{?service="web"\}?\): reload the silence/,
  )
})

test('an expired silence cannot be changed, and ending it again changes nothing', async (t) => {
  const { silence, deps, acme, clock } = silenced(t)
  const id = await silence('service="cart"')
  clock.now = NOON + HOUR
  await expireSilence(deps, acme.key, id)
  await assert.rejects(() => changeSilence(deps, acme.key, id, { comment: 'x' }), /has expired/)
})

test('an import creates each silence once and omits those that have ended', async (t) => {
  const { deps, acme } = silenced(t)
  const one = {
    matchers: parseMatchers('team="shop"'),
    startsAt: NOON - HOUR,
    schedule: null,
    comment: 'x',
    createdBy: 'x',
  }
  const read = [
    { ...one, endsAt: NOON + HOUR },
    { ...one, endsAt: NOON },
  ]
  assert.deepEqual(await importSilences(deps, acme.key, read), { created: 1, skipped: 1 })
  assert.deepEqual(await importSilences(deps, acme.key, read), { created: 0, skipped: 2 })
})

test('a restart during a silence changes nothing', async (t) => {
  const flow = silenced(t)
  await flow.silence('service="cart"')
  await flow.send('metrics', alertmanager([DOWN]))
  flow.restart()
  await flow.deps.engine.sweep()
  assert.deepEqual(flow.state(), ['healthy', 100, 0])
})
