/** Suspects: the probable causes of an incident across all of the organization's services, with reasons. Start here. */
import type { Alert, Resolution } from '../alert/alert.ts'
import type { DraftJudgement } from '../alert/judgement.ts'
import { type Change, outcomeOf } from '../correlation/change.ts'
import type { Labels, StoredEvent } from '../event/event.ts'
import type { LiveService } from '../health/live-service.ts'
import { reaches, shareEnvironment } from '../service/environment.ts'
import { isNodeService } from '../service/node.ts'
import type { Severity } from '../severity.ts'
import { isDuring, joinRollouts } from './chain.ts'
import { changeSuspects, isFirstOom } from './change.ts'
import { type Components, componentsOf, withoutForeignNodes } from './component.ts'
import type { Connection } from './connection.ts'
import { explain } from './explanation.ts'
import { isChange, LIKELY, POSSIBLE } from './likely-cause.ts'
import { inClusters, objectSuspects, rounded } from './object.ts'
import { searchedSpan } from './searched.ts'
import { type Factor, type Symptom, symptomsOf } from './symptom.ts'

/** The facts about an incident. Times in ms UTC, ids are UUIDs, lists are unordered. */
export type SuspectFacts = {
  /** `startedAt`: the first evidence. `endedAt`: null while the incident is ongoing. Later facts are ignored. */
  readonly incident: {
    readonly service: string
    readonly startedAt: number
    readonly endedAt: number | null
    /** Whether the problem ended at `endedAt`. Otherwise a user resolved the incident then. */
    readonly endedItself?: boolean
  }
  /** All services that occur in the facts or that a label could refer to. */
  readonly services: readonly SuspectService[]
  readonly changes: readonly Change[]
  readonly alerts: readonly SuspectAlert[]
  /** Cluster events with severity warning or higher, ReplicaSet scalings, and starts of components of nodes. */
  readonly events: readonly SuspectEvent[]
  /** One entry for each service that pulled an image of the incident's service. `path`: the image without its tag. */
  readonly images: readonly { readonly service: string; readonly path: string }[]
  /** The nodes to which the service's pods were assigned, in order of time. */
  readonly assigned: readonly { readonly pod: string; readonly node: string; readonly at: number }[]
}

export type SuspectService = Pick<LiveService, 'id' | 'cluster' | 'namespace' | 'name'>

export type SuspectAlert = Pick<
  Alert,
  'source' | 'name' | 'summary' | 'node' | 'startsAt' | 'endsAt' | 'lastSeenAt'
> & {
  readonly id: string
  readonly labels: Labels
  /** All that it says to people; see `wordsOf`. */
  readonly words: string
  readonly service: string
  readonly severity: Severity
  readonly resolution: Resolution | null
  readonly inIncident: boolean
}

export type SuspectEvent = Pick<StoredEvent, 'id' | 'name' | 'object' | 'text' | 'count' | 'firstSeenAt' | 'at'> & {
  readonly service: string | null
  readonly alertId: string | null
  readonly kind: DraftJudgement['event']['kind']
}

export type Suspect = {
  readonly kind: 'pipeline' | 'rollout' | 'node' | 'object'
  /** The ref of a change, `node/worker-1`, the `namespace/name` of an object, or `namespace/<name>`. */
  readonly ref: string
  /** Null if the suspect is not a service. */
  readonly serviceId: string | null
  /** From 0 to 1. Scores are comparable only within one response. */
  readonly score: number
  readonly reasons: readonly SuspectReason[]
  readonly evidence: Symptom['evidence']
  /** When the problem of a suspected object or node began, in ms UTC. Absent for changes. */
  readonly since?: number
  /** The services whose alerts accuse a suspected object, and when each of these alerts began. */
  readonly callers?: readonly (Pick<SuspectService, 'id' | 'namespace' | 'name'> & { readonly since: number })[]
  /** The refs of the rollouts that a suspected pipeline caused. Such a rollout is not a suspect of its own. */
  readonly rollouts?: readonly string[]
}

/**
 * `condition` and `short` are the parts of the text that a page shows: the name of the condition, and what is said about
 * it. Absent if the reason is not about a condition. `change`: of `change_explains`, such as `pipeline shop/cart#31`.
 */
type SuspectReason = Omit<Factor, 'value'> & { readonly condition?: string }

export type RankedSuspect = Suspect & { readonly connection: Connection['kind'] }

const MAX_SUSPECTS = 20
/** A change with a lower score is too weak. */
const LEAST = 0.1
/** The smallest difference between two scores that people see. */
const BELOW = 0.01

