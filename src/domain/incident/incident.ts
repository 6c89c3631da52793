/** Decides when incidents open, change and end automatically. Start here. */
import { BACKLOG, incidentDueAt } from '../alert/unavailable.ts'
import { isNotification } from '../event/event.ts'
import { circumstancesOf, isDrained } from '../health/health.ts'
import { earliest } from '../instant.ts'
import { rank } from '../severity.ts'
import { countOf } from '../text.ts'
import { HOUR, MINUTE } from '../units.ts'
import { severityNow } from './lasted.ts'
import type { LiveIncident } from './live-incident.ts'
import { isBackSoon, isMilder, isUncovered, observedOf } from './observed.ts'
import { type Back, hadAllClear, opening, returning } from './opening.ts'
import {
  type Burning,
  COMES_BACK_WITHIN,
  GATHERING,
  isDisproved,
  overText,
  type Problem,
  phaseOf,
  SETTLE,
  settledAtOf,
  withNames,
} from './problem.ts'
import type { CurrentIncident, Decision, Situation, SituationAlert, Step } from './situation.ts'

export const INCIDENT_STATUSES = ['open', 'investigating', 'identified', 'monitoring', 'resolved'] as const
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number]

/** The maximum number of alerts that join an incident in one batch. The rest join in later batches. */
const MAX_JOINING = 500

/** Decides on automatic changes to a service's incidents. Never reverses a user's decision. */
export function decide(situation: Situation): Decision {
  const { now, current, last } = situation
  const causes = causesOf(situation)
  const ignored = current ? new Set<string>() : ignoredAlerts(situation)
  const isMuted = situation.suppressed && situation.muted.length > 0
  const suppressed = isMuted || situation.critical.some(({ alertId }) => ignored.has(alertId))
  // A late report of what is on does not say that it is over.
  const isDue = ({ alert: { name }, dueAt }: (typeof causes)[number]) =>
    dueAt !== null && dueAt <= now + (current?.problem.firing.includes(name) ? BACKLOG : 0)
  const due = causes.filter(isDue).map(({ alert }) => (current ? alert : sinceBegun(alert, alert.hasIncident)))
  const pending = causes.flatMap((cause) => (cause.dueAt !== null && !isDue(cause) ? [cause.dueAt] : []))
  const joining = situation.joins ? joiningOf(situation) : []
  const alertIds = joining.slice(0, MAX_JOINING).map(({ uuid }) => uuid)
  if (current) {
    const found = follow(situation, current, { due, burning: burningOf(situation, due), alertIds })
    const changesAt = earliest([...pending, found.changesAt, joining.length > MAX_JOINING ? now : null])
    return { ...found, suppressed: situation.suppressed, changesAt }
  }
  const fresh = due.filter(({ uuid }) => !ignored.has(uuid))
  const problem = last?.problem ?? null
  // What goes on of the service is in the incident into which a user merged it, and so is what begins.
  const host = due.find((one) => one.isLeft && one.inIncident && (ignored.has(one.uuid) || isBackSoon(one)))
  const isNone = fresh.length === 0 || (!situation.opens && !host)
  if (isNone) return { steps: [], suppressed, problem, changesAt: earliest(pending) }
  if (joining.length > MAX_JOINING) pending.push(now)
  const join: Step = { do: 'join', alertIds, with: host?.uuid ?? null }
  if (host) return { steps: [join], suppressed, problem, changesAt: earliest(pending) }
  // What fires anew leaves the unresolved incident into which a user merged it.
  const taken = [...alertIds, ...anewOf(situation).map(({ uuid }) => uuid)]
  // What a user left on counts in the incident that the user resolved.
  const counted = due.map((one) => (ignored.has(one.uuid) ? { ...one, since: now, onset: now } : one))
  const steps = [begin(situation, fresh, taken, burningOf(situation, counted))]
  return { steps, suppressed: false, problem, changesAt: earliest(pending) }
}

/** Returns the alerts that can join an incident. */
function joiningOf({ candidates }: Situation): SituationAlert[] {
  return candidates.filter((one) => mayJoin(one) && !one.inIncident)
}

function mayJoin({ status, severity }: SituationAlert): boolean {
  return status === 'firing' && rank(severity) >= rank('warning')
}

/**
 * Returns the critical alerts and when each of them opens an incident. The time is `now` if the sender reported the
 * severity critical, or if a Kubernetes event and an alert agree. The time is null for an event that neither persists
 * nor repeats. Leaves out alerts explained by a failed node.
 */
