/** Pruning that waits: if more than half would be deleted at once, a person confirms it or corrects the clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPendingPrune } from '../../src/store/retention/pruning.ts'
import { DAY, MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { eventsOf, incidentAt, pruneFully, routine, routineWeek } from '../helpers/retention.ts'

test('deleting more than half waits for confirmation and is reported once a day', async (t) => {
  const flow = makeFlow(t)
  await routineWeek(flow)
  flow.clock.now = NOON + 365 * DAY
  const first = pruneFully(flow.deps, flow.acme, { approved: false })
  flow.clock.now += 60 * MINUTE
  const second = pruneFully(flow.deps, flow.acme, { approved: false })
  assert.deepEqual([first.waits?.events, first.waits && first.isLogDue], [{ due: 7, total: 7 }, true])
  assert.equal(second.waits && second.isLogDue, false)
  assert.deepEqual(findPendingPrune(flow.deps.db, flow.acme.key)?.since, NOON + 365 * DAY)
  pruneFully(flow.deps, flow.acme, { approved: true })
  assert.deepEqual([eventsOf(flow), findPendingPrune(flow.deps.db, flow.acme.key)], [[], null])
})

test('referenced records do not count as deletions', async (t) => {
  const flow = makeFlow(t)
  await incidentAt(flow, NOON - 40 * DAY, flow.acme)
  await flow.sweepUntil(NOON, DAY / 8)
  await flow.send('cluster', routine())
  const outcome = pruneFully(flow.deps, flow.acme, { approved: false })
  assert.equal(outcome.waits, null)
  assert.ok(eventsOf(flow).length >= 5)
})

test('old events that have just arrived do not count as deletions', async (t) => {
  const flow = makeFlow(t)
  for (let day = 100; day > 90; day -= 1) await flow.send('cluster', routine(NOON - day * DAY))
  await flow.send('cluster', routine())
  const { waits } = pruneFully(flow.deps, flow.acme, { approved: false })
  assert.deepEqual([waits, eventsOf(flow).length], [null, 11])
})

test('after the clock is corrected nothing is pending or lost', async (t) => {
  const flow = makeFlow(t)
  await routineWeek(flow)
  flow.clock.now = NOON + 365 * DAY
  pruneFully(flow.deps, flow.acme, { approved: false })
  flow.clock.now = NOON - 60 * MINUTE
  pruneFully(flow.deps, flow.acme, { approved: false })
  assert.deepEqual([eventsOf(flow).length, findPendingPrune(flow.deps.db, flow.acme.key)], [7, null])
})

test('records skipped while the clock was ahead are pruned later', async (t) => {
  const flow = makeFlow(t)
  flow.clock.now = NOON + 365 * DAY
  pruneFully(flow.deps, flow.acme)
  flow.clock.now = NOON
  await routineWeek(flow)
  flow.clock.now = NOON + 60 * DAY
  pruneFully(flow.deps, flow.acme)
  assert.deepEqual(eventsOf(flow), [])
})
