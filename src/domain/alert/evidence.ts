/** Evidence: what events have shown about a cluster condition, independent of copies and of their order. */

/** Of a cluster condition: what decides its repetition and its end. */
export type Evidence = {
  /** When it was seen, and on which object. */
  readonly seen: readonly Sighting[]
  /** When an object recovered. */
  readonly recovered: readonly Mark[]
  /** When an object was deleted. A name that ends in `*` stands for all objects whose name begins so. */
  readonly gone: readonly Mark[]
  /** New pod templates of its service. The object is the hash of the ReplicaSet. */
  readonly rollouts: readonly Mark[]
  /** Help that is under way, such as a node that the autoscaler adds: the condition may last a while longer. */
  readonly helped: readonly Mark[]
}
export type Mark = readonly [at: number, object: string]
/** `since`: the event's first time. `count`: how often the sender saw it from `since` to `at`. */
export type Sighting = readonly [at: number, object: string, since: number, count: number]

export const NO_EVIDENCE: Evidence = { seen: [], recovered: [], gone: [], rollouts: [], helped: [] }

const TEN_MINUTES = 10 * 60_000
const MARKS_KEPT = 32
const OBJECTS_KEPT = 256

/** The evidence with one more mark; the same object if it is there already. */
export function withEvidence(evidence: Evidence, of: Exclude<keyof Evidence, 'seen'>, mark: Mark): Evidence {
  const marks = evidence[of]
  if (marks.some((one) => isSame(one, mark))) return evidence
  return { ...evidence, [of]: kept([...marks, mark]) }
}

/** The evidence with one more sighting. Two of the same time and object are one, with the earlier start and the higher count. */
export function withSeen(evidence: Evidence, sighting: Sighting): Evidence {
  const known = evidence.seen.find((one) => isSame(one, sighting))
  if (!known) return { ...evidence, seen: kept([...evidence.seen, sighting]) }
  const [at, object, since, count] = known
  const merged: Sighting = [at, object, Math.min(since, sighting[2]), Math.max(count, sighting[3])]
  if (merged[2] === since && merged[3] === count) return evidence
  return { ...evidence, seen: evidence.seen.map((one) => (one === known ? merged : one)) }
}

function isSame(a: readonly [number, string, ...unknown[]], b: readonly [number, string, ...unknown[]]): boolean {
  return a[0] === b[0] && a[1] === b[1]
}

/** In order of time. If there are many, the newest are kept, and the newest of each object, which tells whether it recovered. */
function kept<One extends readonly [number, string, ...unknown[]]>(marks: readonly One[]): readonly One[] {
  const all = [...marks].sort(([a, x], [b, y]) => a - b || (x < y ? -1 : 1))
  if (all.length <= MARKS_KEPT) return all
  const newest = new Map(all.map(([at, object]) => [object, at]))
  const chosen = all.filter(([at, object], index) => index >= all.length - MARKS_KEPT || newest.get(object) === at)
  return chosen.slice(-OBJECTS_KEPT)
}

/**
 * How often, on how many objects and how densely a condition was seen: `isRepeated` judges it. A count
 * over a longer time than its repeats are apart is several conditions.
 */
export function repetitionOf({ seen }: Evidence): { count: number; pods: number; inTenMinutes: number } {
  const counts = seen.map(([at, , since, count]) => (at - since > TEN_MINUTES * count ? 1 : count))
  const near = seen.map(([from]) => seen.filter(([at]) => at >= from && at - from <= TEN_MINUTES))
  const most = (numbers: readonly number[]) => Math.max(0, ...numbers)
  const pods = new Set(seen.map(([, object]) => object)).size
  return { count: most(counts), pods, inTenMinutes: most(near.map(({ length }) => length)) }
}
