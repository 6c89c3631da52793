/** The limits of live alerts and services: what is stored, what is refused, and who hears of it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { withEngine } from '../../src/actions/deps.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/domain/limits.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop, grafana, pipeline } from '../helpers/senders.ts'

const HOUR = 60 * MINUTE

function makeLimited(t: TestContext, limits: Partial<Limits> = { 'live-alerts': 3 }) {
  const flow = makeFlow(t)
  const current = { ...DEFAULT_LIMITS, ...limits }
  const restart = () => {
    flow.restart()
    Object.assign(flow.deps, withEngine({ ...flow.deps, limits: () => current }))
  }
  restart()
  const firing = (names: readonly string[]) => alertmanager(names.map((name) => alert(name, { severity: 'warning' })))
  return { ...flow, current, restart, firing, names: () => flow.alerts().map(({ name }) => name) }
}

const REFUSED = {
  code: 'unavailable',
  message:
    '2 new alerts not stored, and 3 others stored: this organization has 3 live alerts, the limit; resolve alerts or raise the setting limits (live-alerts); send the request again later',
}

test('the alerts that fit are stored, and the sender is asked to send the others again', async (t) => {
  const { send, firing, names, events } = makeLimited(t)
  await assert.rejects(send('metrics', firing(['A', 'B', 'C', 'D', 'E'])), REFUSED)
  assert.deepEqual(names(), ['A', 'B', 'C', 'TooManyLiveAlerts'])
  assert.equal(events().length, 4)
})

test('repeats and ends are still taken', async (t) => {
  const { send, firing, alerts } = makeLimited(t)
  await send('metrics', firing(['A', 'B', 'C']))
  await send('metrics', firing(['A', 'B', 'C']))
  await send('metrics', alertmanager([alert('A', { severity: 'warning' }, { startsAt: NOON, endsAt: NOON + MINUTE })]))
  assert.equal(alerts().find(({ name }) => name === 'A')?.status, 'resolved')
})

test('an ended alert makes room for a new one', async (t) => {
  const { send, firing, names } = makeLimited(t)
  await send('metrics', firing(['A', 'B', 'C']))
  await send('metrics', alertmanager([alert('A', { severity: 'warning' }, { startsAt: NOON, endsAt: NOON + MINUTE })]))
  await send('metrics', firing(['D']))
  assert.deepEqual(names(), ['A', 'B', 'C', 'D'])
})

test('Grafana is asked to send again, too', async (t) => {
  const { send, firing } = makeLimited(t)
  await send('metrics', firing(['A', 'B', 'C']))
  await assert.rejects(send('dashboard', grafana([alert('D')])), { code: 'unavailable' })
})

for (const [source, body] of [
  ['cluster', crashLoop('cart-5d4f8c7b9-x2kqp')],
  ['ci', pipeline('failed', 'shop/cart')],
] as const)
  test(`${source} never sends again, so its event is stored with a warning`, async (t) => {
    const { send, firing, events, names } = makeLimited(t)
    await send('metrics', firing(['A', 'B', 'C']))
    const { warnings } = await send(source, body)
    assert.match(warnings?.map(({ warning }) => warning).join() ?? '', /stored without opening an alert/)
    assert.equal(events().filter((event) => event.source === source).length, 1)
    assert.deepEqual(names(), ['A', 'B', 'C', 'TooManyLiveAlerts'])
  })

test('an incident opens once on the service incmon, and ends when there is room', async (t) => {
  const { send, firing, incidents, service, current, sweepUntil } = makeLimited(t)
  for (const name of ['A', 'B', 'C']) await send('metrics', firing([name]))
  for (const name of ['D', 'E', 'D']) await assert.rejects(send('metrics', firing([name])))
  const [incident, ...more] = incidents()
  assert.deepEqual([incident?.status, incident?.service_id, more], ['open', service('incmon')?.key, []])
  Object.assign(current, { 'live-alerts': 100 })
  await sweepUntil(NOON + HOUR)
  assert.equal(incidents()[0]?.status, 'resolved')
})

test('the other organizations notice nothing', async (t) => {
  const { send, firing, charlie, alerts, incidents } = makeLimited(t)
  await assert.rejects(send('metrics', firing(['A', 'B', 'C', 'D'])))
  await send('metrics', firing(['A', 'B', 'C']), { as: charlie })
  assert.deepEqual([alerts(charlie).length, incidents(charlie).length], [3, 0])
})

test('a request with an Idempotency-Key is processed again, because some of its alerts were refused', async (t) => {
  const { send, firing, current, names } = makeLimited(t)
  await assert.rejects(send('metrics', firing(['A', 'B', 'C', 'D']), { key: 'one' }))
  Object.assign(current, { 'live-alerts': 100 })
  await send('metrics', firing(['A', 'B', 'C', 'D']), { key: 'one', at: NOON + MINUTE })
  assert.deepEqual(names(), ['A', 'B', 'C', 'TooManyLiveAlerts', 'D'])
})

test('a large request says how many of all its alerts were refused', async (t) => {
  const { send, firing } = makeLimited(t)
  const names = Array.from({ length: 1_200 }, (_, index) => `A${index}`)
  await assert.rejects(send('metrics', firing(names)), /^IncmonError: 1,197 new alerts not stored, and 3 others stored/)
})

test('after a restart, the limit and its incident are still there', async (t) => {
  const { send, firing, restart, incidents } = makeLimited(t)
  await assert.rejects(send('metrics', firing(['A', 'B', 'C', 'D'])))
  restart()
  await assert.rejects(send('metrics', firing(['E'])), { code: 'unavailable' })
  assert.equal(incidents().length, 1)
})

test('items about new services are refused at the limit of services, and those about known ones are not', async (t) => {
  const { send, names } = makeLimited(t, { services: 1 })
  const about = (name: string, deployment: string) => alertmanager([alert(name, { deployment, severity: 'warning' })])
  await send('metrics', about('A', 'cart'))
  await send('metrics', about('B', 'cart'))
  await assert.rejects(send('metrics', about('C', 'mail')), /this organization has 1 service, the limit/)
  assert.deepEqual(names(), ['A', 'B', 'TooManyServices'])
})
