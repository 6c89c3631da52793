/** An alert that goes on belongs to another service since a user has set or removed an alias: its incident follows it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { remind } from '../../src/actions/notifications.ts'
import { changeIncident, createIncident, createService, mergeServices, updateService } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

type Labels = Readonly<Record<string, string>>

/** X of the team core has been firing since noon. `others`: further alerts of this name. */
async function world(t: TestContext, ...others: Labels[]) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  const common = { kind: 'slack', target: 'https://example.com/x', remindAfter: 10 } as const
  createChannel(deps, acme.key, { ...common, name: 'all' })
  const sent: string[] = []
  const take = () =>
    sent.push(
      ...pump(deps).map(({ channel, items, title }) => {
        return `${channel === 'all' ? '' : `${channel} `}${items.at(-1)?.kind}: ${title}`
      }),
    )
  const until = async (minute: number) => {
    while (clock.now < NOON + minute * MINUTE) {
      await flow.sweepUntil(Math.min(NOON + minute * MINUTE, clock.now + MINUTE / 6), MINUTE / 6)
      remind(deps)
      take()
    }
  }
  const told = () => {
    take()
    return sent.splice(0)
  }
  const report = (labels: Labels = { team: 'core' }, to?: number, from = 0, name = 'X', severity = 'critical') => {
    const times = { startsAt: NOON + from * MINUTE, ...(to === undefined ? {} : { endsAt: NOON + to * MINUTE }) }
    const body = alertmanager([alert(name, { namespace: '', severity, ...labels }, times)], {
      groupKey: JSON.stringify(labels),
    })
    return flow.send('metrics', body)
  }
  const states = () =>
    flow.incidents().map(({ title, status, alert_count: alerts, acknowledged_by: by }) => {
      return [title, status, alerts, ...(by === null ? [] : [by])].join(' ')
    })
  const alias = async (value: string | null = 'team=core') => {
    const known = flow.service('old')?.id
    const id = known ?? (await createService(deps, acme.key, { name: 'old', namespace: '' }))
    await updateService(deps, acme.key, id, { aliases: value === null ? [] : [{ kind: 'label', value }] })
  }
  const change = (status: 'investigating' | 'resolved') =>
    changeIncident(deps, acme.key, flow.incidents()[0]?.id ?? '', { status }, 'Ann')
  for (const labels of [{ team: 'core' }, ...others]) await report(labels)
  await until(1)
  return { ...flow, common, until, told, report, states, alias, change }
}

test('its incident and the acknowledgement go with it, without a message', async (t) => {
  const { until, told, report, states, alias, change, timeline, incidents } = await world(t)
  await change('investigating')
  told()
  await alias()
  await report()
  await until(20)
  assert.deepEqual(states(), ['old: X investigating 1 Ann'])
  assert.deepEqual(told(), [])
  const entries = timeline(incidents()[0] ?? { key: 0 }).map(({ text }) => text)
  assert.ok(entries.includes('moved from unattributed to old with its alert'), entries.join())
  await report(undefined, 20)
  await until(22)
  assert.deepEqual(told(), ['recovered: old has recovered: it was critical for 20 min, until 12:20 UTC.'])
})

test('without an acknowledgement, reminders name the service', async (t) => {
  const { until, told, report, alias } = await world(t)
  told()
  await alias()
  for (let minute = 2; minute <= 12; minute += 1) {
    await report()
    await until(minute)
  }
  assert.match(told().join(), /^reminder: Nobody has acknowledged this yet: old has been critical since 12:00 UTC/)
})

test('of several alerts of the name, the last one takes the incident along', async (t) => {
  const { until, told, report, states, alias } = await world(t, { team: 'core', n: '2' }, { team: 'core', n: '3' })
  told()
  await alias()
  for (const n of ['3', '2']) await report({ team: 'core', n })
  await report()
  await until(4)
  const open = states().filter((one) => !one.includes('resolved'))
  assert.deepEqual(open, ['old: X open 3'])
  assert.ok(!told().some((text) => text.startsWith('recovered')))
})

test('an alert of another team keeps the incident, and the moved one has one of its own', async (t) => {
  const { until, told, report, states, alias } = await world(t, { team: 'web' })
  told()
  await alias()
  await report()
  await until(4)
  assert.deepEqual(states(), ['X: X fires open 1', 'old: X open 1'])
  assert.deepEqual(told(), ['opened: old has been critical since 12:00 UTC (1 min).'])
  await report({ team: 'web' }, 4)
  await until(6)
  assert.deepEqual(told(), ['recovered: X has recovered: it was critical for 4 min, until 12:04 UTC.'])
})

