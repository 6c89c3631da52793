/** An incident follows its last alert to another service, for example after a user has set an alias. */
import type { LiveAlert } from '../../../domain/alert/live-alert.ts'
import { isUnattributed } from '../../../domain/alert/signal.ts'
import type { LiveService } from '../../../domain/health/live-service.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import { serviceName } from '../../../domain/text.ts'
import type { Context } from '../../state/context.ts'
import { hasNamesake } from '../conditions.ts'
import { firingIn, noteJoined } from './find.ts'
import { mergeIncidents } from './incident-changes.ts'
import { addEntry, MAX_TITLE, unresolvedIncidents } from './incidents.ts'

/**
 * Moves the incident of an alert that has moved to another service. While other alerts of the incident fire, the alert
 * leaves it instead.
 */
export function followAlert(ctx: Context, before: LiveAlert, after: LiveAlert, now: number): void {
  const { state } = ctx
  const incident = state.incidents.get(after.incidentId ?? 0)
  const [from, to] = [state.services.get(before.serviceId), state.services.get(after.serviceId)]
  if (!incident || !from || !to || incident.serviceId !== from.rowId) return
  const isLeft = incident.status === 'resolved'
  if (isLeft && !incident.problem.isSuppressed) return
  const isLast = !hasNamesake(state, from.rowId, after.alert) && firingIn(state, incident).length === 0
  if (isLast && incident.origin === 'automatic') {
    move(ctx, incident, { from, to }, now)
    if (isLeft) ctx.put.service({ ...to, suppressed: true })
  } else if (!isLeft && after.alert.status === 'firing') {
    ctx.put.alert({ ...after, incidentId: null })
    ctx.put.incident({ ...incident, alertCount: incident.alertCount - 1 }, incident)
  }
}

function move(
  ctx: Context,
  incident: LiveIncident,
  { from, to }: { readonly from: LiveService; readonly to: LiveService },
  now: number,
): void {
  const { title, problem } = incident
  const prefix = `${from.name}: `
  const rest = title.startsWith(prefix) ? title.slice(prefix.length) : null
  const name = problem.about !== null && title.startsWith(problem.about) ? problem.about : rest
  const moved = {
    ...incident,
    serviceId: to.rowId,
    title: name === null ? title : `${to.name}: ${name}`.slice(0, MAX_TITLE),
    problem: { ...problem, about: isUnattributed(to) ? problem.about : null },
  }
  ctx.put.incident(moved, incident)
  const text = `moved from ${serviceName(from)} to ${serviceName(to)} with its alert`
  addEntry(ctx, moved, { at: now, kind: 'edited', code: null, text, actor: null, ref: null })
  if (incident.status === 'resolved') return
  noteJoined(ctx, moved, now, { isMoved: true })
  const isOwn = ({ origin, cause, problem: { about } }: LiveIncident) =>
    origin === 'automatic' && cause === 'service' && about === moved.problem.about
  const [first, second] = unresolvedIncidents(ctx.state, to.rowId).filter(isOwn)
  if (first && second) mergeIncidents(ctx, { from: second.id, into: first.id }, null, now)
}