function causesOf({ now, critical, alerts, explained }: Situation): { alert: SituationAlert; dueAt: number | null }[] {
  const drained = isDrained(alerts)
  const known = new Map(alerts.map((alert) => [alert.uuid, alert]))
  return critical.flatMap(({ alertId, by }) => {
    const alert = known.get(alertId)
    if (!alert || explained.has(alertId)) return []
    return [{ alert, dueAt: by === 'events' ? incidentDueAt(alert, now, circumstancesOf(alert, drained)) : now }]
  })
}

/** Returns the alerts that were firing when a user resolved their incident, and have not begun anew since. */
function ignoredAlerts({ suppressed, alerts, last }: Situation): ReadonlySet<string> {
  const ignored = suppressed ? alerts.filter((alert) => alert.hasIncident && !isAnew(alert, last)) : []
  return new Set(ignored.map(({ uuid }) => uuid))
}

/** Returns the critical alerts that belong to an unresolved incident of another service, and have ended since they do. */
function anewOf({ suppressed, candidates, explained, last }: Situation): SituationAlert[] {
  return candidates.filter((one) => {
    const counts = one.inIncident && one.status === 'firing' && one.severity === 'critical' && !explained.has(one.uuid)
    return counts && (!suppressed || isAnew(one, last))
  })
}

/** Returns whether an alert has begun anew since an incident was resolved: to fire, without a reported end, or to be so severe. */
export function isAnew(
  { startsAt, begunAt, since }: Pick<SituationAlert, 'startsAt' | 'begunAt' | 'since'>,
  resolved: Pick<LiveIncident, 'resolvedAt'> | null,
): boolean {
  const resolvedAt = resolved?.resolvedAt ?? null
  return resolvedAt !== null && Math.max(begunAt, since) > Math.max(startsAt, resolvedAt)
}

/**
 * Returns an alert that opens an incident. What it did before its last end is over: its sender reported the end, Kubernetes
 * reported it no more, it had another incident, or a silence covered it. @param hasIncident whether it has had an incident
 */
export function sinceBegun<
  One extends Pick<SituationAlert, 'source' | 'evidence' | 'since' | 'begunAt' | 'wasSilenced'>,
>(alert: One, hasIncident: boolean): One {
  const { since, begunAt, wasSilenced } = alert
  const hasEnded = isNotification(alert) && alert.evidence.recovered.some(([at]) => at > since && at <= begunAt)
  const isOver = hasEnded || hasIncident || wasSilenced || !isNotification(alert)
  return isOver ? { ...alert, since: Math.max(since, begunAt) } : alert
}

function burningOf({ now, elsewhere }: Situation, due: readonly SituationAlert[]): Burning[] {
  return [...due.map((alert) => burning(alert, now)), ...elsewhere]
}

function burning({ name, since, onset, begunAt, freed }: SituationAlert, now: number): Burning {
  if (freed === null) return { name, since, onset, begunAt }
  const covered = { since: Math.max(since, begunAt), from: freed.startsAt, until: freed.endsAt }
  return { name, since: now, onset: now, covered }
}

/**
 * Opens an incident, or reopens the last one if its problem is back within 30 minutes or disproves a guessed end. What a user
 * declared, or merged into another incident, does not come back with an alert.
 */
function begin(
  situation: Situation,
  due: readonly SituationAlert[],
  alertIds: readonly string[],
  burning: readonly Burning[],
): Step {
  const { last, now } = situation
  const wasWrong = last !== null && isDisproved(last.problem, burning)
  const isBack = (wasWrong && last?.problem.isGuess) || now - (last?.problem.knownAt ?? 0) <= COMES_BACK_WITHIN
  const isOwn = last?.origin === 'automatic' && last.alertCount > 0
  if (isOwn && isBack)
    return returning(situation, last.problem, { burning, alertIds, wasWrong: wasWrong && hadAllClear(last) }, due)
  return opening(situation, due, { alertIds, burning, follows: last !== null })
}

/** How long after the resolution people hear that alerts are still firing. They hear it once. */
export const STILL_FIRING_AFTER = 30 * MINUTE

/** Returns `1 alert is still firing` or `2,715 alerts are still firing`. */
export function firingText(count: number): string {
  return `${countOf(count, 'alert')} ${count === 1 ? 'is' : 'are'} still firing`
}

/** How long an incident that a user has touched stays in monitoring. */
const TOUCHED = 24 * HOUR
/** The maximum number of alerts that a new incident takes over in one batch. */
const MAX_TAKEN = 500

type Following = {
  readonly due: readonly SituationAlert[]
  readonly burning: readonly Burning[]
  /** The alerts that join the incident. */
  readonly alertIds: readonly string[]
}

