/** The observations of a Kubernetes condition. Duplicates and the order of arrival do not affect the result. */

import { isNotification, type Source } from '../event/event.ts'
import { isRepeated } from '../event/reason.ts'
import { type Severity, worst } from '../severity.ts'
import { MINUTE } from '../units.ts'

/** The observations used to detect repeats and the end of a Kubernetes condition. */
export type Evidence = {
  /** When the condition was observed, and on which object. */
  readonly seen: readonly Observation[]
  /** When each object recovered. For an alert of Alertmanager or Grafana: the reported ends before it fired again. */
  readonly recovered: readonly Mark[]
  /** When each object was deleted. A name that ends in `*` stands for all objects with that prefix. */
  readonly gone: readonly Mark[]
  /** When the service got new pod templates. The object is the hash of the ReplicaSet. */
  readonly rollouts: readonly Mark[]
  /** When an autoscaler added a node for a pending pod, or a drained node let it wait. Such pods get more time to start. */
  readonly helped: readonly Mark[]
  /** The other pods of the workload that ran when the readiness probe of the newest pod in `seen` began to fail. */
  readonly peers?: readonly Mark[]
}
export type Mark = readonly [at: number, object: string]
/**
 * `since`: when the event first happened. `count`: how often the sender observed the event between `since` and `at`.
 */
export type Observation = readonly [at: number, object: string, since: number, count: number]

export const NO_EVIDENCE: Evidence = { seen: [], recovered: [], gone: [], rollouts: [], helped: [] }

const TEN_MINUTES = 10 * MINUTE
const MARKS_KEPT = 32
const OBJECTS_KEPT = 256

/** Adds a mark. Returns the same object if the mark already exists. */
export function withEvidence(evidence: Evidence, of: Exclude<keyof Evidence, 'seen' | 'peers'>, mark: Mark): Evidence {
  const marks = evidence[of]
  if (marks.some((one) => isSame(one, mark))) return evidence
  return { ...evidence, [of]: kept([...marks, mark]) }
}

/** Adds the reported end of an alert that fires again. Its start alone does not tell: a report can move it back. */
export function withReportedEnd({ source, evidence, resolution, endsAt }: Ended): Evidence {
  if (!isNotification({ source }) || resolution !== 'reported' || endsAt === null) return evidence
  return withEvidence(evidence, 'recovered', [endsAt, ''])
}
type Ended = {
  readonly source: Source
  readonly evidence: Evidence
  readonly resolution: string | null
  readonly endsAt: number | null
}

/** Adds an observation. Observations with the same time and object are combined. */
export function withObservation(evidence: Evidence, sighting: Observation): Evidence {
  const known = evidence.seen.find((one) => isSame(one, sighting))
  if (!known) return { ...evidence, seen: kept([...evidence.seen, sighting]) }
  const [at, object, since, count] = known
  const merged: Observation = [at, object, Math.min(since, sighting[2]), Math.max(count, sighting[3])]
  if (merged[2] === since && merged[3] === count) return evidence
  return { ...evidence, seen: evidence.seen.map((one) => (one === known ? merged : one)) }
}

/**
 * Returns how many occurrences an event adds. A sender can combine those of one object: a later count includes an earlier
 * one, even if that arrives later. A copy of an event counts.
 */
export function newOccurrences({ seen }: Evidence, { at, startsAt, sighting }: Occurrence): number {
  if (sighting === null) return 1
  const known = seen.filter(([, object]) => object === sighting.object)
  if (known.some(([later, , since, of]) => later > at && since === startsAt && of > sighting.count)) return 0
  return Math.max(1, sighting.count - Math.max(0, ...known.map(([, , , count]) => count)))
}

type Occurrence = {
  readonly at: number
  readonly startsAt: number
  readonly sighting: { readonly object: string; readonly count: number } | null
}

/** Returns whether a mark is about an object. The mark's name can end in `*`, which stands for any end of the name. */
export function isAbout([, name]: Mark, object: string): boolean {
  return name.endsWith('*') ? `${object}-`.startsWith(name.slice(0, -1)) : name === object
}

function isSame(a: readonly [number, string, ...unknown[]], b: readonly [number, string, ...unknown[]]): boolean {
  return a[0] === b[0] && a[1] === b[1]
}

/**
 * Sorts the marks by time. If there are too many marks, drops the oldest ones but keeps the newest mark of each object.
 */
function kept<One extends readonly [number, string, ...unknown[]]>(marks: readonly One[]): readonly One[] {
  const all = [...marks].sort(([a, x], [b, y]) => a - b || (x < y ? -1 : 1))
  if (all.length <= MARKS_KEPT) return all
  const newest = new Map(all.map(([at, object]) => [object, at]))
  const chosen = all.filter(([at, object], index) => index >= all.length - MARKS_KEPT || newest.get(object) === at)
  return chosen.slice(-OBJECTS_KEPT)
}

/**
 * Returns the arguments for `isRepeated`: how many times a condition was observed, on how many objects, and how often
 * within 10 minutes. A count says so too, unless all attempts were made within a minute, as at the start of a pod. If the
 * repeats of an event are far apart, its count covers several separate problems and is ignored.
 */
export function repetitionOf({ seen }: Evidence): { count: number; pods: number; inTenMinutes: number } {
  const counts = seen.map(([at, , since, count]) => (at - since > TEN_MINUTES * count ? 1 : count))
  const near = seen.map(([from]) => seen.filter(([at]) => at >= from && at - from <= TEN_MINUTES))
  const most = (numbers: readonly number[]) => Math.max(0, ...numbers)
  const pods = new Set(seen.map(([, object]) => object)).size
  const counted = seen.map(([at, , since, count]) => (at - since >= MINUTE && at - since <= TEN_MINUTES ? count : 1))
  return { count: most(counts), pods, inTenMinutes: most([...near.map(({ length }) => length), ...counted]) }
}

/**
 * Returns the severity of an event's condition after a signal. While the condition persists, the severity never drops.
 * If the reason escalates, repeats raise the severity to critical.
 */
export function severityAfter(
  signal: { readonly severity: Severity; readonly sighting: { readonly escalates: boolean } | null },
  before: Severity,
  evidence: Evidence,
): Severity {
  const severity = worst(before, signal.severity)
  if (severity === 'critical' || !signal.sighting?.escalates) return severity
  return isRepeated(repetitionOf(evidence)) ? 'critical' : severity
}
