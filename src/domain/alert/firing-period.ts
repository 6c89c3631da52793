/** Derives from the evidence when each object had a condition. */
import { isState, quietPeriodOf } from '../event/lasting.ts'
import { SECOND } from '../units.ts'
import { type Evidence, isAbout, type Mark, type Observation } from './evidence.ts'

/**
 * A pod can report problems for this long while it shuts down. Probes continue until its containers have stopped, by
 * default within 30 seconds (`terminationGracePeriodSeconds`).
 */
const SHUTDOWN = 60 * SECOND
/**
 * Events this close together belong to one attempt: the kubelet's first back-off and the default probe period are 10
 * seconds.
 */
const ATTEMPT = 10 * SECOND

/** The number of periods of an object that are compared with those of others. */
const KEPT = 32

/** The most recent period in which an object had a condition. Times are Unix times in milliseconds. */
export type FiringPeriod = {
  readonly object: string
  /** The first observation in the period. */
  readonly since: number
  readonly lastAt: number
  /** The number of observations in the period, at least 1. */
  readonly count: number
  /** When the object recovered or was deleted; null if neither was reported. */
  readonly recoveredAt: number | null
  /** When the period ends unless the condition is repeated. */
  readonly quietAt: number
}

/**
 * The name of the condition, and whether the sender reports repeats. `watchedUntil`: if the cluster is watched, the time
 * until which the watch can be trusted. Until then, only the state of an object ends a condition.
 */
type PeriodRules = {
  readonly name: string
  readonly repeats: boolean
  readonly watchedUntil?: number | null | undefined
}

/** Returns the most recent period of each object, sorted by start. */
export function firingPeriodsOf(evidence: Evidence, rules: PeriodRules): FiringPeriod[] {
  return periodsOf(evidence, rules, 1)
}

/** Returns the last periods of each object, at most `most` of them, sorted by start. */
function periodsOf(evidence: Evidence, rules: PeriodRules, most: number): FiringPeriod[] {
  const byObject = Map.groupBy(evidence.seen, ([, object]) => object)
  const hasEnds = evidence.recovered.length + evidence.gone.length > 0
  const periods: FiringPeriod[] = []
  for (const [object, seen] of byObject) {
    const [only, second] = seen
    // Most objects are observed once, and a condition can have hundreds of objects.
    if (only && !second && !hasEnds) periods.push(onlyPeriod(only, rules))
    else periods.push(...periodsOfObject(object, seen, endsOf(evidence, object), rules).slice(-most))
  }
  return periods.sort((a, b) => a.since - b.since || (a.object < b.object ? -1 : 1))
}

/** Returns the period of an object that was observed once and did not recover. */
function onlyPeriod([lastAt, object, first, counted]: Observation, rules: PeriodRules): FiringPeriod {
  const isDense = isDenseSeries(lastAt, first, counted, rules)
  const [since, count] = isDense ? [first, counted] : [lastAt, 1]
  const attempts = attemptsOf({ since, lastAt, count, least: since === lastAt ? count : 1 })
  return {
    object,
    since,
    lastAt,
    count: attempts,
    recoveredAt: null,
    quietAt: quietAtOf(since, lastAt, attempts, rules),
  }
}

/** Returns whether the repeats of an event are close enough to belong to one period. */
function isDenseSeries(at: number, since: number, count: number, rules: PeriodRules): boolean {
  return (at - since) / Math.max(1, count - 1) <= quietOf(rules, count, at - since)
}

/** Returns how far apart two observations of a condition that went on can be. */
function quietOf(rules: PeriodRules, count: number, lasted: number): number {
  return isHeld(rules) ? Number.MAX_SAFE_INTEGER : quietPeriodOf(rules.name, count, rules.repeats, lasted)
}

function quietAtOf(since: number, lastAt: number, count: number, rules: PeriodRules): number {
  const quietAt = lastAt + quietPeriodOf(rules.name, count, rules.repeats, lastAt - since)
  return isHeld(rules) ? Math.max(quietAt, rules.watchedUntil ?? 0) : quietAt
}

/** Returns whether only the state of an object ends the condition. */
function isHeld({ name, watchedUntil }: PeriodRules): boolean {
  return watchedUntil !== undefined && watchedUntil !== null && isState(name)
}

/**
 * Returns the periods that are ongoing at `now`. Periods with at least `lastsFrom` observations do not end for lack of
 * repeats; null if every period does.
 */
export function ongoing(
  periods: readonly FiringPeriod[],
  now: number,
  lastsFrom: number | null = null,
): FiringPeriod[] {
  const lasts = ({ count }: FiringPeriod) => lastsFrom !== null && count >= lastsFrom
  return periods.filter((one) => one.recoveredAt === null && (one.quietAt > now || lasts(one)))
}

