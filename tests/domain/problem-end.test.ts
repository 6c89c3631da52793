/** What becomes known later about the end of a problem. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Burning,
  type Ended,
  endText,
  NO_PROBLEM,
  observe,
  overText,
  type Problem,
} from '../../src/domain/incident/problem.ts'
import { MINUTE } from '../../src/domain/units.ts'
import { criticalMsOf } from '../helpers/lengths.ts'

/** Began at minute 0. Last reported at minute 5, which was known at minute 20. */
const GUESSED: Problem = {
  ...NO_PROBLEM,
  ...{ endedAt: 5 * MINUTE, knownAt: 20 * MINUTE, isGuess: true, had: ['Down'] },
  periods: [{ name: 'Down', from: 0, to: 5 * MINUTE, isGuess: true }],
}
const endingAt = (minute: number) => ({
  ...{ isGuess: false, endedAt: minute * MINUTE },
  periods: [{ name: 'Down', from: 0, to: minute * MINUTE }],
})
const after = (problem: Problem, now: number, end: Partial<Ended>) => {
  const ended = [{ name: 'Down', endsAt: 0, isGuess: false, ...end }]
  const observed = observe(problem, { now, burning: [], muted: [], ended })
  const { since, endedAt, knownAt, isGuess } = observed
  return { since, endedAt, knownAt, isGuess, criticalMs: criticalMsOf(observed, now) }
}

test('a later end that the sender reports replaces the assumed one', () => {
  const end = { since: null, endedAt: 15 * MINUTE, knownAt: 20 * MINUTE, isGuess: false, criticalMs: 15 * MINUTE }
  assert.deepEqual(after(GUESSED, 30 * MINUTE, { endsAt: 15 * MINUTE }), end)
})

test('a problem that ended after its end was assumed has been over since its end', () => {
  const { endedAt, knownAt } = after(GUESSED, 30 * MINUTE, { endsAt: 25 * MINUTE })
  assert.deepEqual([endedAt, knownAt], [25 * MINUTE, 25 * MINUTE])
})

test('an end that is assumed, in the future, or of something else changes nothing', () => {
  for (const end of [
    { endsAt: 15 * MINUTE, isGuess: true },
    { endsAt: 45 * MINUTE },
    { endsAt: 15 * MINUTE, name: 'Other' },
  ]) {
    assert.equal(after(GUESSED, 30 * MINUTE, end).endedAt, 5 * MINUTE)
  }
})

test('an end that is known late has its time, unless nobody reported it', () => {
  const of = (known: number, isGuess = false) => endText({ ...GUESSED, isGuess }, known * MINUTE)
  assert.equal(of(6), 'the problem is over')
  assert.equal(of(10), 'the problem had ended at 1970-01-01 00:05:00 UTC')
  assert.equal(of(10, true), 'the problem is over')
})

test('an incident is not resolved because of an end that nobody reported', () => {
  assert.equal(overText(GUESSED, 60 * MINUTE, 'over'), 'the problem had not been reported for 55 min')
  assert.equal(overText({ ...GUESSED, isGuess: false }, 60 * MINUTE, 'over'), 'over')
})

test('a reported end is not moved', () => {
  const reported = { ...GUESSED, ...endingAt(5) }
  assert.equal(after(reported, 30 * MINUTE, { endsAt: 15 * MINUTE }).endedAt, 5 * MINUTE)
})

test('a reported end counts although another condition of the problem has none', () => {
  const names = ['Down', 'Pending']
  const periods = names.map((name) => ({ name, from: 0, to: null }))
  const both: Problem = { ...NO_PROBLEM, since: 0, had: names, firing: names, periods }
  const burning = [{ name: 'Pending', since: MINUTE, onset: MINUTE }]
  const down = { name: 'Down', endsAt: 18 * MINUTE, isGuess: false }
  const pending = { name: 'Pending', endsAt: 2 * MINUTE, isGuess: true }
  const endsAt = (ended: readonly Ended[], rest: readonly Ended[]) => {
    const on = observe(both, { now: 18 * MINUTE, burning, muted: [], ended })
    // The condition that ended is not known any more.
    const off = observe(on, { now: 60 * MINUTE, burning: [], muted: [], ended: rest })
    return [off.endedAt, off.isGuess]
  }
  assert.deepEqual(endsAt([down], [pending]), [18 * MINUTE, false])
  assert.deepEqual(endsAt([{ ...down, isGuess: true }], [pending]), [18 * MINUTE, true])
  assert.deepEqual(endsAt([down], [{ ...pending, endsAt: 30 * MINUTE }]), [30 * MINUTE, true])
})

test('another condition that was on at the end of the problem, and is known only later, leaves no gap', () => {
  const over: Problem = { ...GUESSED, ...endingAt(18) }
  const since = (name: string, onset: number, covered?: Burning['covered']) => {
    const burning = [{ name, since: onset, onset, ...(covered ? { covered } : {}) }]
    return observe(over, { now: 26 * MINUTE, burning, muted: [], ended: [] }).since
  }
  assert.equal(since('Old', 5 * MINUTE), 0)
  assert.equal(since('Old', 20 * MINUTE), 20 * MINUTE)
  assert.equal(since('Down', 18 * MINUTE), 0)
  // A silence has hidden what it covers.
  assert.equal(since('Old', 5 * MINUTE, { since: 5 * MINUTE, from: 5 * MINUTE, until: 26 * MINUTE }), 26 * MINUTE)
})

test('a condition that became milder while its reports arrived late was over at its last report, without gaps', () => {
  const burning = [{ name: 'Down', since: 0, onset: 9 * MINUTE }]
  const periods = [{ name: 'Down', from: 0, to: null }]
  const on: Problem = { ...NO_PROBLEM, since: 0, had: ['Down'], firing: ['Down'], periods }
  const look = (problem: Problem, minute: number, isOn: boolean, ended: readonly Ended[] = []) =>
    observe(problem, { now: minute * MINUTE, burning: isOn ? burning : [], muted: [], ended })
  const back = look(look(look(on, 30, false), 31, true), 33, false)
  assert.deepEqual([back.since, back.endedAt, criticalMsOf(back, 0)], [null, 33 * MINUTE, 33 * MINUTE])
  const end = [{ name: 'Down', endsAt: 9 * MINUTE, isGuess: true }]
  const last = look(look(back, 34, true), 50, false, end)
  assert.deepEqual([last.endedAt, criticalMsOf(last, 0), last.isGuess], [9 * MINUTE, 9 * MINUTE, true])
})

test('a problem that came back without a report was over at its last report', () => {
  const again = { name: 'Down', from: 7 * MINUTE, to: null }
  const back = { ...GUESSED, since: 7 * MINUTE, periods: [...endingAt(5).periods, again] }
  const end = { since: null, endedAt: 4 * MINUTE, knownAt: 12 * MINUTE, isGuess: true, criticalMs: 4 * MINUTE }
  assert.deepEqual(after(back, 12 * MINUTE, { endsAt: 4 * MINUTE, isGuess: true }), end)
})
