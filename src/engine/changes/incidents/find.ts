/** Finds the incident that a request names, and the alerts of an incident that fire. */
import type { LiveAlert } from '../../../domain/alert/live-alert.ts'
import { IncmonError } from '../../../domain/error.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import type { Context } from '../../state/context.ts'
import type { OrganizationState } from '../../state/state.ts'
import { alertsOf } from '../conditions.ts'

export const NO_INCIDENT = 'this incident does not exist'

export function requireIncident(ctx: Context, id: string): LiveIncident {
  const incident = findIncident(ctx, id)
  if (!incident) throw new IncmonError('not-found', NO_INCIDENT)
  return incident
}

export function findIncident(ctx: Context, id: string): LiveIncident | null {
  const rowId = ctx.state.incidentById.get(id)
  const known = rowId === undefined ? undefined : ctx.state.incidents.get(rowId)
  return known ?? ctx.fact('incident', { id })
}

/** Returns the incidents of a service in the live state: the unresolved ones, and those that were resolved lately. */
export function incidentsOf(state: OrganizationState, serviceId: number): LiveIncident[] {
  return [...state.incidentsOfService.get(serviceId)].flatMap((rowId) => state.incidents.get(rowId) ?? [])
}

/** Returns the alerts of an incident that fire, except failed pipelines. */
export function firingIn(state: OrganizationState, { rowId, serviceId, problem }: LiveIncident): LiveAlert[] {
  return [serviceId, ...problem.others]
    .flatMap((service) => alertsOf(state, service))
    .filter(({ incidentId, alert }) => incidentId === rowId && alert.status === 'firing' && alert.source !== 'ci')
}

/**
 * Lets the store tell channels whose rules match an incident since alerts have joined it, fire in it again (`isReturn`), or
 * have taken it to another service (`isMoved`).
 */
export function noteJoined(
  ctx: Context,
  { organizationId, rowId: incidentId }: LiveIncident,
  at: number,
  { alertIds = [] as readonly number[], isReturn = false, isMoved = false } = {},
): void {
  ctx.emit({ kind: 'alerts-joined', organizationId, incidentId, at, isReturn, isMoved, alertIds })
}
