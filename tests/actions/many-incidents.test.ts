/** Which of many unresolved incidents a channel that is added or enabled hears of, and is reminded of. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { changeChannel, createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import { BUDGETS } from '../../src/domain/budgets.ts'
import type { Rule } from '../../src/domain/notification/rule.ts'
import { createIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const LIMIT = BUDGETS['told-incidents'].value

/** Returns a flow with as many old incidents as the limit, and then a critical incident of `new` in the namespace `late`. */
async function storm(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  const add = (name: string, rules: readonly Rule[] = [], more = {}) =>
    createChannel(deps, acme.key, { name, kind: 'slack', target: 'https://example.com/x', rules, ...more }).id
  const fire = async (services: readonly string[], namespace: string) => {
    const alerts = services.map((service) =>
      alert('Down', { service, namespace, severity: 'critical' }, { startsAt: flow.clock.now }),
    )
    await flow.send('metrics', alertmanager(alerts, { groupKey: namespace }))
    await flow.sweepUntil(flow.clock.now + MINUTE, MINUTE / 2)
  }
  const told = (name: string, kind = 'opened') => {
    const rows = deps.db.sql
      .selectFrom('outbox')
      .innerJoin('channels', 'channels.id', 'outbox.channel_id')
      .innerJoin('incidents', 'incidents.id', 'outbox.incident_id')
      .innerJoin('services', 'services.id', 'incidents.service_id')
      .select('services.name')
      .where('channels.name', '=', name)
      .where('outbox.kind', '=', kind as 'opened')
    return deps.db.all(rows.orderBy('outbox.id')).map((row) => row.name)
  }
  const old = Array.from({ length: LIMIT }, (_, index) => `old${index}`)
  await fire(old, 'early')
  await fire(['new'], 'late')
  return { ...flow, add, told }
}

test('a channel that is added or enabled hears of the newest of many incidents first, and once', async (t) => {
  const { add, told, deps, acme, clock } = await storm(t)
  const id = add('all')
  assert.deepEqual([new Set(told('all')).size, told('all')[0]], [LIMIT, 'new'])
  for (const enabled of [false, true, false]) changeChannel(deps, acme.key, id, { enabled })
  assert.equal(told('all').filter((name) => name === 'new').length, 1)
  clock.now += MINUTE
  add('late', [{ namespaces: ['late'] }])
  add('other', [{ namespaces: ['other'] }])
  const late = add('changed', [{ namespaces: ['other'] }])
  changeChannel(deps, acme.key, late, { rules: [{ namespaces: ['late'] }] })
  assert.deepEqual([told('late'), told('other'), told('changed')], [['new'], [], ['new']])
})

test('a newer incident that is less severe is left out before the critical ones', async (t) => {
  const { add, told, deps, acme, services } = await storm(t)
  const service = services().find(({ name }) => name === 'old0')
  await createIncident(deps, acme.key, { serviceId: service?.id ?? '', title: 'Slow', severity: 'warning' }, 'anna')
  add('all')
  assert.deepEqual([told('all').length, new Set(told('all')).size, told('all')[0]], [LIMIT, LIMIT, 'new'])
})

test('reminders and escalations cover the newest of many incidents, those of matching rules only', async (t) => {
  const { add, told, deps, clock } = await storm(t)
  add('late', [{ namespaces: ['late'] }], { remindAfter: 10 })
  add('boss', [{ namespaces: ['late'] }], { escalateAfter: 10 })
  add('other', [{ namespaces: ['other'] }], { escalateAfter: 10 })
  for (const minute of [15, 16]) {
    clock.now = NOON + minute * MINUTE
    remind(deps)
  }
  assert.deepEqual(
    [told('late', 'reminder'), told('boss', 'escalation'), told('other', 'escalation')],
    [['new'], ['new'], []],
  )
})
