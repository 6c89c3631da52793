/**
 * Repeats: an unchanged repeat does not create a new event but is counted by its alert. Caching does not change the
 * result.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Source } from '../../src/domain/event/event.ts'
import { createService, updateService } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import {
  alert,
  alertmanager,
  type Body,
  crashLoop,
  grafana,
  kubernetesEvent,
  pipeline,
  watchdog,
} from '../helpers/senders.ts'

const SINCE = NOON - 10 * MINUTE
const down = (more = {}) => alertmanager([alert('CartDown', { deployment: 'cart' }, { startsAt: SINCE, ...more })])

test('an unchanged repeat gets the id of the earlier event', async (t) => {
  const flow = makeFlow(t)
  const first = await flow.send('metrics', down())
  const second = await flow.send('metrics', down(), { at: NOON + 2 * MINUTE })
  assert.deepEqual([second.eventIds, second.isRepeat], [first.eventIds, true])
  assert.equal(flow.events().length, 1)
})

test('a repeat increases the count and updates the last time', async (t) => {
  const flow = makeFlow(t)
  for (const minutes of [0, 2, 4]) await flow.send('metrics', down(), { at: NOON + minutes * MINUTE })
  const [only] = flow.alerts()
  assert.deepEqual([only?.occurrences, only?.last_seen_at], [3, NOON + 4 * MINUTE])
})

test('a repeat is recognized after a restart', async (t) => {
  const flow = makeFlow(t)
  const first = await flow.send('metrics', down())
  flow.restart()
  assert.deepEqual((await flow.send('metrics', down())).eventIds, first.eventIds)
})

test('only changed items of a group become new events', async (t) => {
  const flow = makeFlow(t)
  const slow = (summary: string) => alert('CartSlow', { deployment: 'cart' }, { startsAt: SINCE, summary })
  const same = alert('CartDown', { deployment: 'cart' }, { startsAt: SINCE })
  const first = await flow.send('metrics', alertmanager([same, slow('2 s')]))
  const second = await flow.send('metrics', alertmanager([same, slow('3 s')]))
  assert.equal(second.eventIds[0], first.eventIds[0])
  assert.notEqual(second.eventIds[1], first.eventIds[1])
  assert.equal(second.isRepeat, false)
})

for (const [what, body] of [
  ['other words', down({ summary: 'still down' })],
  ['an end', down({ endsAt: NOON - MINUTE })],
  ['a later start', down({ startsAt: NOON - MINUTE })],
] as const) {
  test(`${what} is not a repeat`, async (t) => {
    const flow = makeFlow(t)
    await flow.send('metrics', down())
    assert.equal((await flow.send('metrics', body)).isRepeat, false)
    assert.equal(flow.events().length, 2)
  })
}

test('a new start after an end is not a repeat', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', down())
  await flow.send('metrics', down({ endsAt: NOON }), { at: NOON + MINUTE })
  const again = await flow.send('metrics', down(), { at: NOON + 20 * MINUTE })
  assert.equal(again.isRepeat, false)
  assert.equal(flow.events().length, 3)
})

test('a repeated Kubernetes event is a second event', async (t) => {
  const flow = makeFlow(t)
  for (let i = 0; i < 2; i++) await flow.send('cluster', crashLoop('cart-5d4f8c7b9-x2kqp', { at: SINCE }))
  assert.equal(flow.events().length, 2)
})

test('the counts of the events of two pods add up, and those of one pod do not', async (t) => {
  const flow = makeFlow(t)
  for (const count of [2, 6])
    for (const pod of ['cart-5d4f8c7b9-x2kqp', 'cart-5d4f8c7b9-b7k2x'])
      await flow.send('cluster', crashLoop(pod, { at: SINCE + count * MINUTE, since: SINCE, count }))
  assert.deepEqual(
    flow.alerts().map(({ occurrences }) => occurrences),
    [12],
  )
})

test("Charlie's requests never get the id of Acme's event", async (t) => {
  const flow = makeFlow(t)
  const ours = await flow.send('metrics', down())
  const theirs = await flow.send('metrics', down(), { as: flow.charlie })
  assert.notDeepEqual(theirs.eventIds, ours.eventIds)
  assert.equal(theirs.isRepeat, false)
})

test('a repeat follows a new alias', async (t) => {
  const flow = makeFlow(t)
  const delivery = { ...flow.delivery('metrics', down()), isFromCache: true }
  for (let i = 0; i < 2; i++) await flow.submit(delivery)
  const aliases = [{ kind: 'workload', value: 'shop/cart' }] as const
  await createService(flow.deps, flow.acme.key, { name: 'checkout', namespace: 'shop', aliases })
  await flow.submit({ ...delivery, receivedAt: NOON + MINUTE })
  assert.equal(flow.alerts()[0]?.service, 'checkout')
})

test('a repeat follows a renamed service', async (t) => {
  const flow = makeFlow(t)
  const delivery = { ...flow.delivery('metrics', down()), isFromCache: true }
  await flow.submit(delivery)
  await updateService(flow.deps, flow.acme.key, flow.services()[0]?.id ?? '', { name: 'basket' })
  await flow.submit(delivery)
  assert.deepEqual([flow.services().map(({ name }) => name), flow.alerts().length], [['basket'], 1])
})

test('an alert with a very long text is repeated like any other', async (t) => {
  const flow = makeFlow(t)
  const long = down({ summary: 'x'.repeat(10_000) })
  for (let i = 0; i < 3; i++) await flow.send('metrics', long)
  assert.deepEqual([flow.events().length, flow.alerts()[0]?.occurrences], [1, 3])
})

test('names with different line breaks are different services', async (t) => {
  const flow = makeFlow(t)
  const of = (namespace: string, service: string) => alertmanager([alert('Odd', { namespace, service })])
  for (let i = 0; i < 2; i++) {
    await flow.send('metrics', of('a\nb', 'c'))
    await flow.send('metrics', of('a', 'b\nc'))
  }
  assert.deepEqual(
    flow.alerts().map(({ namespace, service, occurrences }) => [namespace, service, occurrences]),
    [
      ['a\nb', 'c', 2],
      ['a', 'b\nc', 2],
    ],
  )
})

const PODS = ['cart-5d4f8c7b9-x2kqp', 'cart-5d4f8c7b9-zzzzz', 'pay-7c9d8b6f4-abcde']
const named = fc.constantFrom('CartDown', 'CartSlow', 'PayDown')
const alerts = fc.array(
  fc.record({ name: named, pod: fc.constantFrom(...PODS), ended: fc.boolean(), words: fc.constantFrom('one', 'two') }),
  { minLength: 1, maxLength: 3 },
)
const deliveries: fc.Arbitrary<readonly [Source, Body]> = fc.oneof(
  fc.tuple(fc.constantFrom('metrics' as const, 'dashboard' as const), alerts).map(([source, several]) => {
    const items = several.map(({ name, pod, ended, words }) =>
      alert(
        name,
        { pod, severity: 'warning' },
        { startsAt: SINCE, summary: words, ...(ended ? { endsAt: NOON } : {}) },
      ),
    )
    return [source, source === 'metrics' ? alertmanager(items) : grafana(items)] as const
  }),
  fc
    .tuple(fc.constantFrom('BackOff', 'FailedScheduling', 'Scheduled', 'Pulled', 'Unhealthy'), fc.constantFrom(...PODS))
    .map(([reason, pod]) => ['cluster', kubernetesEvent(reason, pod)] as const),
  fc.constantFrom('abcde12345', 'fedcb54321').map((hash) => {
    const message = `Scaled up replica set cart-${hash} from 0 to 3`
    return ['cluster', kubernetesEvent('ScalingReplicaSet', 'cart', { kind: 'Deployment', message })] as const
  }),
  fc.constantFrom('running', 'failed', 'success').map((status) => ['ci', pipeline(status)] as const),
  fc.constant(['metrics', alertmanager([watchdog()])] as const),
)
const histories = fc.array(
  fc.record({ sent: fc.array(deliveries, { minLength: 1, maxLength: 4 }), pause: fc.constantFrom(0, 1, 7, 40, 90) }),
  { minLength: 1, maxLength: 12 },
)

/** Returns all records, without random ids and references to them. */
function kept({ deps: { db } }: Flow) {
  const random = ['uuid', 'health', 'previous']
  const rows = <Row extends object>(all: readonly Row[]) =>
    all.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !random.includes(name))))
  return [
    rows(db.all(db.sql.selectFrom('alerts').selectAll().orderBy('id'))),
    rows(db.all(db.sql.selectFrom('events').selectAll().orderBy('id'))),
    rows(db.all(db.sql.selectFrom('services').selectAll().orderBy('id'))),
    rows(db.all(db.sql.selectFrom('incidents').selectAll().orderBy('id'))),
    rows(db.all(db.sql.selectFrom('senders').selectAll().orderBy('id'))),
    rows(db.all(db.sql.selectFrom('groups').selectAll().orderBy('id'))),
    db.all(
      db.sql.selectFrom('correlations').select(['alert_id', 'change_ref', 'score', 'evidence_count']).orderBy('id'),
    ),
  ]
}

