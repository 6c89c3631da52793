/**
 * When the conditions of an incident were critical, and when silences covered them. All lengths that people see follow from
 * these periods, in whatever order the reports arrive.
 */
import type { Severity } from '../severity.ts'
import type { Burning, Ended, Observation } from './problem.ts'

/** Times are Unix times in milliseconds. */
export type Period = {
  /** The name of a condition, `DECLARED` or `EARLIER`. */
  readonly name: string
  readonly from: number
  /** Null while it goes on. */
  readonly to: number | null
  /** Whether nobody reported the end, so that a repeat or a later end can correct it. */
  readonly isGuess?: boolean
  /** The severity of what was declared in a merged incident, if it is not that of the whole incident. */
  readonly severity?: Severity | undefined
}

export type Interval = Pick<Period, 'from' | 'to'>

/** `silenced`: when silences covered a condition, even beyond its periods. */
export type Times = { readonly periods: readonly Period[]; readonly silenced: readonly Period[] }

/** What an incident is about that a person declared, or that a silent sender caused. */
export const DECLARED = ''
/** The periods of so long ago that nobody asks for their conditions. */
const EARLIER = '…'
/** So many periods are kept. An incident of a service that flaps for days would grow without end. */
const MAX_PERIODS = 200

/** Returns the periods after an observation. */
export function tracked(before: Times, { now, burning, muted, ended }: Observation): Times {
  const [known, covers] = [before.periods, before.silenced].map((all) => Map.groupBy(all, ({ name }) => name))
  const [free, hidden] = [burning, muted].map((all) => Map.groupBy(all, ({ name }) => name))
  const ends = Map.groupBy(ended, ({ name }) => name)
  // What began before the problem belongs to another incident.
  const start = Math.min(...before.periods.map(({ from }) => from))
  const names = [...new Set([...(known?.keys() ?? []), ...(free?.keys() ?? []), ...(hidden?.keys() ?? [])])]
  // A condition without an end, such as a warning that agreed with an event, was critical until the end of the others.
  const others = ended.filter(({ name }) => known?.has(name) && !free?.has(name) && !hidden?.has(name))
  const both = names.map((name): Times => {
    const [own, silenced] = [known?.get(name) ?? [], covers?.get(name) ?? []]
    if (name === DECLARED) return { periods: own, silenced }
    const fires = [...(free?.get(name) ?? []), ...(hidden?.get(name) ?? [])]
    const over = () => ends.get(name) ?? others.filter((one) => one.isGuess || one.endsAt >= (own.at(-1)?.from ?? 0))
    const periods = fires.length > 0 ? goingOn(own, fires, over, { start, now }) : ending(own, over(), now)
    const isNew = periods.length > own.length
    const [one] = free?.get(name) ?? hidden?.get(name) ?? []
    return { periods, silenced: covered(silenced, periods, { one, isNew, isMuted: !free?.has(name), now }) }
  })
  return shortened({ periods: both.flatMap(({ periods }) => periods), silenced: both.flatMap((one) => one.silenced) })
}

/** Returns the periods of a condition that goes on. A start after a reported end is a new period. */
function goingOn(
  own: readonly Period[],
  fires: readonly Burning[],
  endsOf: () => readonly Ended[],
  { start, now }: { readonly start: number; readonly now: number },
) {
  const known = Math.min(now, ...fires.map((one) => one.covered?.since ?? Math.max(one.since, one.begunAt ?? 0)))
  const isFreed = fires.some((one) => one.covered !== undefined)
  // What a silence covered has fired all the time, even before something else opened the incident.
  const begun = start > now || isFreed ? known : Math.max(start, known)
  const onset = Math.min(now, ...fires.map((one) => one.onset))
  const [{ name, severity } = { name: EARLIER }] = fires
  const anew = (from: number): Period => ({ name, from, to: null, ...(severity ? { severity } : {}) })
  const last = own.at(-1)
  if (!last) return [anew(begun)]
  const before = own.slice(0, -1)
  if (last.to === null) {
    const isBetween = ({ endsAt, isGuess }: Ended) => !isGuess && endsAt >= last.from && endsAt < begun
    const end = begun > last.from ? lastOf(endsOf().filter(isBetween)) : null
    if (end) return [...before, { ...last, to: end.endsAt }, anew(begun)]
    const isEarlier = begun < last.from && begun > (before.at(-1)?.to ?? Number.NEGATIVE_INFINITY)
    return isEarlier ? [...before, { ...last, from: begun }] : own
  }
  if (begun > last.to) return [...own, anew(begun)]
  // It fires since before its end, or another sender goes on repeating what one has reported as ended.
  if (!isFreed && onset <= last.to) return [...before, { ...last, to: null, isGuess: false }]
  return [...own, anew(isFreed ? last.to : onset)]
}

/** Returns a problem whose first condition began before all that was known. */
export function begunEarlier<One extends Times & { readonly since: number | null }>(
  problem: One,
  { name, since, begunAt }: { readonly name: string; readonly since: number; readonly begunAt: number },
): One {
  const first = problem.periods.find((one) => one.name === name)
  const from = Math.min(first?.from ?? since, Math.max(since, begunAt))
  const periods = problem.periods.map((one) => (one === first ? { ...one, from } : one))
  return {
    ...problem,
    periods,
    since: problem.since && (criticalOf({ ...problem, periods }).at(-1)?.from ?? problem.since),
  }
}

