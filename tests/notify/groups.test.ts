/** Messages about incidents with a common cause: one for the group, at most one a minute. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { retake, settleMessage, takeMessage } from '../../src/actions/messages.ts'
import { remind } from '../../src/actions/notifications.ts'
import type { Rule } from '../../src/domain/notification/rule.ts'
import { acknowledgeIncidents } from '../../src/engine/changes/incidents/incident-changes.ts'
import { createSilence } from '../../src/engine/changes/silences/silences.ts'
import { findTimeline } from '../../src/store/incident/timeline-facts.ts'
import { listDueChannels } from '../../src/store/notification/outbox.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { startReceiver } from './receiver.ts'
import { notifying } from './world.ts'

const REFUSED = 'dial tcp: connect to postgres.shop.svc:5432: connection refused'

async function callers(t: TestContext, rules: readonly Rule[] = [], escalateAfter = 0) {
  const world = notifying(t)
  const { url, received } = await startReceiver(t)
  createChannel(world.deps, world.acme.key, { name: 'pager', kind: 'webhook', target: url, rules, escalateAfter })
  const fail = (...services: readonly string[]) => {
    const items = services.map((service) =>
      alert(
        'HighErrorRate',
        { service, namespace: 'shop', severity: 'critical' },
        { startsAt: NOON, summary: REFUSED },
      ),
    )
    return world.send('metrics', alertmanager(items))
  }
  const heal = async (...services: readonly string[]) => {
    const ended = { startsAt: NOON, endsAt: world.clock.now, summary: REFUSED }
    const labels = { namespace: 'shop', severity: 'critical' }
    await world.send(
      'metrics',
      alertmanager(services.map((service) => alert('HighErrorRate', { ...labels, service }, ended))),
    )
    await world.sweepUntil(world.clock.now + MINUTE)
  }
  const bodies = () => received.map(({ text }) => JSON.parse(text))
  const types = () => bodies().map(({ type }) => type)
  const settled = (count: number) => world.settled(() => world.messages().filter(isDelivered).length >= count)
  return { ...world, fail, heal, bodies, types, settled }
}

const isDelivered = ({ status }: { status: string }) => status === 'delivered'

test('the third incident of one cause is announced by a message about the group', async (t) => {
  const { fail, bodies, types, settled } = await callers(t)
  for (const [index, name] of ['cart', 'payment', 'search'].entries()) {
    await fail(name)
    await settled(index + 1)
  }
  assert.deepEqual(types(), ['incident.opened', 'incident.opened', 'incident.group'])
  const { message, leader, incidents, incident, group, conditions } = bodies()[2].data
  assert.match(message.title, /^3 services are critical, probably because of postgres\.$/)
  assert.match(
    message.body,
    /^search: HighErrorRate: dial tcp.*refused\. Also critical: cart and payment\. First: shop\/cart/,
  )
  assert.deepEqual([incidents.length, leader.service.name, incident.id], [3, 'cart', leader.id])
  assert.deepEqual([group, conditions], [{ leader: leader.id, size: 3 }, ['HighErrorRate']])
})

test('the message about a group does not call a service well that burns under a silence', async (t) => {
  const { fail, bodies, settled, deps, acme, clock, sweepUntil } = await callers(t)
  await fail('cart', 'payment', 'search')
  await settled(1)
  const matchers = [{ name: 'service', op: '=', value: 'cart' }] as const
  const wanted = { matchers, startsAt: clock.now, endsAt: NOON + 60 * MINUTE, schedule: null, comment: 'deploy' }
  await deps.engine.run(acme.key, (ctx, now) => createSilence(ctx, wanted, 'Ann', now))
  await sweepUntil(NOON + 2 * MINUTE)
  await fail('till')
  await settled(bodies().length + 1)
  const { message, incidents } = bodies().at(-1).data
  assert.match(message.body, / First: shop\/cart since 12:00 UTC, under a silence now\. /)
  assert.deepEqual([incidents[0].problem, 'isSilenced' in incidents[0]], ['off', false])
})

test('the timeline of the leading incident has the message about its group', async (t) => {
  const { fail, settled, deps, acme, incidents, clock } = await callers(t)
  for (const [index, name] of ['cart', 'payment', 'search'].entries()) {
    await fail(name)
    await settled(index + 1)
  }
  const rowsOf = (index: number) => findTimeline(deps.db, acme.key, incidents()[index]?.id ?? '', clock.now) ?? []
  const groups = [0, 1, 2].map((index) => rowsOf(index).filter(({ text }) => text.startsWith('message “group” sent')))
  assert.deepEqual(
    groups.map(({ length }) => length),
    [1, 0, 1],
  )
  assert.match(groups[0]?.[0]?.text ?? '', /pager: 3 services are critical, probably because of postgres\./)
})

test('sixty incidents at once are one message, and further ones wait for a minute', async (t) => {
  const { fail, bodies, types, settled, later } = await callers(t)
  await fail(...Array.from({ length: 60 }, (_, index) => `caller-${index}`))
  await settled(1)
  await fail('late')
  later(0.9)
  await fail('later')
  later(1.1)
  await settled(2)
  assert.deepEqual(types(), ['incident.group', 'incident.group'])
  assert.match(bodies()[1].data.message.title, /^62 services are critical/)
  assert.match(bodies()[1].data.message.body, /^late: .* later: /)
})

test('an incident that joins the group while its message is on the way is part of it, and no second message', async (t) => {
  const { deps, acme, send, clock, incidents } = makeFlow(t)
  createChannel(deps, acme.key, { name: 'pager', kind: 'webhook', target: 'https://a.example/' })
  const fail = (...services: readonly string[]) => {
    const labels = { namespace: 'shop', severity: 'critical' }
    const times = { startsAt: NOON, summary: REFUSED }
    return send('metrics', alertmanager(services.map((service) => alert('Slow', { service, ...labels }, times))))
  }
  await fail('cart', 'payment', 'search')
  const [channel] = listDueChannels(deps.db, clock.now)
  const taken = takeMessage(deps, channel?.channelId ?? 0)
  await fail('till')
  const message = taken && retake(deps, taken)
  assert.deepEqual(message?.items.map(({ service }) => service.name).sort(), ['cart', 'payment', 'search', 'till'])
  if (message) settleMessage(deps, message, { status: 200, detail: null, remoteId: null, retryAfter: 0 }, 0)
  clock.now += 2 * MINUTE
  assert.equal(incidents().length, 4)
  assert.deepEqual(listDueChannels(deps.db, clock.now), [])
})

test('services that recover together are one message, which names what is still critical', async (t) => {
  const { fail, heal, bodies, types, settled, later } = await callers(t)
  await fail('cart', 'payment', 'search', 'till')
  await settled(1)
  later(3)
  await heal('cart', 'payment')
  await settled(2)
  const { notifications, message } = bodies()[1].data
  assert.deepEqual(types(), ['incident.group', 'incidents.digest'])
  assert.deepEqual(
    notifications.map(({ type }: { type: string }) => type),
    ['recovered', 'recovered'],
  )
  assert.match(message.title, /^cart and payment have recovered after at most [34] min\.$/)
  assert.equal(message.body, 'Still critical, probably because of postgres: search and till.')
})

test('services that come back together are one message, which names the cause, and so is their recovery', async (t) => {
  const { fail, heal, send, clock, bodies, settled, later } = await callers(t)
  const all = ['cart', 'payment', 'search', 'till']
  await fail(...all)
  await settled(1)
  later(3)
  await heal(...all)
  await settled(2)
  later(2)
  const labels = { namespace: 'shop', severity: 'critical' }
  const back = { startsAt: clock.now, summary: REFUSED }
  await send('metrics', alertmanager(all.map((service) => alert('HighErrorRate', { ...labels, service }, back))))
  await settled(3)
  const titles = bodies().map(({ data }) => data.message.title)
  assert.match(titles[1], /^cart, payment, search and till have recovered after at most \d+ min\.$/)
  assert.match(bodies()[1].data.message.body, /Probable cause: postgres\.$/)
  assert.equal(
    titles[2],
    '4 incidents came back (4 critical), probably because of postgres: cart, payment, search and till.',
  )
  assert.equal(titles.length, 3)
})

test('whoever acknowledges a group is named in one message', async (t) => {
  const { fail, bodies, settled, incidents, deps, acme, clock, later } = await callers(t)
  await fail('cart', 'payment', 'search')
  await settled(1)
  later(2)
  const ids = incidents().map(({ id }) => id)
  await deps.engine.run(acme.key, (ctx) => acknowledgeIncidents(ctx, ids, 'Ann', clock.now))
  await settled(2)
  const title = 'Ann is working on 3 incidents (3 critical), probably because of postgres: cart, payment and search.'
  assert.equal(bodies()[1].data.message.title, title)
})

test('a channel is reminded once of a group, and of what is left of it', async (t) => {
  const { fail, heal, bodies, types, settled, later, deps } = await callers(t)
  await fail('cart', 'payment', 'search', 'till')
  await settled(1)
  later(11)
  remind(deps)
  await settled(2)
  assert.deepEqual(types(), ['incident.group', 'incident.reminder'])
  assert.match(bodies()[1].data.message.title, /^Nobody has acknowledged this yet: 4 services are critical, probably/)
  await heal('cart', 'payment', 'search', 'till')
  await settled(3)
  later(60)
  remind(deps)
  assert.deepEqual(types().slice(2), ['incidents.digest'])
})

test('a reminder of what is left of a group names all that nobody works on', async (t) => {
  const { fail, bodies, settled, incidents, deps, acme, clock, later } = await callers(t)
  await fail('cart', 'payment', 'search', 'till')
  await settled(1)
  const ids = incidents().flatMap(({ id, title }) => (title.startsWith('cart') ? id : []))
  await deps.engine.run(acme.key, (ctx) => acknowledgeIncidents(ctx, ids, 'Ann', clock.now))
  await settled(2)
  later(11)
  remind(deps)
  await settled(3)
  const { title, body } = bodies()[2].data.message
  for (const name of ['payment', 'search', 'till']) assert.ok(`${title} ${body}`.includes(name), `${title} ${body}`)
  assert.match(body, /Not acknowledged either: \w+ and \w+\./)
})

test('a channel that wants only groups hears nothing of a single incident', async (t) => {
  const { fail, types, settled } = await callers(t, [{ events: ['group'] }])
  await fail('cart')
  await fail('payment', 'search')
  await settled(1)
  assert.deepEqual(types(), ['incident.group'])
})

test('a channel that does not want groups gets each incident', async (t) => {
  const { fail, types, settled } = await callers(t, [{ events: ['opened'] }])
  await fail('cart', 'payment', 'search')
  await settled(3)
  assert.deepEqual(new Set(types()), new Set(['incident.opened']))
})

test('the timeline shows the message, and no row for a channel whose own rule did not want it', async (t) => {
  const { fail, settled, deps, acme, incidents, clock } = await callers(t)
  createChannel(deps, acme.key, {
    name: 'mail',
    kind: 'webhook',
    target: 'https://a.example/',
    rules: [{ events: ['resolved'] }],
  })
  await fail('cart')
  await settled(1)
  const rows = findTimeline(deps.db, acme.key, incidents()[0]?.id ?? '', clock.now) ?? []
  const about = rows.filter(({ kind }) => ['message', 'not-told'].includes(kind)).map(({ text }) => text)
  assert.match(about[0] ?? '', /^message “opened” sent to pager: cart has been critical since/)
  assert.deepEqual(about.slice(1), [])
})

test('a rule with matchers gets the incidents whose alerts match, and each later message about them', async (t) => {
  const { send, bodies, settled } = await callers(t, [{ matchers: [{ name: 'team', op: '=', value: 'pay' }] }])
  const fire = (service: string, team: string, name = 'Down') =>
    send('metrics', alertmanager([alert(name, { service, team }, { startsAt: NOON })]))
  await fire('cart', 'search')
  await fire('till', 'pay')
  await settled(1)
  assert.deepEqual(
    bodies().map(({ data }) => data.service.name),
    ['till'],
  )
})

for (const [what, rules, recovered] of [
  ['all its services', [], /^cart, payment, search and till have recovered/],
  ['those that its rules match', [{ services: ['cart', 'till'] }], /^cart and till have recovered/],
] as const) {
  test(`who heard of a group only by an escalation hears the all-clear of ${what}`, async (t) => {
    const { fail, heal, bodies, types, settled, later, deps } = await callers(t, rules, 5)
    await fail('cart', 'payment', 'search', 'till')
    later(11)
    remind(deps)
    await settled(1)
    assert.deepEqual(types(), ['incident.escalation'])
    assert.match(bodies()[0].data.message.title, /^Nobody has acknowledged this yet: 4 services are critical, probably/)
    await heal('cart', 'payment', 'search', 'till')
    await settled(2)
    assert.match(bodies()[1].data.message.title, recovered)
    assert.equal(types().length, 2)
  })
}

test('who was told nothing of a group hears no all-clear', async (t) => {
  const { fail, heal, types, messages } = await callers(t, [], 30)
  await fail('cart', 'payment', 'search', 'till')
  await heal('cart', 'payment', 'search', 'till')
  assert.deepEqual([types(), messages().length], [[], 0])
})

test('messages name the cluster as soon as the organization has a second one', async (t) => {
  const world = notifying(t)
  const { url, received } = await startReceiver(t)
  for (const organization of [world.acme, world.charlie])
    createChannel(world.deps, organization.key, { name: 'pager', kind: 'webhook', target: url })
  const fail = async (cluster: string, more: Parameters<typeof world.send>[2] = {}) => {
    const labels = { deployment: 'web', cluster, severity: 'critical' }
    const count = received.length
    await world.send('metrics', alertmanager([alert('Down', labels, { startsAt: world.clock.now })]), more)
    await world.settled(() => received.length > count)
    return JSON.parse(received.at(-1)?.text ?? '').data.message.title
  }
  assert.match(await fail('eu'), /^web has been critical since/)
  assert.match(await fail('us', { as: world.charlie }), /^web has been critical since/)
  assert.match(await fail('us'), /^web in us has been critical since/)
})
