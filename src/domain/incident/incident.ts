/** Decides when incidents open, change and end automatically. Start here. */
import { incidentDueAt } from '../alert/unavailable.ts'
import { circumstancesOf, type Health, type HealthCondition, isPlanned } from '../health/health.ts'
import { earliest } from '../instant.ts'
import { rank } from '../severity.ts'
import type { LiveIncident } from '../state/live.ts'
import { countOf } from '../text.ts'
import { HOUR, MINUTE } from '../units.ts'

export const INCIDENT_STATUSES = ['open', 'investigating', 'identified', 'monitoring', 'resolved'] as const
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number]

const RECOVERED = 30 * MINUTE
const REOPEN_WITHIN = 30 * MINUTE
const UNTOUCHED = 24 * HOUR

export type Situation = {
  readonly now: number
  /** The organization's `auto-incidents` and `auto-resolve` settings. */
  readonly opens: boolean
  readonly resolves: boolean
  readonly serviceName: string
  readonly health: Health
  readonly healthySince: number | null
  /**
   * Whether a user resolved an incident while its alerts were firing. These alerts open no new incident until they have
   * ended once.
   */
  readonly suppressed: boolean
  /** The alerts that determine the health, without alerts that have the same effect as another alert. */
  readonly alerts: readonly SituationAlert[]
  /** All alerts. Alerts without an incident can join the incident of the service. */
  readonly candidates: readonly SituationAlert[]
  /** Alerts explained by a failed node. */
  readonly explained: ReadonlySet<string>
  /** The oldest unresolved incident. */
  readonly current: CurrentIncident | null
  /** When the last incident was resolved, or null. */
  readonly lastResolvedAt: number | null
}

export type SituationAlert = HealthCondition & {
  /** Whether the alert belongs to an unresolved incident. */
  readonly inIncident: boolean
  /** Whether the alert belongs to any incident. */
  readonly hasIncident: boolean
}

export type CurrentIncident = Pick<LiveIncident, 'status' | 'origin' | 'cause' | 'acknowledgedAt' | 'touchedAt'>

export type Step =
  | { readonly do: 'open'; readonly title: string; readonly startedAt: number; readonly alertIds: readonly string[] }
  | { readonly do: 'reopen'; readonly alertIds: readonly string[] }
  | { readonly do: 'join'; readonly alertIds: readonly string[] }
  | { readonly do: 'move'; readonly to: IncidentStatus; readonly text: string }
  | { readonly do: 'resolve'; readonly at: number; readonly text: string }

export type Decision = {
  readonly steps: readonly Step[]
  readonly suppressed: boolean
  /** When a step may next become due without a new event, in ms UTC; null for never. */
  readonly changesAt: number | null
}

/** The maximum number of alerts that join an incident in one batch. The rest join in later batches. */
const MAX_JOINING = 500

/** Decides on automatic changes to a service's incidents. Never reverses a user's decision. */
export function decide(situation: Situation): Decision {
  const ignored = ignoredAlerts(situation)
  const suppressed = situation.health.critical.some(({ alertId }) => ignored.has(alertId))
  const causes = causesOf(situation).filter(({ alert }) => !ignored.has(alert.uuid))
  const due = causes.filter(({ dueAt }) => dueAt !== null && dueAt <= situation.now).map(({ alert }) => alert)
  const pending = causes.flatMap(({ dueAt }) => (dueAt !== null && dueAt > situation.now ? [dueAt] : []))
  const opens = situation.opens && due.length > 0
  if (!situation.current && !opens) return { steps: [], suppressed, changesAt: earliest(pending) }
  const joining = joiningOf(situation)
  const alertIds = joining.slice(0, MAX_JOINING).map(({ uuid }) => uuid)
  if (joining.length > MAX_JOINING) pending.push(situation.now)
  if (!situation.current) {
    return { steps: [begin(situation, due, alertIds)], suppressed: false, changesAt: earliest(pending) }
  }
  const { steps, changesAt } = follow(situation, situation.current, due.length > 0)
  const joins: Step[] = alertIds.length > 0 ? [{ do: 'join', alertIds }] : []
  return { steps: [...joins, ...steps], suppressed, changesAt: earliest([...pending, changesAt]) }
}

