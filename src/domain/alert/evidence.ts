/** Evidence: what events have shown of a cluster condition, kept so that neither copies nor their order matter. */

/** Of a cluster condition: what decides its repetition and its end, as [when, object] pairs, each different one once. */
export type Evidence = {
  readonly seen: readonly Mark[]
  readonly recovered: readonly Mark[]
  /** New pod templates of its service: the object is the ReplicaSet's hash. */
  readonly rollouts: readonly Mark[]
  /** Help that is on its way, such as a node that the autoscaler adds: the trouble may take its time. */
  readonly helped: readonly Mark[]
}
export type Mark = readonly [at: number, object: string]

export const NO_EVIDENCE: Evidence = { seen: [], recovered: [], rollouts: [], helped: [] }

const TEN_MINUTES = 10 * 60_000
const MARKS_KEPT = 32
const OBJECTS_KEPT = 256

/** The evidence with one more mark; the same object where it holds it already. */
export function withEvidence(evidence: Evidence, of: keyof Evidence, mark: Mark): Evidence {
  const marks = withMark(evidence[of], mark)
  return marks === evidence[of] ? evidence : { ...evidence, [of]: marks }
}

/**
 * Marks in order of time, each different one once: so that neither copies nor their order matter. Of many, the newest
 * are kept, and the newest of each object, which alone tells whether that object has recovered.
 */
function withMark(marks: readonly Mark[], mark: Mark): readonly Mark[] {
  if (marks.some(([at, object]) => at === mark[0] && object === mark[1])) return marks
  const all = [...marks, mark].sort(([a, x], [b, y]) => a - b || (x < y ? -1 : 1))
  if (all.length <= MARKS_KEPT) return all
  const newest = new Map(all.map(([at, object]) => [object, at]))
  const kept = all.filter(([at, object], index) => index >= all.length - MARKS_KEPT || newest.get(object) === at)
  return kept.slice(-OBJECTS_KEPT)
}

/** How often, on how many objects and how densely a condition was seen: `isRepeated` judges it. */
export function repetitionOf({ seen }: Evidence, count: number): { count: number; pods: number; inTenMinutes: number } {
  const times = seen.map(([at]) => at).sort((a, b) => a - b)
  const inTenMinutes = times.map((from, index) => times.slice(index).filter((at) => at - from <= TEN_MINUTES).length)
  return { count, pods: new Set(seen.map(([, object]) => object)).size, inTenMinutes: Math.max(0, ...inTenMinutes) }
}
