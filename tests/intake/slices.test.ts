/** A long list of alerts is parsed in slices, with the same result as at once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { READERS, type ReaderName, readInSlices, SLICE } from '../../src/intake/index.ts'
import { NOON } from '../helpers/factory.ts'
import { alert, alertmanager, crashLoop, grafana } from '../helpers/senders.ts'

const COUNT = 2 * SLICE + 10
/** Every seventh alert is rejected, and every third one has a warning. */
const alertsOf = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    index % 7 === 0
      ? { labels: index }
      : alert('Slow', { instance: `${count - index}` }, { startsAt: NOON + (index % 3) * 1e12 }),
  )

const BODIES: readonly (readonly [ReaderName, (alerts: readonly unknown[]) => unknown])[] = [
  ['metrics', alertmanager],
  ['dashboard', grafana],
  ['prometheus', (alerts) => alerts],
]

function sliced(name: ReaderName, body: unknown) {
  const slices = readInSlices(body, JSON.stringify(body).length, (part) => READERS[name](part, NOON))
  for (let yields = 0; ; yields += 1) {
    const { done, value } = slices.next()
    if (done) return { yields, intake: value }
  }
}

for (const [name, bodyOf] of BODIES) {
  test(`${name}: a list of ${COUNT} alerts is read in three slices, and gives the same as at once`, () => {
    const body = bodyOf(alertsOf(COUNT))
    const { yields, intake } = sliced(name, body)
    assert.equal(yields, 3)
    assert.ok(intake.accepted.length > 25 && intake.rejected.length > 25)
    assert.deepEqual(intake, READERS[name](body, NOON))
  })

  test(`${name}: a list of ${SLICE} alerts is read at once`, () => {
    assert.equal(sliced(name, bodyOf(alertsOf(SLICE))).yields, 0)
  })

  test(`${name}: few alerts with much text are read in slices of a quarter of a megabyte`, () => {
    const labels = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`label${index}`, 'x'.repeat(30)]))
    const body = bodyOf(Array.from({ length: 30 }, (_, index) => alert('Wide', { ...labels, instance: `${index}` })))
    const { yields, intake } = sliced(name, body)
    assert.ok(yields >= 4 && yields <= 15, `${yields}`)
    assert.deepEqual(intake, READERS[name](body, NOON))
  })

  test(`${name}: more than 20,000 alerts are refused before any is read`, () => {
    assert.throws(() => sliced(name, bodyOf(Array(20_001).fill({ labels: 1 }))), /alerts: expected at most 20000/)
  })
}

test('a list of Kubernetes events is read in slices, and gives the same as at once', () => {
  const items = Array.from({ length: COUNT }, (_, index) => ({
    ...crashLoop(`cart-${index}`),
    reason: index % 7 || 'BackOff',
  }))
  const body = { kind: 'EventList', items }
  const { yields, intake } = sliced('cluster', body)
  assert.equal(yields, 3)
  assert.deepEqual(intake, READERS.cluster(body, NOON))
})

test('a list of Kubernetes events beside other alerts is read once', () => {
  const body = { items: [crashLoop('cart-1')], alerts: [] }
  assert.deepEqual(sliced('cluster', body).intake, READERS.cluster(body, NOON))
})

for (const body of [Array(20_001).fill(1), { items: Array(20_001).fill(1) }]) {
  test(`more than 20,000 events ${Array.isArray(body) ? '' : 'in items '}are refused before any is read`, () => {
    assert.throws(() => sliced('cluster', body), /items: expected at most 20000; send them in smaller parts/)
  })
}

test('a body without a list is refused as before', () => {
  assert.throws(() => sliced('metrics', { alerts: {} }), /alerts: expected an array/)
})

test('a reader that finds its items in another list reads the body at once', () => {
  const whole = {
    accepted: [],
    rejected: Array.from({ length: 1_500 }, (_, index) => ({ index, error: '', payload: 1 })),
    group: null,
  }
  const slices = readInSlices({ monitors: [], alerts: Array(2_000).fill(1) }, 6_000, () => whole)
  assert.deepEqual(slices.next(), { done: true, value: whole })
})
