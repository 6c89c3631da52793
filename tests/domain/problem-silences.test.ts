/** What a silence that has ended says about a problem. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { figuresOf } from '../../src/domain/incident/lasted.ts'
import { NO_PROBLEM, observe, type Problem } from '../../src/domain/incident/problem.ts'
import { MINUTE } from '../../src/domain/units.ts'

/** Observes at minute 10 a condition that a silence has covered for so long. */
const freedAfter = (coveredMs: number, before: Problem = NO_PROBLEM) => {
  const now = 10 * MINUTE
  const covered = { since: now - coveredMs, from: now - coveredMs, until: now }
  return observe(before, { now, burning: [{ name: 'Down', since: now, onset: now, covered }], muted: [], ended: [] })
}

test('a condition that a silence covered has gone on since before, and was silenced for so long', () => {
  const { covered, mutedMs } = freedAfter(2 * MINUTE)
  assert.deepEqual([covered, mutedMs], [{ since: 8 * MINUTE, until: 10 * MINUTE }, 2 * MINUTE])
})

test('what fired before its silence was silenced only since then', () => {
  const now = 10 * MINUTE
  const covered = { since: 2 * MINUTE, from: 7 * MINUTE, until: now }
  const burning = [{ name: 'Down', since: now, onset: now, covered }]
  assert.equal(observe(NO_PROBLEM, { now, burning, muted: [], ended: [] }).mutedMs, 3 * MINUTE)
})

test('a warning that a silence covered, and that becomes critical, was not covered', () => {
  const { covered, mutedMs } = freedAfter(0)
  assert.deepEqual([covered, mutedMs], [null, 0])
})

test('what the silence covered before the last end counts no more', () => {
  const over = { ...NO_PROBLEM, endedAt: 9 * MINUTE, knownAt: 9 * MINUTE, had: ['Down'] }
  assert.equal(freedAfter(2 * MINUTE, over).mutedMs, MINUTE)
})

test('the lengths that people see add up to the time between the start and the end that they see', () => {
  const startedAt = 10 * MINUTE
  const problem = {
    ...NO_PROBLEM,
    endedAt: 40 * MINUTE + 300,
    criticalMs: 20 * MINUTE - 500,
    mutedMs: 10 * MINUTE + 800,
  }
  const { criticalSeconds, silencedSeconds } = figuresOf({ startedAt, problem }, 60 * MINUTE)
  assert.deepEqual([criticalSeconds, silencedSeconds, criticalSeconds + silencedSeconds], [1200, 600, 1800])
})

test('a silence does not fill the breaks of a problem', () => {
  const problem = { ...NO_PROBLEM, endedAt: 50 * MINUTE, criticalMs: 20 * MINUTE, mutedMs: 10 * MINUTE }
  assert.equal(figuresOf({ startedAt: 10 * MINUTE, problem }, 60 * MINUTE).silencedSeconds, 600)
})

const on: Problem = { ...NO_PROBLEM, since: 0, firing: ['Down'], had: ['Down', 'Slow'] }
const at14 = { name: 'Down', endsAt: 14 * MINUTE, isGuess: false }
const isCoveredAt15 = (muted: readonly string[], ended = [at14]) => {
  const { endedAt, mutedSince, criticalMs } = observe(on, { now: 15 * MINUTE, burning: [], muted, ended })
  return [endedAt, mutedSince, criticalMs].map((ms) => (ms ?? 0) / MINUTE)
}

test('if only what is silenced goes on, the silence counts from the reported end of the rest', () => {
  assert.deepEqual(isCoveredAt15(['Slow']), [14, 14, 14])
})

test('a silence of what goes on counts from now, whatever end is known', () => {
  assert.deepEqual(isCoveredAt15(['Down', 'Slow']), [15, 15, 15])
  assert.deepEqual(isCoveredAt15(['Slow'], [{ ...at14, name: 'Slow' }]), [15, 15, 15])
})

test('a condition that is critical no more without an end was critical until its last report', () => {
  const seen = { now: 20 * MINUTE, burning: [], muted: [] }
  const last = { name: 'Down', endsAt: 9 * MINUTE, isGuess: true, isOpen: true }
  const { endedAt, isGuess } = observe(on, { ...seen, ended: [last] })
  assert.deepEqual([endedAt, isGuess], [9 * MINUTE, true])
  const known = observe(on, { ...seen, ended: [last, { name: 'Slow', endsAt: 8 * MINUTE, isGuess: false }] })
  assert.deepEqual([known.endedAt, known.isGuess], [8 * MINUTE, false])
})

for (const [minute, figures] of [
  [9, [9, 5, 4]],
  [3, [3, 3, 0]],
  [16, [16, 6, 10]],
] as const) {
  test(`an end at minute ${minute} that is reported after a silence from 5 to 15 counts from then`, () => {
    const ended = { from: 0, to: 5 * MINUTE }
    const covered = { since: 0, until: 15 * MINUTE }
    const times = { since: 15 * MINUTE, endedAt: 5 * MINUTE, criticalMs: 5 * MINUTE, mutedMs: 10 * MINUTE }
    const end = { ...at14, endsAt: minute * MINUTE }
    const seen = { now: 20 * MINUTE, burning: [], muted: [], ended: [end] }
    const { endedAt, criticalMs, mutedMs } = observe({ ...on, ...times, covered, ended }, seen)
    assert.deepEqual(
      [endedAt, criticalMs, mutedMs].map((ms) => (ms ?? 0) / MINUTE),
      figures,
    )
    const during = { ...on, ...times, since: null, mutedMs: 0, mutedSince: 5 * MINUTE, isMuted: true, ended }
    const over = observe(during, { ...seen, now: 18 * MINUTE })
    if (minute < 15) assert.deepEqual([over.endedAt, over.criticalMs, over.mutedMs], [endedAt, criticalMs, mutedMs])
  })
}