/** Follows the problem of an unresolved incident: it gets worse, recovers, comes back or is resolved. */
function follow(
  situation: Situation,
  current: CurrentIncident,
  { due, burning, alertIds }: Following,
): Pick<Decision, 'steps' | 'problem' | 'changesAt'> {
  const joins: Step[] = alertIds.length > 0 ? [{ do: 'join', alertIds, with: null }] : []
  const { now } = situation
  const before = current.problem
  if (current.cause === 'silence') return { steps: joins, problem: before, changesAt: null }
  // If a user has just reopened the incident, people already know that it is open.
  const isKnown = before.alarmedAt === now
  if (before.isOver && burning.length > 0 && current.origin !== 'manual' && !isKnown) {
    return comeBack(situation, before, { burning, alertIds, wasWrong: isDisproved(before, burning) }, due)
  }
  const observed = observedOf(situation, current, burning)
  // What began before the incident opened, for example on the pods of a failed node, and is known soon after, does not
  // make it worse.
  const isOpening = now <= current.createdAt + GATHERING
  const together = situation.elsewhere.filter(({ since }) => isOpening && since <= current.createdAt)
  const old = together.map(({ name }) => name)
  const { problem, fresh: worse } = withNames(withNames(observed, old).problem, observed.firing)
  // Who was told of something critical hears of the rest in one message. Otherwise, it is urgent.
  const gathersUntil = severityNow(current) === 'critical' ? current.createdAt + GATHERING : now
  const toldAt = Math.max(now, gathersUntil)
  const isFree = isUncovered(before, problem, burning, now)
  const steps = [...joins]
  if (worse.length > 0) steps.push({ do: 'worsen', names: worse, toldAt, isUncovered: isFree })
  if (isFree && worse.length === 0) steps.push({ do: 'uncover', names: problem.firing })
  if (isMilder(current, problem)) steps.push({ do: 'lessen', from: severityNow(current), toldAt: now + SETTLE })
  if (current.origin === 'manual') return { steps, problem, changesAt: null }
  const phase = phaseOf(problem, now)
  if (phase !== 'off') return { steps, problem, changesAt: phase === 'settling' ? settledAtOf(problem) : null }
  if (!problem.isOver && problem.knownAt !== null) steps.push({ do: 'recover', problem: recovered(problem, now) })
  const end = endingOf(situation, { ...current, problem })
  return { steps: [...steps, ...end.steps], problem, changesAt: end.changesAt }
}

/** The recovery is announced once. An incident that burned for long has stopped flapping. */
function recovered(problem: Problem, now: number): Problem {
  const isStable = now - problem.alarmedAt >= COMES_BACK_WITHIN
  return { ...problem, isOver: true, flapsSince: isStable ? null : problem.flapsSince }
}

/** The problem is back after its recovery: in the same incident, or after more than 30 minutes in a new one. */
function comeBack(
  situation: Situation,
  before: Problem,
  back: Back,
  due: readonly SituationAlert[],
): Pick<Decision, 'steps' | 'problem' | 'changesAt'> {
  const { now } = situation
  const { knownAt, endedAt } = before
  if (back.wasWrong || knownAt === null || now - knownAt <= COMES_BACK_WITHIN) {
    return { steps: [returning(situation, before, back, due)], problem: before, changesAt: null }
  }
  const text = `${overText(before, now, 'the problem was over')} when the next one began`
  const end: Step = { do: 'resolve', at: endedAt ?? knownAt, text, isTold: false }
  if (!situation.opens) return { steps: [end], problem: before, changesAt: now }
  // The alerts belong to the new incident, even those that were in the old one.
  const taken = situation.candidates.filter(mayJoin).slice(0, MAX_TAKEN)
  const alertIds = taken.map(({ uuid }) => uuid)
  const begins = opening(situation, due, { alertIds, burning: back.burning, follows: true })
  return { steps: [end, begins], problem: before, changesAt: null }
}

/** An incident that nobody has touched is resolved a while after its recovery, any other after a day. */
function endingOf(
  { now, resolveAfter }: Situation,
  { problem, touchedAt }: CurrentIncident,
): { steps: Step[]; changesAt: number | null } {
  const { knownAt, endedAt } = problem
  if (resolveAfter === null || knownAt === null || endedAt === null) return { steps: [], changesAt: null }
  const overAt = knownAt + (touchedAt === null ? resolveAfter : Math.max(resolveAfter, TOUCHED))
  if (now < overAt) return { steps: [], changesAt: overAt }
  const text = overText(problem, overAt, 'the problem had not come back')
  // The service may have a second unresolved incident, for example because a user reopened one.
  return { steps: [{ do: 'resolve', at: endedAt, text, isTold: true }], changesAt: now }
}
