/** Postmortems of incidents with a common cause: the cause names what followed, and each victim names the cause. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE } from '../helpers/factory.ts'
import { alert, alertmanager, kubernetesEvent } from '../helpers/senders.ts'

const CALLERS = ['api-1', 'api-2', 'api-3', 'api-4']
const SECOND = 1000

/** Callers of a service fail, ten seconds before its own alert. `own`: whether the service has an alert. */
async function storm(t: TestContext, { own = true, callers = CALLERS } = {}) {
  const { request, acme, clock, deps } = makeWorld(t)
  const start = clock.now
  const send = (items: readonly unknown[]) =>
    request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertmanager(items) })
  const failing = (service: string, more: object) =>
    alert('DependencyDown', { service }, { startsAt: start, summary: 'cannot connect to postgres:5432', ...more })
  const down = (more: object) =>
    alert('TargetDown', { service: 'postgres' }, { startsAt: start + 10 * SECOND, ...more })
  await send(callers.map((service) => failing(service, {})))
  clock.now += 20 * SECOND
  if (own) await send([down({})])
  clock.now += 5 * MINUTE
  const endsAt = clock.now
  await send([...callers.map((service) => failing(service, { endsAt })), ...(own ? [down({ endsAt })] : [])])
  clock.now += 10 * MINUTE
  await send([alert('Slow', { service: 'elsewhere' }, { startsAt: clock.now })])
  clock.now += 30 * MINUTE
  await deps.engine.sweep()
  const { body } = await request('GET', '/api/incidents?limit=100', { token: acme.token })
  const textOf = async (service: string) => {
    const { id } = body.data.find(({ title }: { title: string }) => title.startsWith(`${service}:`))
    return (await request('GET', `/api/incidents/${id}/postmortem`, { token: acme.token })).text
  }
  return textOf
}

test('the postmortem of the cause names what followed, and which of them was first', async (t) => {
  const textOf = await storm(t)
  const text = await textOf('postgres')
  assert.match(
    text,
    /This incident probably led to 4 other incidents; the first was that of shop\/api-1, which began at \d{4}-\d\d-\d\d 12:00:00 UTC\./,
  )
  assert.match(
    text,
    /Services with an incident that probably followed from this one: 4 \(shop\/api-1, shop\/api-2, shop\/api-3, shop\/api-4\)\./,
  )
  assert.doesNotMatch(text, /Other incidents that opened/)
})

test('the postmortem of a victim names the incident of the cause', async (t) => {
  const textOf = await storm(t)
  assert.match(
    await textOf('api-2'),
    /This incident and 3 others probably followed from “postgres: TargetDown” \(incident 5\)\./,
  )
})

test('a cause without an alert of its own is named, too', async (t) => {
  const textOf = await storm(t, { own: false })
  assert.match(await textOf('api-3'), /This incident and 3 others probably have the same cause: postgres\./)
})

test('two incidents are no group, and an incident that opened after the problem is not named', async (t) => {
  const textOf = await storm(t, { callers: ['api-1'] })
  const text = await textOf('postgres')
  assert.doesNotMatch(text, /followed from this one|same cause|elsewhere/)
})

for (const [isCordoned, shown] of [
  [true, ['NodeNotSchedulable', 'NodeSchedulable']],
  [false, []],
] as const) {
  test(`the timeline tells when a suspected node was cordoned: ${isCordoned}`, async (t) => {
    const { request, acme, clock } = makeWorld(t)
    const { token } = acme
    const start = clock.now
    const tell = (minute: number, reason: string, name: string, more: object) => {
      clock.now = start + minute * MINUTE
      const body = kubernetesEvent(reason, name, { at: clock.now, ...more })
      return request('POST', '/api/webhooks/cluster', { token, body })
    }
    const [node, pod] = [{ kind: 'Node' }, 'cart-5d4f8c7b9-x2kqp']
    const message = `Successfully assigned shop/${pod} to worker-3`
    await tell(0, 'Scheduled', pod, { message })
    if (isCordoned) await tell(1, 'NodeNotSchedulable', 'worker-3', node)
    const down = alertmanager([alert('Down', { deployment: 'cart' }, { startsAt: start + 2 * MINUTE })])
    await tell(2, 'Killing', pod, { message: 'Stopping container app' })
    await request('POST', '/api/webhooks/metrics', { token, body: down })
    if (isCordoned) await tell(9, 'NodeSchedulable', 'worker-3', node)
    const { body } = await request('GET', '/api/incidents', { token })
    await request('PATCH', `/api/incidents/${body.data[0].id}`, { token, body: { status: 'resolved' } })
    const { timeline } = (await request('GET', `/api/incidents/${body.data[0].id}/postmortem`, { token })).body
    const texts = timeline.map(({ text }: { text: string }) => text)
    assert.deepEqual(
      texts.flatMap((text: string) => /^Node(?:Not)?Schedulable/.exec(text) ?? []),
      shown,
    )
  })
}
