/** Admission: as many items may be pending as are stored in a second. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAdmission } from '../../src/engine/admission.ts'
import { withEngine } from '../../src/operations/deps.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alertGroup } from '../helpers/payloads.ts'

/** An admission with a clock, and work that takes so long for so many items. */
function watched() {
  let now = 1_000_000
  const admission = createAdmission(() => now)
  const store = (items: number, ms: number) =>
    admission.during(items, async () => {
      now += ms
    })
  return { ...admission, store }
}

test('10,000 items may be pending before anything was measured', () => {
  assert.deepEqual([watched().most(), watched().pending()], [10_000, 0])
})

test('fewer items may be pending on a slow machine, and more on a fast one', async () => {
  const [slow, fast] = [watched(), watched()]
  for (let batch = 0; batch < 20; batch += 1) {
    await slow.store(400, 200)
    await fast.store(3_000, 200)
  }
  assert.deepEqual([Math.round(slow.most() / 100), Math.round(fast.most() / 100)], [20, 150])
})

test('neither a machine that stands still nor one of any speed leaves the limits', async () => {
  const [stopped, quick] = [watched(), watched()]
  for (let batch = 0; batch < 20; batch += 1) {
    await stopped.store(1, 60_000)
    await quick.store(1_000_000, 200)
  }
  assert.deepEqual([stopped.most(), quick.most()], [1_000, 20_000])
})

test('items are pending until their work ends, also if it fails', async () => {
  const { during, pending } = watched()
  const ends = Promise.withResolvers<void>()
  const [stored, failed] = [during(20, () => ends.promise), during(5, () => Promise.reject(new Error('full disk')))]
  assert.equal(pending(), 25)
  await assert.rejects(failed, /full disk/)
  assert.equal(pending(), 20)
  ends.resolve()
  await stored
  assert.equal(pending(), 0)
})

test('the time without any work says nothing about the rate', async () => {
  const { store, most } = watched()
  for (let batch = 0; batch < 9; batch += 1) await store(20, 2)
  assert.equal(most(), 10_000)
})

test('while 10,000 alerts wait, senders that send again are refused and others are not', async (t) => {
  const flow = makeFlow(t)
  const { engine } = withEngine(flow.deps)
  const storm = flow.delivery('metrics', JSON.parse(alertGroup(500)))
  const outcomes = Promise.allSettled(Array.from({ length: 21 }, () => engine.submit(storm)))
  engine.admit('ci')
  const refused = (await outcomes).flatMap((outcome) => (outcome.status === 'rejected' ? outcome.reason.message : []))
  assert.deepEqual(refused, ['too many alerts wait: nothing of this request was stored, send it again'])
  engine.admit('metrics')
})