/** Returns when a condition began that has not been over for all its objects since; 0 if nothing was observed. */
export function lastBegunAt(evidence: Evidence, rules: PeriodRules): number {
  const endOf = ({ recoveredAt, quietAt }: FiringPeriod) => recoveredAt ?? quietAt
  const latestEndFirst = periodsOf(evidence, rules, KEPT).sort((a, b) => endOf(b) - endOf(a))
  let begunAt = latestEndFirst[0]?.since ?? 0
  for (const one of latestEndFirst) if (endOf(one) >= begunAt) begunAt = Math.min(begunAt, one.since)
  return begunAt
}

/** When an object recovered and when it was deleted, both sorted by time. */
type Ends = { readonly recovered: readonly number[]; readonly gone: readonly number[] }

function endsOf({ recovered, gone }: Evidence, object: string): Ends {
  const own = (marks: readonly Mark[]) => marks.filter((mark) => isAbout(mark, object)).map(([at]) => at)
  return { recovered: own(recovered), gone: own(gone) }
}

type Building = {
  readonly since: number
  readonly lastAt: number
  readonly count: number
  readonly attempts: number
  /** The number of repeats that were reported with the first time: only their count is known. */
  readonly least: number
  /**
   * For each series of repeats, the number of repeats that belong to earlier periods. The key is the time of the first
   * repeat in the series.
   */
  readonly earlier: ReadonlyMap<number, number>
}

function periodsOfObject(object: string, seen: readonly Observation[], ends: Ends, rules: PeriodRules): FiringPeriod[] {
  const periods: Building[] = []
  const counted = new Map<number, number>()
  for (const sighting of seen) {
    const period = periods.at(-1)
    if (period && continues(period, sighting, ends, rules, counted))
      periods[periods.length - 1] = extended(period, sighting)
    else periods.push(begun(sighting, counted, rules))
    counted.set(sighting[2], Math.max(counted.get(sighting[2]) ?? 0, sighting[3]))
  }
  return periods.map((period) => finished(object, period, ends, rules))
}

function finished(object: string, period: Building, ends: Ends, rules: PeriodRules): FiringPeriod {
  const { since, lastAt } = period
  const count = attemptsOf(period)
  const recovered = ends.recovered.filter((at) => at >= lastAt)
  const gone = ends.gone.filter((at) => at >= since && at + SHUTDOWN >= lastAt)
  // What a pod reports while it shuts down still goes on.
  const first = Math.max(lastAt, Math.min(...recovered, ...gone))
  const quietAt = quietAtOf(since, lastAt, count, rules)
  return { object, since, lastAt, count, recoveredAt: first === Number.POSITIVE_INFINITY ? null : first, quietAt }
}

/** Returns the number of attempts. Events from several containers within a short time count as one attempt. */
function attemptsOf({ since, lastAt, count, least }: Pick<Building, 'since' | 'lastAt' | 'count' | 'least'>): number {
  return Math.max(least, Math.min(count, 1 + Math.floor((lastAt - since) / ATTEMPT)))
}

/** Returns whether the condition was continuous between two observations. */
function continues(
  period: Building,
  [at, , since, count]: Observation,
  ends: Ends,
  rules: PeriodRules,
  counted: ReadonlyMap<number, number>,
): boolean {
  if (ends.recovered.some((end) => end >= period.lastAt && end < at)) return false
  if (ends.gone.some((end) => end >= period.since && end + SHUTDOWN < at)) return false
  // If the series was counted before, all its new repeats happened after the last observation.
  const from = counted.has(since) ? period.lastAt : since
  const repeats = counted.has(since) ? count - (counted.get(since) ?? 0) : count - 1
  const gap = (at - from) / Math.max(1, repeats)
  const quiet = quietOf(rules, attemptsOf(period), period.lastAt - period.since)
  const isDense = gap <= quiet
  const begins = isDense && !counted.has(since) ? since : isDense ? period.lastAt : at
  return begins <= period.lastAt + quiet
}

function extended(period: Building, [at, , since, count]: Observation): Building {
  const attempts = at - period.lastAt >= ATTEMPT ? period.attempts + 1 : period.attempts
  const own = count - (period.earlier.get(since) ?? 0)
  const total = Math.max(period.count, own, attempts)
  return { ...period, lastAt: at, attempts, count: total, least: at === period.since ? total : period.least }
}

/**
 * Starts a period with this observation. As long as Kubernetes keeps an event, each repeat increases the event's count,
 * even after a gap of days. If the repeats are too far apart or were counted in an earlier period, the new period
 * starts with the last repeat.
 */
function begun([at, , since, count]: Observation, counted: ReadonlyMap<number, number>, rules: PeriodRules): Building {
  const isDense = !counted.has(since) && isDenseSeries(at, since, count, rules)
  const own = isDense ? count : 1
  const earlier = new Map(counted).set(since, count - own)
  const first = isDense ? since : at
  return { since: first, lastAt: at, count: own, attempts: 1, least: first === at ? own : 1, earlier }
}
