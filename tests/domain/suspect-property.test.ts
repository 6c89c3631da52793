/** Suspects: properties that hold for all facts, and how long the ranking takes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Severity } from '../../src/domain/severity.ts'
import { rankSuspects, type SuspectFacts } from '../../src/domain/suspect/suspect.ts'
import { assertQuick } from '../helpers/processor.ts'
import { alert, at, deploy, event, facts } from './suspect-facts.ts'

const anyService = fc.constantFrom('cart', 'pay', 'search', 'web', 'ledger', 'n1', 'nobody')
const anyMinute = fc.integer({ min: -120, max: 30 })
const anyAlert = fc
  .record({ service: anyService, name: fc.constantFrom('HighErrorRate', 'HighLatency', 'CPUHigh'), minute: anyMinute })
  .chain(({ service, name, minute }) =>
    fc
      .record({
        id: fc.uuid(),
        severity: fc.constantFrom<Severity>('critical', 'error', 'warning', 'info'),
        labels: fc.constantFrom<Record<string, string>>({}, { destination: 'pay' }, { upstream: 'web' }),
        node: fc.constantFrom(null, 'worker-1'),
        endsAt: fc.constantFrom(null, at(20)),
      })
      .map((more) => alert(service, name, minute, more)),
  )
const anyEvent = fc
  .record({ service: anyService, minute: anyMinute, id: fc.uuid(), count: fc.integer({ min: 1, max: 50 }) })
  .chain(({ service, minute, ...more }) =>
    fc.constantFrom(
      ...['BackOff', 'FailedScheduling', 'NodeNotReady', 'OOMKilled'].map((name) => event(service, name, minute, more)),
      event(service, 'NodeNotReady', minute, { ...more, object: 'Node/worker-1' }),
      event(service, 'FailedCreate', minute, { ...more, text: 'exceeded quota: q' }),
      event(service, 'ScalingReplicaSet', minute, {
        ...more,
        kind: 'change',
        text: 'Scaled down replica set a-5d4f8c7b9 to 0',
      }),
    ),
  )
const anyFacts = fc
  .record({
    alerts: fc.uniqueArray(anyAlert, { maxLength: 12, selector: ({ id }) => id }),
    events: fc.uniqueArray(anyEvent, { maxLength: 20, selector: ({ id }) => id }),
    changes: fc.uniqueArray(
      fc.record({ service: anyService, minute: anyMinute }).map(({ service, minute }) => deploy(service, minute)),
      { maxLength: 6, selector: ({ ref }) => ref },
    ),
  })
  .map((given) => facts(given))

test('the result does not depend on the order of the facts', () => {
  const mixed = anyFacts.chain((given) =>
    fc.record({
      given: fc.constant(given),
      shuffled: fc
        .tuple(
          ...[given.alerts, given.events, given.changes, given.services].map((list: readonly unknown[]) =>
            fc.shuffledSubarray([...list], { minLength: list.length }),
          ),
        )
        .map(
          ([alerts, events, changes, services]) => ({ ...given, alerts, events, changes, services }) as SuspectFacts,
        ),
    }),
  )
  fc.assert(fc.property(mixed, ({ given, shuffled }) => assert.deepEqual(rankSuspects(shuffled), rankSuspects(given))))
})

test('there are at most 20 suspects with falling scores between 0 and 1, reasons and evidence', () => {
  fc.assert(
    fc.property(anyFacts, (given) => {
      const ranked = rankSuspects(given)
      assert.ok(ranked.length <= 20)
      for (const [index, { score, reasons, evidence }] of ranked.entries()) {
        assert.ok(score > 0 && score <= (ranked[index - 1]?.score ?? 1))
        assert.ok(reasons.length > 0 && evidence.length > 0)
        for (const reason of reasons)
          assert.deepEqual(
            Object.keys(reason).filter((key) => !['condition', 'short', 'change'].includes(key)),
            ['code', 'text'],
          )
      }
    }),
  )
})

test('the facts are not modified', () => {
  fc.assert(
    fc.property(anyFacts, (given) => {
      const before = structuredClone(given)
      rankSuspects(given)
      assert.deepEqual(given, before)
    }),
  )
})

test('thousands of events are ranked quickly', () => {
  const names = Array.from({ length: 100 }, (_, index) => `s${index}`)
  const services = names.map((name) => ({ id: name, cluster: '', namespace: 'shop', name }))
  const events = Array.from({ length: 4000 }, (_, i) =>
    event(`s${i % 100}`, 'BackOff', (i % 149) - 119, { object: `Pod/p${i}`, text: `Back-off ${'abcdefghij'[i % 10]}` }),
  )
  const alerts = Array.from({ length: 500 }, (_, i) => alert(`s${i % 100}`, `A${i % 50}`, i % 30))
  const given = facts({ services, events, alerts, changes: names.map((name, i) => deploy(name, -(i % 60))), of: 's1' })
  assertQuick(2_000, () => assert.equal(rankSuspects(given).length, 20))
})

test('without facts there are no suspects', () => {
  assert.deepEqual(rankSuspects(facts({})), [])
  assert.deepEqual(rankSuspects(facts({ services: [] })), [])
})
