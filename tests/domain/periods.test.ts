/**
 * Once everything is known, the lengths of an incident are those of the truth: whenever the ends were delivered, and whatever
 * silences, changes of the severity and merges lay in between.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lengthsOf, regraded } from '../../src/domain/incident/lasted.ts'
import type { LiveIncident } from '../../src/domain/incident/live-incident.ts'
import { mergedProblem } from '../../src/domain/incident/merge.ts'
import { type Period, tracked } from '../../src/domain/incident/periods.ts'
import { type Burning, type Ended, NO_PROBLEM, observe } from '../../src/domain/incident/problem.ts'
import type { Severity } from '../../src/domain/severity.ts'
import { HOUR, MINUTE } from '../../src/domain/units.ts'
import { randomFrom } from '../helpers/arrival.ts'

/** A condition that fires. Times are minutes. `knownAt`, `endKnownAt`: when its start and end are delivered. */
type Fire = {
  readonly name: string
  readonly from: number
  readonly to: number
  readonly knownAt: number
  readonly endKnownAt: number
}
type Silence = { readonly name: string; readonly from: number; readonly to: number }
type Rating = { readonly at: number; readonly severity: Severity }
type Truth = {
  readonly fires: readonly Fire[]
  readonly silences: readonly Silence[]
  readonly ratings: readonly Rating[]
}

const END = 120

function randomTruth(random: () => number, names: readonly string[], first: number): Truth {
  const upTo = (most: number) => Math.floor(random() * (most + 1))
  const fires = names.flatMap((name, index) => {
    const found: Fire[] = []
    let at = index === 0 ? first : first + upTo(20)
    while (at < 60) {
      const to = at + 1 + upTo(12)
      const knownAt = found.length === 0 && index === 0 ? at : at + upTo(2)
      const endKnownAt = Math.max(knownAt + 1, to) + upTo(20)
      found.push({ name, from: at, to, knownAt, endKnownAt })
      // A sender reports an end before the next start.
      at = endKnownAt + upTo(15)
    }
    return found
  })
  const silences = names.flatMap((name) => {
    const from = upTo(60)
    return random() < 0.5 ? [] : [{ name, from, to: from + 1 + upTo(20) }]
  })
  const ratings = [upTo(40), 41 + upTo(30)].map(
    (at, index): Rating => ({ at, severity: index ? 'critical' : 'warning' }),
  )
  return { fires, silences, ratings: random() < 0.5 ? ratings : [] }
}

/** Returns what is known of the conditions at a minute. */
function seenAt({ fires, silences }: Truth, minute: number, named = (name: string) => name) {
  const now = minute * MINUTE
  const [burning, muted]: [Burning[], Burning[]] = [[], []]
  for (const { name, from, knownAt, endKnownAt } of fires) {
    if (knownAt > minute || endKnownAt <= minute) continue
    const at = from * MINUTE
    const one = { name: named(name), since: at, onset: at, begunAt: at }
    const silence = silences.find((some) => some.name === name && some.from <= minute)
    const window = silence && { since: at, from: Math.max(at, silence.from * MINUTE), until: silence.to * MINUTE }
    if (!silence || !window) burning.push(one)
    else if (minute < silence.to) muted.push({ ...one, covered: window })
    // The end of the silence is noticed once, unless the alert has begun since.
    else if (minute === silence.to && from < silence.to && knownAt < silence.to)
      burning.push({ ...one, since: now, onset: now, covered: window })
    else burning.push(one)
  }
  const ended = fires.flatMap(({ name, to, endKnownAt }): Ended[] =>
    endKnownAt <= minute ? [{ name: named(name), endsAt: to * MINUTE, isGuess: false }] : [],
  )
  return { now, burning, muted, ended }
}

