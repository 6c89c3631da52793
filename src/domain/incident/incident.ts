/** Decides when incidents open, change and end automatically. Start here. */
import { incidentDueAt } from '../alert/unavailable.ts'
import { circumstancesOf, isPlanned } from '../health/health.ts'
import { earliest } from '../instant.ts'
import { rank } from '../severity.ts'
import { countOf } from '../text.ts'
import { MINUTE } from '../units.ts'
import { follow } from './follow.ts'
import type { LiveIncident } from './live-incident.ts'
import { opening, returning } from './opening.ts'
import { type Burning, COMES_BACK_WITHIN, GATHERING, isDisproved } from './problem.ts'
import type { Decision, Situation, SituationAlert, Step } from './situation.ts'

export const INCIDENT_STATUSES = ['open', 'investigating', 'identified', 'monitoring', 'resolved'] as const
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number]

/** The maximum number of alerts that join an incident in one batch. The rest join in later batches. */
const MAX_JOINING = 500

/** Decides on automatic changes to a service's incidents. Never reverses a user's decision. */
export function decide(situation: Situation): Decision {
  const { now, current, last } = situation
  const causes = causesOf(situation)
  const ignored = current ? new Set<string>() : ignoredAlerts(situation)
  const suppressed = situation.critical.some(({ alertId }) => ignored.has(alertId))
  const due = causes.filter(({ dueAt }) => dueAt !== null && dueAt <= now).map(({ alert }) => alert)
  const pending = causes.flatMap(({ dueAt }) => (dueAt !== null && dueAt > now ? [dueAt] : []))
  const joining = situation.joins ? joiningOf(situation) : []
  const alertIds = joining.slice(0, MAX_JOINING).map(({ uuid }) => uuid)
  if (current) {
    const found = follow(situation, current, { due, burning: burningOf(situation, due), alertIds })
    const changesAt = earliest([...pending, found.changesAt, joining.length > MAX_JOINING ? now : null])
    return { ...found, suppressed: false, changesAt }
  }
  const fresh = due.filter(({ uuid }) => !ignored.has(uuid))
  const problem = last?.problem ?? null
  if (!situation.opens || fresh.length === 0) return { steps: [], suppressed, problem, changesAt: earliest(pending) }
  if (joining.length > MAX_JOINING) pending.push(now)
  const steps = [begin(situation, fresh, alertIds, burningOf(situation, due))]
  return { steps, suppressed: false, problem, changesAt: earliest([...pending, now + GATHERING]) }
}

/**
 * Returns the critical alerts and when each of them opens an incident. The time is `now` if the sender reported the
 * severity critical, or if a Kubernetes event and an alert agree. The time is null for an event that neither persists
 * nor repeats. Leaves out alerts explained by a failed node.
 */
function causesOf({ now, critical, alerts, explained }: Situation): { alert: SituationAlert; dueAt: number | null }[] {
  const planned = isPlanned(alerts)
  const known = new Map(alerts.map((alert) => [alert.uuid, alert]))
  return critical.flatMap(({ alertId, by }) => {
    const alert = known.get(alertId)
    if (!alert || explained.has(alertId)) return []
    return [{ alert, dueAt: by === 'events' ? incidentDueAt(alert, now, circumstancesOf(alert, planned)) : now }]
  })
}

/** Returns the alerts that were firing when a user resolved their incident, and have not begun anew since. */
function ignoredAlerts({ suppressed, alerts, last }: Situation): ReadonlySet<string> {
  const ignored = suppressed ? alerts.filter((alert) => alert.hasIncident && !isAnew(alert, last)) : []
  return new Set(ignored.map(({ uuid }) => uuid))
}

/** Returns whether an alert has begun to fire anew since an incident was resolved. Its end was not reported. */
export function isAnew(
  { startsAt, begunAt }: Pick<SituationAlert, 'startsAt' | 'begunAt'>,
  resolved: Pick<LiveIncident, 'resolvedAt'> | null,
): boolean {
  const resolvedAt = resolved?.resolvedAt ?? null
  return resolvedAt !== null && begunAt > Math.max(startsAt, resolvedAt)
}

function burningOf({ now, elsewhere }: Situation, due: readonly SituationAlert[]): Burning[] {
  return [...due.map((alert) => burning(alert, now)), ...elsewhere]
}

function burning({ name, since, onset, begunAt, isFreed }: SituationAlert, now: number): Burning {
  return isFreed ? { name, since: now, onset: now, coveredSince: Math.max(since, begunAt) } : { name, since, onset }
}

/** Opens an incident, or reopens the last one if its problem is back within 30 minutes or was never gone. */
function begin(
  situation: Situation,
  due: readonly SituationAlert[],
  alertIds: readonly string[],
  burning: readonly Burning[],
): Step {
  const { last, now } = situation
  const wasWrong = last !== null && isDisproved(last.problem, burning)
  const knownAt = last?.problem.knownAt ?? null
  const isBack = wasWrong || (knownAt !== null && now - knownAt <= COMES_BACK_WITHIN)
  if (last && isBack) return returning(situation, last.problem, { burning, alertIds, wasWrong })
  return opening(situation, due, { alertIds, burning, follows: last !== null })
}

function joiningOf({ candidates }: Situation): SituationAlert[] {
  return candidates.filter(
    ({ status, severity, inIncident }) => status === 'firing' && !inIncident && rank(severity) >= rank('warning'),
  )
}

/** How long after the resolution people hear that alerts are still firing. They hear it once. */
export const STILL_FIRING_AFTER = 30 * MINUTE

/** Returns `1 alert is still firing` or `2,715 alerts are still firing`. */
export function firingText(count: number): string {
  return `${countOf(count, 'alert')} ${count === 1 ? 'is' : 'are'} still firing`
}
