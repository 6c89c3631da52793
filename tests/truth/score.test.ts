/** The figures of `npm run truth` for hand-written predictions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Case, captureOf } from './cases.ts'
import type { Prediction } from './replay.ts'
import { figuresOf } from './score.ts'

const OPENED = { openedFor: [], onNodes: {} }
const NOTHING = { ...OPENED, recovered: 0, critical: [], objects: [], changes: [], later: OPENED }
const DOWN = { desired: 1, available: 0 }
const UP = { desired: 1, available: 1 }

function judged(truth: Case['truth'], prediction: Partial<Prediction> = {}) {
  const recorded = { name: 'one', requests: [], truth }
  return [{ truth: recorded, prediction: { case: 'one', ...NOTHING, ...prediction } }]
}

function shares(...of: Parameters<typeof judged>): Record<string, string> {
  return Object.fromEntries(figuresOf(judged(...of)).map(({ name, right, total }) => [name, `${right}/${total}`]))
}

const cartIsDown = { rootCause: { object: 'app/cart' }, health: { 'shop/cart': DOWN, web: UP } }

test('counts an incident for an unavailable workload as correct and one for a healthy workload as wrong', () => {
  const found = shares(cartIsDown, { openedFor: ['cart', 'web'], critical: ['web'] })
  assert.equal(found['incidents: precision'], '1/2')
  assert.equal(found['incidents: recall'], '1/1')
  assert.equal(found['critical: precision'], '0/1')
  assert.equal(found['critical: recall'], '0/1')
  assert.equal(found['faulty and unavailable workload has an incident'], '1/1')
})

test('does not require an incident for a faulty workload that is available', () => {
  const found = shares({ rootCause: { object: 'app/web' }, health: { cart: DOWN, web: UP } })
  assert.equal(found['faulty and unavailable workload has an incident'], undefined)
})

test('counts the incident of a node as correct if the node is the cause or owns an unavailable workload', () => {
  const owned = { openedFor: ['node/w-1'], onNodes: { 'node/w-1': ['cart', 'node/w-1'] } }
  const found = shares(cartIsDown, { ...owned, later: OPENED })
  assert.equal(found['incidents with nodes: precision'], '1/1')
  assert.equal(found['incidents with nodes: recall'], '1/1')
  assert.equal(found['incidents with nodes, ten minutes later: recall'], '0/1')
  const cause = { rootCause: { object: 'node/w-1' }, health: { cart: UP } }
  assert.equal(shares(cause, { openedFor: ['node/w-1'] })['incidents with nodes: precision'], '1/1')
  assert.equal(shares(cause, { openedFor: ['node/w-2'] })['incidents with nodes: precision'], '0/1')
})

test('does not judge an incident of a workload whose state was not recorded', () => {
  const found = shares(cartIsDown, { openedFor: ['cart', 'dns'] })
  assert.equal(found['incidents with nodes: precision'], '1/1')
  assert.equal(found['incidents: precision'], '1/2')
})

test('counts separately the objects that a request names', () => {
  assert.equal(shares(cartIsDown)['root-cause object named by a request: first'], undefined)
})

test('omits figures about which a data set says nothing', () => {
  const found = shares({ rootCause: { object: 'app/cart', change: 'cart' } }, { changes: ['web', 'cart'] })
  assert.deepEqual(found, { 'root-cause change: first': '0/1', 'root-cause change: in the first three': '1/1' })
})

test('lists what is wrong', () => {
  const [first] = figuresOf(judged(cartIsDown, { objects: ['app/web'] })).filter(({ name }) => name.includes('object'))
  assert.deepEqual(first?.wrong, ['one: app/cart, found app/web'])
})

test('takes the last request as the capture if it was sent after the recorded one', () => {
  const at = (t: string) => ({ t, endpoint: 'cluster' as const, body: {} })
  const recorded = { name: 'one', requests: [at('2026-03-14T12:05:00Z')], truth: cartIsDown }
  const early = { ...recorded, truth: { ...cartIsDown, capturedAt: '2026-03-14T12:00:00Z' } }
  const late = { ...recorded, truth: { ...cartIsDown, capturedAt: '2026-03-14T12:09:00Z' } }
  const capture = (one: Case) => new Date(captureOf(one)).toISOString().slice(11, 16)
  assert.deepEqual([capture(recorded), capture(early), capture(late)], ['12:05', '12:05', '12:09'])
})
