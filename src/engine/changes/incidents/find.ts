/** Finds the incident that a request names. */
import { IncmonError } from '../../../domain/error.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import type { Context } from '../../state/context.ts'

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