test('a restart never changes the result', async (t) => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const [running, restarted] = [makeFlow(t), makeFlow(t)]
      for (const flow of [running, restarted]) {
        for (const { sent, pause } of history) {
          if (flow === restarted) await flow.deps.engine.reload()
          // Sent one at a time: on a busy machine, batches could be split anywhere, and each batch evaluates a service
          // once.
          for (const [source, body] of sent) await flow.send(source, body)
          if (flow === restarted) await flow.deps.engine.reload()
          await flow.sweepUntil(flow.clock.now + pause * MINUTE, 10 * MINUTE)
        }
      }
      assert.deepEqual(kept(running), kept(restarted))
    }),
    { numRuns: 20 },
  )
})

test("an exporter that reports repeats has no effect on how another one's silence is interpreted", async (t) => {
  const flow = makeFlow(t)
  const loop = (count: number) => kubernetesEvent('FailedMount', 'cart-5d4f8c7b9-x2kqp', { at: NOON, count })
  for (let n = 0; n < 100; n += 1) await flow.send('cluster', kubernetesEvent('Started', 'job-x'), { cluster: 'once' })
  await flow.send('cluster', loop(1), { cluster: 'once' })
  await flow.send('cluster', loop(4), { cluster: 'again' })
  await flow.sweepUntil(NOON + 20 * MINUTE)
  const firing = () => flow.alerts().filter(({ status }) => status === 'firing')
  assert.deepEqual(
    firing().map(({ cluster }) => cluster),
    ['once'],
  )
  await flow.sweepUntil(NOON + 62 * MINUTE)
  assert.deepEqual(firing(), [])
})