/**
 * Returns the critical alerts and when each of them opens an incident. The time is `now` if the sender reported the
 * severity critical, or if a Kubernetes event and an alert agree. The time is null for an event that neither persists
 * nor repeats. Leaves out alerts explained by a failed node.
 */
function causesOf({ now, health, alerts, explained }: Situation): { alert: SituationAlert; dueAt: number | null }[] {
  const planned = isPlanned(alerts)
  const known = new Map(alerts.map((alert) => [alert.uuid, alert]))
  return health.critical.flatMap(({ alertId, by }) => {
    const alert = known.get(alertId)
    if (!alert || explained.has(alertId)) return []
    return [{ alert, dueAt: by === 'events' ? incidentDueAt(alert, now, circumstancesOf(alert, planned)) : now }]
  })
}

/** Returns the alerts that were firing when a user resolved their incident. */
function ignoredAlerts({ suppressed, alerts }: Situation): ReadonlySet<string> {
  return new Set(suppressed ? alerts.filter(({ hasIncident }) => hasIncident).map(({ uuid }) => uuid) : [])
}

function begin(
  { lastResolvedAt, now, serviceName }: Situation,
  due: readonly SituationAlert[],
  alertIds: readonly string[],
): Step {
  if (lastResolvedAt !== null && now - lastResolvedAt <= REOPEN_WITHIN) return { do: 'reopen', alertIds }
  const first = [...due].sort((a, b) => a.startsAt - b.startsAt || (a.uuid < b.uuid ? -1 : 1))[0]
  return {
    do: 'open',
    title: `${serviceName}: ${first?.name ?? 'critical'}`,
    startedAt: first?.startsAt ?? now,
    alertIds,
  }
}

function joiningOf({ candidates }: Situation): SituationAlert[] {
  return candidates.filter(
    ({ status, severity, inIncident }) => status === 'firing' && !inIncident && rank(severity) >= rank('warning'),
  )
}

/**
 * After 30 healthy minutes, an incident moves to monitoring. After a day without user action, the incident is resolved.
 */
function follow(
  { now, healthySince, resolves }: Situation,
  current: CurrentIncident,
  ill: boolean,
): { steps: Step[]; changesAt: number | null } {
  // Only incidents that were opened automatically for this service are changed automatically.
  if (current.origin === 'manual' || current.cause === 'silence') return { steps: [], changesAt: null }
  if (healthySince === null) {
    const back = ill && current.status === 'monitoring'
    const to = current.acknowledgedAt === null ? 'open' : 'investigating'
    return { steps: back ? [{ do: 'move', to, text: 'the service became critical again' }] : [], changesAt: null }
  }
  const recoveredAt = healthySince + RECOVERED
  if (now < recoveredAt) return { steps: [], changesAt: recoveredAt }
  const watch: Step[] =
    current.status === 'monitoring'
      ? []
      : [{ do: 'move', to: 'monitoring', text: 'the service has been healthy for 30 minutes' }]
  if (!resolves) return { steps: watch, changesAt: null }
  const overAt = Math.max(recoveredAt, current.touchedAt ?? 0) + UNTOUCHED
  if (now < overAt) return { steps: watch, changesAt: overAt }
  return {
    steps: [
      ...watch,
      { do: 'resolve', at: healthySince, text: 'healthy for 24 hours with no changes to the incident' },
    ],
    // The service may have a second unresolved incident, for example because a user reopened one. The second incident
    // is processed next.
    changesAt: now,
  }
}

/**
 * The time between the resolution of an incident and the first reminder that its alerts are still firing. Further
 * reminders are sent daily.
 */
const REMIND_AFTER = 30 * MINUTE
const REMIND_EVERY = 24 * HOUR

/**
 * Returns when to send the next reminder that alerts of a resolved incident are still firing. `sent`: the number of
 * reminders so far.
 */
export function stillFiringDueAt(resolvedAt: number, sent: number): number {
  return resolvedAt + (sent === 0 ? REMIND_AFTER : sent * REMIND_EVERY)
}

/** Returns `1 alert is still firing` or `2,715 alerts are still firing`. */
export function firingText(count: number): string {
  return `${countOf(count, 'alert')} ${count === 1 ? 'is' : 'are'} still firing`
}
