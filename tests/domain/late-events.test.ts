/** Late events: an event received before its alert is treated as if it came after. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { open } from '../../src/domain/alert/alert.ts'
import { type ReceivedEvent, withReceivedEvents } from '../../src/domain/alert/late-events.ts'
import { failedPipeline, info, MINUTE, NOON, pending, rollout, scheduled, sighted } from '../helpers/signals.ts'

const at = (minutes: number) => NOON + minutes * MINUTE
const waiting = open(pending(NOON, 'cart-a'), at(9))
const crash = open(sighted(NOON), at(9))
const help = info('TriggeredScaleUp', at(1), 'cart-a')

describe('a condition is ended and explained', () => {
  test('by the recovery of an object', () =>
    assert.deepEqual(withReceivedEvents(waiting, [scheduled(at(1), 'cart-a')]).evidence.recovered, [[at(1), 'cart-a']]))

  test('by the hash of a new ReplicaSet', () =>
    assert.deepEqual(withReceivedEvents(crash, [rollout(at(1), '5f6d8c9b7')]).evidence.rollouts, [
      [at(1), '5f6d8c9b7'],
    ]))

  test('by the node that the autoscaler adds', () =>
    assert.deepEqual(withReceivedEvents(waiting, [help]).evidence.helped, [[at(1), 'cart-a']]))

  test('by a scale-up after NotTriggerScaleUp', () => {
    const refused = open(pending(NOON, 'cart-a', { name: 'NotTriggerScaleUp' }), at(9))
    assert.deepEqual(withReceivedEvents(refused, [help]).evidence.recovered, [[at(1), 'cart-a']])
  })

  test('by the same events in any order, repeated', () => {
    const events = [scheduled(at(2), 'cart-b'), help, rollout(at(1), '5f6d8c9b7'), scheduled(at(1), 'cart-a')]
    assert.deepEqual(withReceivedEvents(waiting, events), withReceivedEvents(waiting, [...events, ...events].reverse()))
  })

  test('twice in the same way, without changing the object', () => {
    const told = withReceivedEvents(waiting, [help, scheduled(at(1), 'cart-a')])
    assert.equal(withReceivedEvents(told, [scheduled(at(1), 'cart-a'), help]), told)
  })
})

describe('a condition is not changed', () => {
  const cases: readonly (readonly [string, typeof waiting, ReceivedEvent])[] = [
    ['by an event that ends something else', crash, scheduled(at(1), 'cart-a')],
    ['by Started, which every restart emits', crash, info('Started', at(1), 'cart-a')],
    ['by a ReplicaSet that shrinks', crash, { ...rollout(at(1), 'x'), text: 'Scaled down replica set cart-x to 0' }],
    ['by a change that is no rollout', crash, { ...rollout(at(1), 'x'), text: 'something else' }],
    ['by help for a pod, where the trouble is another', crash, help],
  ]
  for (const [title, alert, event] of cases) {
    test(title, () => assert.equal(withReceivedEvents(alert, [event]), alert))
  }

  test('by nothing', () => assert.equal(withReceivedEvents(crash, []), crash))
})

describe('a failed pipeline that is reported late', () => {
  const failed = open(failedPipeline(NOON), at(30))
  const success = { kind: 'success', name: 'team/cart', object: 'Ref/main', text: '', at: at(5) }

  test('has ended with the first success after it, in any order', () => {
    const { status, resolution, endsAt, endedAt } = withReceivedEvents(failed, [{ ...success, at: at(8) }, success])
    assert.deepEqual([status, resolution, endsAt, endedAt], ['resolved', 'reported', at(5), at(30)])
  })

  const refusals: readonly (readonly [string, Partial<ReceivedEvent>])[] = [
    ['a success before it', { at: at(-5) }],
    ['a success of another ref', { object: 'Ref/dev' }],
    ['a success of another project', { name: 'team/cart-ui' }],
    ['an info of the cluster', { kind: 'info' }],
  ]
  for (const [title, more] of refusals) {
    test(`is not ended by ${title}`, () => assert.equal(withReceivedEvents(failed, [{ ...success, ...more }]), failed))
  }

  test('that a person resolved keeps that end', () => {
    const manual = { ...failed, status: 'resolved', resolution: 'manual', endsAt: at(1) } as const
    assert.equal(withReceivedEvents(manual, [success]), manual)
  })
})