/**
 * Returns the probable causes, best first: changes that preceded the problem, nodes, and objects whose problem has no
 * other explanation. A score combines the weights of the symptoms. A symptom weighs more if it is specific, persistent,
 * new and still present, and if few other components have it. After the incident, the symptoms that lasted until its
 * end are rated as present, so that the scores do not fall.
 */
export function rankSuspects(known: SuspectFacts): readonly Suspect[] {
  const end = endOf(known)
  const before = end === null ? known : until(end, known)
  const near = withoutForeignNodes(before)
  const components = componentsOf(near)
  const facts = inEnvironment(near, components)
  const symptoms = explain(symptomsOf(facts, components, end), facts)
  const fixes = fixesOf({ ...facts, alerts: known.alerts })
  const changes = changeSuspects(withoutOld(facts, symptoms), components, symptoms, fixes)
  const ranked = belowConnected([...changes, ...objectSuspects(facts, components, symptoms, changes)])
  const starts = new Map(facts.changes.map(({ kind, ref, startsAt }) => [`${kind} ${ref}`, startsAt]))
  const sorted = joinRollouts(ranked, facts.changes).sort((a, b) => compare(a, b, starts))
  const ordered = firstOfEach(sorted)
    .slice(0, MAX_SUSPECTS)
    .map((suspect) => ({ ...suspect, score: shownScore(suspect) }))
  const shown = withoutWeakChanges(ordered).filter(({ score }) => score > 0)
  return inClusters(shown, components)
}

/** Keeps an old rollout only if its pods ran out of memory for the first time. */
function withoutOld(facts: SuspectFacts, symptoms: readonly Symptom[]): SuspectFacts {
  const { from } = searchedSpan({ startedAt: facts.incident.startedAt, resolvedAt: null }, 0)
  const isOld = ({ startsAt }: Change) => startsAt < from
  if (!facts.changes.some(isOld)) return facts
  const kept = facts.changes.filter((one) => !isOld(one) || symptoms.some((symptom) => isFirstOom(one, symptom)))
  return { ...facts, changes: kept }
}

/**
 * Drops the changes that are too weak, unless all are: then they say where to look first. Objects stay, because a weak
 * trace of the guilty object is better than none; no sentence names them as a cause.
 */
function withoutWeakChanges(suspects: readonly Suspect[]): readonly Suspect[] {
  const isStrong = ({ score }: Suspect) => score >= LEAST
  if (!suspects.some((one) => isChange(one) && isStrong(one))) return suspects
  return suspects.filter((one) => !isChange(one) || isStrong(one))
}

/** A pipeline that deployed several services is one suspect, as the change of the service that accuses it most. */
function firstOfEach(ranked: readonly Suspect[]): Suspect[] {
  const seen = new Set<string>()
  return ranked.filter(({ kind, ref }) => {
    const key = `${kind} ${ref}`
    const isFirst = !seen.has(key) || kind === 'node' || kind === 'object'
    seen.add(key)
    return isFirst
  })
}

/**
 * Drops the changes of other environments. A deploy to staging and a review app change nothing in production, and nobody
 * suspects them there.
 */
function inEnvironment(facts: SuspectFacts, { byId }: Components): SuspectFacts {
  const service = byId.get(facts.incident.service)
  if (!service || isNodeService(service)) return facts
  const changes = facts.changes.filter((change) => {
    const changed = byId.get(change.service)
    if (change.kind === 'pipeline' && !reaches(change.facts, service)) return false
    return change.service === service.id || !changed || shareEnvironment(changed, service)
  })
  return { ...facts, changes }
}

/** The minimum score, by connection, at which a suspect ranks above all suspects connected only by time. */
const RANKS_ABOVE = { own: LIKELY, connected: POSSIBLE, time: Number.POSITIVE_INFINITY } as const

/** The highest score of a suspect connected only by time: possible, and never likely. */
const MOST_BY_TIME = 0.49

/**
 * Lowers the scores of suspects connected only by time, the changes by one factor and the others by another. As a result,
 * such suspects are never likely, and rank below every possible suspect with a connection, and below the incident's own
 * service if that service is a likely suspect. Those that are no changes also rank below a possible change of the own
 * service. An unlikely suspect does not lower other scores, because a weak connection is no reason to doubt a better
 * suspect.
 */
