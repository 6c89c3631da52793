/** Says in a dry run what an alert does to incidents, and which message follows. */

import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { phaseOf } from '../../domain/incident/problem.ts'
import type { NotificationKind } from '../../domain/notification/kind.ts'
import type { Context } from '../state/context.ts'

export type IncidentOutcome = {
  /** The incident that the alert belongs to; null if it belongs to none. */
  readonly incident: {
    readonly title: string
    readonly severity: LiveIncident['severity']
    readonly status: LiveIncident['status']
    readonly isNew: boolean
  } | null
  /** The message that follows; null for none. */
  readonly message: NotificationKind | null
  /** The comments of the silences that apply to the alert. */
  readonly silences: readonly string[]
}

/** `serviceId`: a UUID. */
export type SuspectsAsked = Pick<LiveIncident, 'rowId' | 'startedAt' | 'resolvedAt' | 'problem'> & {
  readonly serviceId: string
}

/** `asked`: tells the engine whose suspects to look up; null without an incident. */
type Tried = { readonly outcome: IncidentOutcome | null; readonly asked: SuspectsAsked | null }

/** @param before the incidents before the delivery */
export function outcomeOf(
  ctx: Context,
  before: ReadonlyMap<number, LiveIncident>,
  alertRowId: number,
  now: number,
): Tried {
  const { state } = ctx
  const live = state.alerts.get(alertRowId)
  if (!live) return { outcome: null, asked: null }
  const silences = live.silencedBy.flatMap((id) => state.silences.get(id)?.silence.comment ?? [])
  const incident = live.incidentId === null ? undefined : state.incidents.get(live.incidentId)
  if (!incident) return { outcome: { incident: null, message: null, silences }, asked: null }
  const known = before.get(incident.rowId)
  const { title, severity, status, rowId, startedAt, resolvedAt } = incident
  const serviceId = state.services.get(incident.serviceId)?.id
  const asked = serviceId === undefined ? null : { rowId, serviceId, startedAt, resolvedAt, problem: incident.problem }
  const message = messageOf(known, incident, live.alert.name, now)
  return { outcome: { incident: { title, severity, status, isNew: known === undefined }, message, silences }, asked }
}

function messageOf(
  before: LiveIncident | undefined,
  after: LiveIncident,
  name: string,
  now: number,
): NotificationKind | null {
  if (!before) return 'opened'
  if (!after.problem.firing.includes(name)) return null
  if (phaseOf(before.problem, now) === 'off') return 'again'
  return before.problem.had.includes(name) ? null : 'worse'
}