/** Returns the periods of a condition that is over: it ended when its end says, however late that is known. */
function ending(own: readonly Period[], ends: readonly Ended[], now: number): readonly Period[] {
  const [last, previous] = [own.at(-1), own.at(-2)]
  if (!last) return own
  const end = lastOf(ends)
  const before = own.slice(0, -1)
  if (last.to !== null) {
    const isLate = last.isGuess && end && !end.isGuess && end.endsAt > last.to && end.endsAt <= now
    return isLate ? [...before, { ...last, to: end.endsAt, isGuess: false }] : own
  }
  if (previous?.to && end?.isGuess && end.endsAt < last.from) {
    // It came back without a report, so that it was over at its last one.
    const to = Math.min(previous.to, Math.max(previous.from, end.endsAt))
    return [...own.slice(0, -2), { ...previous, to, isGuess: true }]
  }
  const to = Math.max(last.from, Math.min(now, end?.endsAt ?? now))
  return [...before, { ...last, to, isGuess: end?.isGuess ?? false }]
}

type Cover = {
  readonly one: Burning | undefined
  readonly isNew: boolean
  readonly isMuted: boolean
  readonly now: number
}

/** Returns when silences covered a condition. `one`: a silenced or, if none of its alerts is silenced, a firing alert. */
function covered(silenced: readonly Period[], periods: readonly Period[], { one, isNew, isMuted, now }: Cover) {
  const [last, period] = [silenced.at(-1), periods.at(-1)]
  const isOpen = last?.to === null
  if (one && period && (isMuted ? !isOpen : !isOpen && one.covered)) {
    const from = Math.max(one.covered?.from ?? (isNew ? period.from : now), period.from, last?.to ?? 0)
    const to = isMuted ? null : Math.max(from, Math.min(now, one.covered?.until ?? now))
    return from === to ? silenced : [...silenced, { name: one.name, from: Math.min(from, now), to }]
  }
  if (!last || !isOpen || (one && isMuted)) return silenced
  return [...silenced.slice(0, -1), { ...last, to: Math.max(last.from, Math.min(now, one?.covered?.until ?? now)) }]
}

/** Returns the last end, or else the last report of what still fires; null if none is known. */
function lastOf(ended: readonly Ended[]): Ended | null {
  const { true: open = [], false: over = [] } = Object.groupBy(ended, ({ isOpen = false }) => `${isOpen}`)
  return (over.length > 0 ? over : open).reduce<Ended | null>(
    (found, one) => (found && found.endsAt >= one.endsAt ? found : one),
    null,
  )
}

/** Joins the oldest of too many periods to one that is as long. */
function shortened(times: Times): Times {
  const { periods, silenced } = times
  if (periods.length + silenced.length <= MAX_PERIODS) return times
  const until = periods.flatMap(({ to }) => to ?? []).sort((a, b) => a - b)[MAX_PERIODS / 4] ?? 0
  const isOld = ({ to }: Period) => to !== null && to <= until
  const [old, kept] = [periods.filter(isOld), periods.filter((one) => !isOld(one))]
  if (old.length < 2) return times
  const isNeeded = (cover: Period) =>
    cover.to === null || kept.some(({ name, from }) => name === cover.name && from < (cover.to ?? 0))
  const from = until - sumOf(union(old))
  const to = until - sumOf(criticalOf({ periods: old, silenced }))
  return {
    periods: [{ name: EARLIER, from, to: until }, ...kept],
    silenced: [{ name: EARLIER, from, to }, ...silenced.filter(isNeeded)],
  }
}

/** Returns the periods of two incidents, one of which was merged into the other. */
export function joined(a: Times, b: Times): Times {
  const both = (key: keyof Times) =>
    [...Map.groupBy([...a[key], ...b[key]], ({ name }) => name).values()].flatMap((all) =>
      union(all).map((one) => ({ ...(all.find(({ to }) => to === one.to) ?? all[0]), ...one }) as Period),
    )
  return { periods: both('periods'), silenced: both('silenced') }
}

const sumOf = (intervals: readonly Interval[]) => intervals.reduce((ms, one) => ms + lengthOf(one), 0)
const lengthOf = ({ from, to }: Interval) => (to ?? from) - from

/** Returns when anything was critical that no silence covered, in order and without overlaps. */
export function criticalOf({ periods, silenced }: Times): readonly Interval[] {
  if (silenced.length === 0) return union(periods)
  const covers = Map.groupBy(silenced, ({ name }) => name)
  return union(periods.flatMap((one) => (covers.get(one.name) ?? []).reduce<Interval[]>(without, [one])))
}

function without(parts: readonly Interval[], { from, to }: Interval): Interval[] {
  return parts.flatMap((one) => {
    const head = { from: one.from, to: Math.min(one.to ?? from, from) }
    const tail = to === null ? [] : [{ from: Math.max(one.from, to), to: one.to }]
    return [head, ...tail].filter((part) => part.to === null || part.to > part.from)
  })
}

/** Returns intervals in order and without overlaps. */
export function union(intervals: readonly Interval[]): readonly Interval[] {
  const found: Interval[] = []
  for (const { from, to } of [...intervals].sort((a, b) => a.from - b.from)) {
    const last = found.at(-1)
    if (!last || (last.to !== null && last.to < from)) found.push({ from, to })
    else if (last.to !== null)
      found[found.length - 1] = { from: last.from, to: to === null ? null : Math.max(last.to, to) }
  }
  return found
}