function belowConnected(ranked: readonly RankedSuspect[]): Suspect[] {
  const shareOf = (ofChanges: boolean) => {
    const above = ranked.filter((one) => {
      const isOwnChange = one.connection === 'own' && isChange(one)
      return one.score >= (isOwnChange && !ofChanges ? POSSIBLE : RANKS_ABOVE[one.connection])
    })
    const limit = Math.min(MOST_BY_TIME, ...above.map(({ score }) => score - BELOW))
    const lowered = ranked.filter((one) => one.connection === 'time' && isChange(one) === ofChanges)
    const most = Math.max(0, ...lowered.map(({ score }) => score))
    return most <= limit ? 1 : limit / most
  }
  const [ofChanges, ofOthers] = [shareOf(true), shareOf(false)]
  return ranked.map(({ connection, ...suspect }) =>
    connection === 'time'
      ? { ...suspect, score: rounded(suspect.score * (isChange(suspect) ? ofChanges : ofOthers)) }
      : suspect,
  )
}

/**
 * Drops all facts that are later than the end of the problem, because such facts can neither cause nor show the
 * problem. An alert that ended later was still firing at that time.
 */
function until(end: number, facts: SuspectFacts): SuspectFacts {
  return {
    ...facts,
    changes: facts.changes.filter(({ startsAt }) => startsAt <= end),
    events: facts.events.filter(({ at }) => at <= end),
    alerts: facts.alerts
      .filter(({ startsAt }) => startsAt <= end)
      .map((alert) => ({
        ...alert,
        lastSeenAt: Math.min(alert.lastSeenAt, end),
        ...((alert.endsAt ?? end) > end ? { endsAt: null, resolution: null } : {}),
      })),
  }
}

/** Returns when the incident's last condition ended or a user resolved the incident; null while it is ongoing. */
function endOf({ incident, alerts }: SuspectFacts): number | null {
  const ends = alerts
    .filter(({ inIncident, severity }) => inIncident && severity !== 'info')
    .map(({ endsAt }) => endsAt ?? Number.POSITIVE_INFINITY)
  const recoveredAt = ends.length > 0 ? Math.max(...ends) : Number.POSITIVE_INFINITY
  const end = Math.min(recoveredAt, incident.endedAt ?? Number.POSITIVE_INFINITY)
  return end === Number.POSITIVE_INFINITY ? null : end
}

/** A fix takes effect within half an hour: new pods start, and alerts end with a delay. */
export const EFFECT = 30 * 60_000
/** A rollout can end a problem that comes back once while it replaces the pods. */
export const ROLLS_FOR = 5 * 60_000
const DEPLOYED = new Set(['deployed', 'deploying', 'success, jobs unknown'])

/**
 * Returns the changes that probably fixed the incident. For each service, returns the last deploy that started after
 * the service's first condition began, provided that all of the service's conditions ended after the deploy started.
 * Includes both the pipeline and its rollout.
 */
export function fixesOf({ incident, changes, alerts }: SuspectFacts): ReadonlySet<Change> {
  const conditions = alerts.filter(({ inIncident, severity }) => inIncident && severity !== 'info')
  const byService = Map.groupBy(conditions, ({ service }) => service)
  const fixes = [...byService].flatMap(([service, own]) => {
    const startsAt = Math.min(incident.startedAt, ...own.map((one) => one.startsAt))
    const endsAt = Math.max(...own.map((one) => one.endsAt ?? Number.POSITIVE_INFINITY))
    const repairs = changes.filter(
      (change) =>
        change.service === service &&
        (change.kind === 'rollout' || DEPLOYED.has(outcomeOf(change.facts))) &&
        change.startsAt > startsAt &&
        change.startsAt <= endsAt &&
        endsAt <= change.endsAt + EFFECT,
    )
    const last = repairs.toSorted((a, b) => b.startsAt - a.startsAt || (a.ref < b.ref ? -1 : 1))[0]
    const hasMade = (change: Change) => change.kind === 'pipeline' && last && isDuring(last.startsAt, change)
    return last ? repairs.filter((change) => change === last || hasMade(change)) : []
  })
  return new Set(fixes)
}

/**
 * Of two suspects whose scores look equal, a change is first, and of two changes the one that came last: a smaller
 * difference comes from seconds between a change and an alert, which say nothing. The order is total.
 */
function compare(a: Suspect, b: Suspect, starts: ReadonlyMap<string, number>): number {
  if (shownScore(a) !== shownScore(b)) return shownScore(b) - shownScore(a)
  const [mine, its] = [a, b].map(({ kind, ref }) => starts.get(`${kind} ${ref}`) ?? 0)
  if (mine !== its) return (its ?? 0) - (mine ?? 0)
  if (a.score !== b.score) return b.score - a.score
  if (a.kind !== b.kind) return a.kind < b.kind ? 1 : -1
  if (a.ref !== b.ref) return a.ref < b.ref ? -1 : 1
  return (a.serviceId ?? '') < (b.serviceId ?? '') ? -1 : 1
}

function shownScore({ score }: Suspect): number {
  return Math.round(score * 100) / 100
}