/** Returns the lengths that follow from the truth, in minutes: critical, warning, and under a silence. */
function lengthsIn(truths: readonly Truth[], ratings: readonly Rating[]) {
  const sums = { critical: 0, warning: 0, silenced: 0 }
  for (let minute = 0; minute < END; minute++) {
    const on = truths.flatMap(({ fires, silences }) =>
      fires.flatMap(({ name, from, to, knownAt }) => {
        if (minute < from || minute >= to) return []
        const isSilenced = silences.some(
          (one) => one.name === name && one.from <= minute && minute < one.to && knownAt < one.to,
        )
        return [isSilenced]
      }),
    )
    if (on.length === 0) continue
    const rating = ratings.findLast(({ at }) => at <= minute)?.severity ?? 'critical'
    if (on.every((isSilenced) => isSilenced)) sums.silenced++
    else sums[rating === 'warning' ? 'warning' : 'critical']++
  }
  return sums
}

const incident = (rowId: number, more: Partial<LiveIncident> = {}) =>
  ({
    ...{
      rowId,
      serviceId: rowId,
      title: 'X',
      severity: 'critical',
      origin: 'automatic',
      cause: 'service',
      startedAt: 0,
    },
    ...{ problem: NO_PROBLEM, ...more },
  }) as LiveIncident

for (const isMerged of [false, true]) {
  test(`the lengths are those of the truth${isMerged ? ' after a merge' : ''}`, () => {
    for (let seed = 1; seed <= 400; seed++) {
      const random = randomFrom(seed)
      const own = randomTruth(random, ['a', 'b', 'c'], 0)
      const other = isMerged ? { ...randomTruth(random, ['d', 'e'], 5), ratings: [] } : null
      const mergedAt = 10 + Math.floor(random() * 60)
      const ratings: Rating[] = []
      let [into, from] = [incident(1), incident(2)]
      const nameIn = (name: string) => `${name} of x`
      for (let minute = 0; minute <= END; minute++) {
        const seen = seenAt(own, minute)
        const rating = isMerged ? undefined : own.ratings.find(({ at }) => at === minute)
        if (other && minute >= mergedAt) {
          if (minute === mergedAt) into = { ...into, ...mergedProblem(from, into, nameIn, minute * MINUTE) }
          const theirs = seenAt(other, minute, nameIn)
          seen.burning.push(...theirs.burning)
          seen.muted.push(...theirs.muted)
          seen.ended.push(...theirs.ended)
        } else if (other) from = { ...from, problem: observe(from.problem, seenAt(other, minute)) }
        into = { ...into, problem: observe({ ...into.problem, had: ['a', 'b', 'c'] }, seen) }
        if (rating && into.problem.since !== null) {
          into = {
            ...into,
            severity: rating.severity,
            problem: regraded(into, { ...into, ...rating }, minute * MINUTE),
          }
          ratings.push(rating)
        }
      }
      const { onMs, silencedMs, msOf } = lengthsOf(into, END * MINUTE)
      const expected = lengthsIn(other ? [own, other] : [own], ratings)
      const found = { critical: msOf('critical'), warning: msOf('warning'), silenced: silencedMs }
      const minutes = Object.fromEntries(Object.entries(found).map(([name, ms]) => [name, ms / MINUTE]))
      assert.deepEqual(minutes, expected, `seed ${seed}`)
      assert.equal(onMs, found.critical + found.warning)
    }
  })
}

test('a problem that comes back again and again keeps its length in a limited number of periods', () => {
  let times: { periods: readonly Period[]; silenced: readonly Period[] } = NO_PROBLEM
  for (let hour = 0; hour < 1_000; hour++) {
    const at = hour * HOUR
    const on = { name: 'Down', since: at, onset: at, begunAt: at }
    const muted = hour % 2 === 0 ? [] : [{ ...on, covered: { since: at, from: at, until: at } }]
    times = tracked(times, { now: at, burning: hour % 2 === 0 ? [on] : [], muted, ended: [] })
    const end = { name: 'Down', endsAt: at + 10 * MINUTE, isGuess: false }
    times = tracked(times, { now: at + 20 * MINUTE, burning: [], muted: [], ended: [end] })
  }
  const problem = { ...NO_PROBLEM, ...times }
  const { onMs, silencedMs } = lengthsOf(incident(1, { problem }), 0)
  assert.deepEqual(
    [onMs, silencedMs].map((ms) => ms / MINUTE),
    [5_000, 5_000],
  )
  assert.ok(times.periods.length + times.silenced.length <= 200)
})
