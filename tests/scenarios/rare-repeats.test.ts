/** Kubernetes repeats an event ever more rarely while its condition goes on. One incident lasts through the gaps. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { playEvents, type Told } from '../helpers/cluster-flow.ts'
import { NOON } from '../helpers/factory.ts'

const SET = 'cart-5d4f8c7b9'
const POD = `${SET}-x2kqp`
const forbidden = (minute: number, count: number, message = 'exceeded quota: pods'): Told => [
  minute,
  'FailedCreate',
  SET,
  { kind: 'ReplicaSet', message: `Error creating: pods "${POD}" is forbidden: ${message}`, count, since: NOON },
]
const created = (minute: number): Told => [
  minute,
  'SuccessfulCreate',
  SET,
  { kind: 'ReplicaSet', message: `Created pod: ${POD}` },
]
const loop = (minute: number, count: number): Told => [
  minute,
  'BackOff',
  POD,
  { message: 'Back-off restarting failed container app', count, since: NOON },
]
const pulling = (minute: number, count: number): Told => [
  minute,
  'BackOff',
  POD,
  { message: 'Back-off pulling image "registry/cart:2"', count, since: NOON },
]

/** Returns how many incidents opened, and how many alerts fire at the end. */
async function play(t: TestContext, told: readonly Told[], until: number) {
  const flow = await playEvents(t, told, until)
  const firing = flow.alerts().filter(({ status }) => status === 'firing').length
  return { incidents: flow.incidents().length, firing }
}

describe('one incident goes on while', () => {
  const stories: readonly (readonly [string, readonly Told[], number])[] = [
    [
      'a controller waits twice as long each time, up to 17 minutes',
      // 5 milliseconds × 2ⁿ
      [
        ...[forbidden(0.7, 13), forbidden(1.4, 14), forbidden(2.7, 15), forbidden(5.5, 16)],
        ...[forbidden(10.9, 17), forbidden(21.8, 18), forbidden(38.5, 19)],
      ],
      54,
    ],
    ['the recorder passes one event of a crash loop in 20 minutes', [loop(9, 25), loop(29, 29), loop(50, 33)], 75],
    ['the same holds for an image', [pulling(9, 25), pulling(29, 28)], 55],
  ]
  for (const [title, told, until] of stories)
    test(title, async (t) => assert.deepEqual(await play(t, told, until), { incidents: 1, firing: 1 }))
})

describe('a condition is over', () => {
  test('as soon as the controller creates the pod', async (t) =>
    assert.deepEqual(await play(t, [forbidden(2, 13), created(11)], 12), { incidents: 1, firing: 0 }))
  test('5 minutes after the last failure to create a pod', async (t) =>
    assert.deepEqual(await play(t, [forbidden(0.7, 4)], 6), { incidents: 1, firing: 0 }))
  test('20 minutes after the last one if it failed often', async (t) => {
    assert.deepEqual(await play(t, [forbidden(5.5, 16)], 25), { incidents: 1, firing: 1 })
    assert.deepEqual(await play(t, [forbidden(5.5, 16)], 26), { incidents: 1, firing: 0 })
  })
  test('15 minutes after a crash loop that was not seen often', async (t) =>
    assert.deepEqual(await play(t, [loop(2, 6)], 18), { incidents: 1, firing: 0 }))
  test('at once if an account exists a moment later', async (t) => {
    const race = forbidden(0, 2, 'error looking up service account shop/cart')
    assert.deepEqual(await play(t, [race, created(0.1)], 2), { incidents: 0, firing: 0 })
  })
})