test('it joins the incident that its new service has', async (t) => {
  const { until, told, report, states, alias, change } = await world(t)
  await report({ service: 'old' }, undefined, 1, 'Y')
  await change('investigating')
  await until(1.5)
  told()
  await alias()
  await report()
  await until(3)
  assert.deepEqual(states(), ['old: X investigating 2 Ann', 'old: Y resolved 0'])
  assert.deepEqual(
    told().filter((text) => text.startsWith('recovered')),
    [],
  )
})

test('a channel that wants the service is told of it once', async (t) => {
  const { until, told, report, alias, deps, acme, common, service } = await world(t)
  await alias()
  const rules = [{ services: [service('old')?.id ?? ''] }]
  createChannel(deps, acme.key, { ...common, name: 'team', rules } as never)
  told()
  await report()
  await report()
  await until(3)
  assert.deepEqual(told(), ['team opened: old has been critical since 12:00 UTC (1 min).'])
})

test('what a user left on stays left on', async (t) => {
  const { until, told, report, states, alias, change } = await world(t)
  await change('resolved')
  told()
  await alias()
  await report()
  await until(10)
  assert.deepEqual(states(), ['old: X resolved 1'])
  assert.deepEqual(told(), [])
})

test('what a user declared stays where it was declared', async (t) => {
  const { until, report, states, alias, deps, acme, service, change } = await world(t)
  await change('resolved')
  await report(undefined, 1)
  const serviceId = service('unattributed')?.id ?? ''
  await createIncident(deps, acme.key, { title: 'No mail', serviceId, severity: 'critical' }, 'Ann')
  await alias()
  await report(undefined, undefined, 2)
  await until(3)
  assert.ok(states().includes('No mail open 0'), states().join())
})

test('an alert that has ended takes nothing along', async (t) => {
  const { until, told, report, states, alias } = await world(t)
  await report(undefined, 1)
  await until(3)
  told()
  await alias()
  await report(undefined, 1)
  await until(4)
  assert.deepEqual(told(), [])
  assert.match(states()[0] ?? '', /monitoring 1$/)
})

/** X of the team core belongs to the service old by its alias, and Ann works on it. W of old is a warning. */
async function aliased(t: TestContext) {
  const flow = await world(t)
  const { report, alias, until, change, told } = flow
  await alias()
  await report()
  await report({ service: 'old' }, undefined, 0, 'W', 'warning')
  await change('investigating')
  await until(2)
  told()
  return flow
}

test('its incident and the acknowledgement go with it when the alias is removed, and leave the warning behind', async (t) => {
  const { until, told, report, states, alias } = await aliased(t)
  assert.deepEqual(states(), ['old: X investigating 2 Ann'])
  await alias(null)
  await report()
  await until(5)
  assert.deepEqual(states(), ['X: X fires investigating 1 Ann'])
  assert.deepEqual(told(), [])
  await report(undefined, 5)
  await until(7)
  assert.deepEqual(told(), ['recovered: X has recovered: it was critical for 5 min, until 12:05 UTC.'])
})

test('the same when a list without it replaces the aliases of a service', async (t) => {
  const { until, told, report, states, alias } = await aliased(t)
  await alias('team=other')
  await report()
  await until(5)
  assert.deepEqual(states(), ['X: X fires investigating 1 Ann'])
  assert.deepEqual(told(), [])
})

test('and after a merge of services whose alias is removed, back to the first service', async (t) => {
  const { until, told, report, states, alias, deps, acme, service, incidents } = await world(t)
  await report(undefined, 1)
  await report({ service: 'pay' }, undefined, 1, 'Y')
  await report({ service: 'old' }, undefined, 1, 'W', 'warning')
  await until(2)
  await mergeServices(deps, acme.key, service('pay')?.id ?? '', service('old')?.id ?? '')
  await until(3)
  await changeIncident(deps, acme.key, incidents().at(-1)?.id ?? '', { status: 'investigating' }, 'Ann')
  told()
  await alias('team=other')
  await report({ service: 'pay' }, undefined, 1, 'Y')
  await until(6)
  assert.equal(states().at(-1), 'pay: Y investigating 1 Ann')
  assert.deepEqual(told(), [])
})

test('another critical alert keeps the incident, and the one that leaves has one of its own', async (t) => {
  const { until, told, report, states, alias } = await aliased(t)
  await report({ service: 'old' }, undefined, 2, 'Y')
  await until(4)
  told()
  await alias(null)
  await report()
  await until(5)
  assert.deepEqual(states(), ['old: X investigating 2 Ann', 'X: X fires open 1'])
  assert.deepEqual(told(), ['opened: X has been critical since 12:00 UTC (4 min).'])
})
