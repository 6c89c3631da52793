/** What a silence that has ended says about a problem. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { figuresOf } from '../../src/domain/incident/lasted.ts'
import { type Burning, mutedSinceOf, NO_PROBLEM, observe, type Problem } from '../../src/domain/incident/problem.ts'
import { MINUTE } from '../../src/domain/units.ts'
import { criticalMsOf, mutedMsOf } from '../helpers/lengths.ts'

/** Observes at minute 10 a condition that a silence has covered for so long. */
const freedAfter = (coveredMs: number, before: Problem = NO_PROBLEM) => {
  const now = 10 * MINUTE
  const covered = { since: now - coveredMs, from: now - coveredMs, until: now }
  return observe(before, { now, burning: [{ name: 'Down', since: now, onset: now, covered }], muted: [], ended: [] })
}

test('a condition that a silence covered has gone on since before, and was silenced for so long', () => {
  const freed = freedAfter(2 * MINUTE)
  assert.deepEqual(
    [freed.covered, mutedMsOf(freed, 10 * MINUTE)],
    [{ since: 8 * MINUTE, until: 10 * MINUTE }, 2 * MINUTE],
  )
})

test('what fired before its silence was silenced only since then', () => {
  const now = 10 * MINUTE
  const covered = { since: 2 * MINUTE, from: 7 * MINUTE, until: now }
  const burning = [{ name: 'Down', since: now, onset: now, covered }]
  assert.equal(mutedMsOf(observe(NO_PROBLEM, { now, burning, muted: [], ended: [] }), now), 3 * MINUTE)
})

test('a warning that a silence covered, and that becomes critical, was not covered', () => {
  const freed = freedAfter(0)
  assert.deepEqual([freed.covered, mutedMsOf(freed, 10 * MINUTE)], [null, 0])
})

test('what the silence covered before the last end counts no more', () => {
  const periods = [{ name: 'Down', from: 0, to: 9 * MINUTE }]
  const over = { ...NO_PROBLEM, endedAt: 9 * MINUTE, knownAt: 9 * MINUTE, had: ['Down'], periods }
  assert.equal(mutedMsOf(freedAfter(2 * MINUTE, over), 10 * MINUTE), MINUTE)
})

const RATED = { startedAt: 10 * MINUTE, origin: 'automatic', severity: 'critical' } as const

test('the lengths that people see add up to the time between the start and the end that they see', () => {
  const periods = [{ name: 'Down', from: 10 * MINUTE + 700, to: 40 * MINUTE + 300 }]
  const silenced = [{ name: 'Down', from: 30 * MINUTE - 200, to: 50 * MINUTE }]
  const problem = { ...NO_PROBLEM, endedAt: 40 * MINUTE + 300, periods, silenced }
  const { criticalSeconds, silencedSeconds } = figuresOf({ ...RATED, problem }, 60 * MINUTE)
  assert.deepEqual([criticalSeconds, silencedSeconds, criticalSeconds + silencedSeconds], [1199, 601, 1800])
})

test('a silence does not fill the breaks of a problem', () => {
  const periods = [
    { name: 'Down', from: 10 * MINUTE, to: 20 * MINUTE },
    { name: 'Down', from: 30 * MINUTE, to: 50 * MINUTE },
  ]
  const silenced = [{ name: 'Down', from: 15 * MINUTE, to: 35 * MINUTE }]
  const problem = { ...NO_PROBLEM, endedAt: 50 * MINUTE, periods, silenced }
  assert.equal(figuresOf({ ...RATED, problem }, 60 * MINUTE).silencedSeconds, 600)
})

const on: Problem = {
  ...{ ...NO_PROBLEM, since: 0, firing: ['Down'], had: ['Down', 'Slow'] },
  periods: [{ name: 'Down', from: 0, to: null }],
}
const at14 = { name: 'Down', endsAt: 14 * MINUTE, isGuess: false }
const firing = (name: string): Burning => ({ name, since: MINUTE, onset: MINUTE })
const isCoveredAt15 = (muted: readonly string[], ended = [at14]) => {
  const seen = { now: 15 * MINUTE, burning: [], muted: muted.map(firing), ended }
  const problem = observe(on, seen)
  return [problem.endedAt, mutedSinceOf(problem), criticalMsOf(problem, 0)].map((ms) => (ms ?? 0) / MINUTE)
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
  assert.deepEqual([known.endedAt, known.isGuess], [9 * MINUTE, true])
})

for (const [minute, figures] of [
  [9, [9, 5, 4]],
  [3, [3, 3, 0]],
  [16, [16, 6, 10]],
] as const) {
  test(`an end at minute ${minute} that is reported after a silence from 5 to 15 counts from then`, () => {
    const cover = { name: 'Down', from: 5 * MINUTE, to: 15 * MINUTE }
    const covered = { since: 0, until: 15 * MINUTE }
    const freed = { ...on, since: 15 * MINUTE, endedAt: 5 * MINUTE, covered, silenced: [cover] }
    const end = { ...at14, endsAt: minute * MINUTE }
    const seen = { now: 20 * MINUTE, burning: [], muted: [], ended: [end] }
    const figuresIn = (problem: Problem) =>
      [problem.endedAt, criticalMsOf(problem, 0), mutedMsOf(problem, 0)].map((ms) => (ms ?? 0) / MINUTE)
    assert.deepEqual(figuresIn(observe(freed, seen)), figures)
    const during = { ...on, since: null, endedAt: 5 * MINUTE, isMuted: true, silenced: [{ ...cover, to: null }] }
    if (minute < 15) assert.deepEqual(figuresIn(observe(during, { ...seen, now: 18 * MINUTE })), figures)
  })
}
