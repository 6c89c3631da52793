/** Says in a dry run what an alert does to incidents, and which message follows. */

import type { LiveAlert } from '../../domain/alert/alert.ts'
import { isProbe, meansUnavailable } from '../../domain/event/lasting.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { phaseOf } from '../../domain/incident/problem.ts'
import type { NotificationKind } from '../../domain/notification/kind.ts'
import { RUNNER_SERVICE } from '../../domain/service/run-name.ts'
import type { Context } from '../state/context.ts'
import { type OrganizationState, settingsOf } from '../state/state.ts'

export type IncidentOutcome = {
  /** The incident that the alert belongs to; null if it belongs to none. */
  readonly incident: {
    readonly title: string
    readonly severity: LiveIncident['severity']
    readonly status: LiveIncident['status']
    readonly isNew: boolean
  } | null
  /** Why the alert belongs to no incident; null if it belongs to one. */
  readonly why: string | null
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
  if (!incident) return { outcome: { incident: null, why: whyNone(state, live), message: null, silences }, asked: null }
  const known = before.get(incident.rowId)
  const { title, severity, status, rowId, startedAt, resolvedAt } = incident
  const serviceId = state.services.get(incident.serviceId)?.id
  const asked = serviceId === undefined ? null : { rowId, serviceId, startedAt, resolvedAt, problem: incident.problem }
  const message = messageOf(known, incident, live.alert.name, now)
  const opened = { title, severity, status, isNew: known === undefined }
  return { outcome: { incident: opened, why: null, message, silences }, asked }
}

function whyNone(state: OrganizationState, { alert, silencedBy, serviceId }: LiveAlert): string {
  const { source, severity, name } = alert
  const service = state.services.get(serviceId)
  if (alert.status !== 'firing') return 'the alert no longer fires'
  if (silencedBy.length > 0) return 'the alert is silenced'
  if (settingsOf(state)['auto-incidents'] === 'off') return 'the setting auto-incidents is off'
  if (source === 'ci') return 'CI alerts open no incident'
  if (service?.name === RUNNER_SERVICE) return 'pods of CI jobs open no incident'
  if (source === 'cluster' && isProbe(name)) return 'the probe must continue to fail first'
  if (source === 'cluster' && (severity === 'critical' || meansUnavailable(name)))
    return 'only Kubernetes events show the problem, so it must last a minute or be reported 4 times first'
  if (severity !== 'critical') return `the alert is ${severity}; only a critical condition opens an incident`
  return 'no rule opens one yet'
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
