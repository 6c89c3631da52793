/** An incident follows its last alert to another service, for example after a user has set or removed an alias. */
import type { LiveAlert } from '../../../domain/alert/alert.ts'
import { isUnattributed } from '../../../domain/alert/signal.ts'
import type { LiveService } from '../../../domain/health/live-service.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import { titleOf, withoutService } from '../../../domain/incident/opening.ts'
import { rank } from '../../../domain/severity.ts'
import { serviceName } from '../../../domain/text.ts'
import type { Context } from '../../state/context.ts'
import { hasNamesake } from '../conditions.ts'
import { addEntry, firingIn, MAX_TITLE, noteJoined, suppress, unresolvedIncidents } from './incidents.ts'
import { mergeIncidents } from './merge.ts'
import { renamePart } from './renamed.ts'

/**
 * Moves the incident of an alert that has moved to another service. While others of the incident fire that are as severe, the
 * alert leaves it instead; what is milder leaves the incident that moves.
 */
export function followAlert(ctx: Context, before: LiveAlert, after: LiveAlert, now: number): void {
  const { state } = ctx
  const incident = state.incidents.get(after.incidentId ?? 0)
  const [from, to] = [state.services.get(before.serviceId), state.services.get(after.serviceId)]
  if (!incident || !from || !to) return
  if (incident.serviceId !== from.rowId) {
    renamePart(ctx, incident, before, after)
    return
  }
  const isLeft = incident.status === 'resolved'
  if (isLeft && !incident.problem.isSuppressed) return
  const others = firingIn(state, incident)
  const counts = ({ alert }: LiveAlert) =>
    rank(alert.severity) >= rank(after.alert.severity) || incident.problem.firing.includes(alert.name)
  const isLast = !hasNamesake(state, from.rowId, after.alert) && !others.some(counts)
  const moves = isLast && incident.origin === 'automatic'
  const leaving = moves ? others : !isLeft && after.alert.status === 'firing' ? [after] : []
  for (const one of leaving) ctx.put.alert({ ...one, incidentId: null })
  const kept = { ...incident, alertCount: incident.alertCount - leaving.length }
  if (leaving.length > 0) ctx.put.incident(kept, incident)
  if (!moves) return
  move(ctx, kept, { from, to }, after.alert, now)
  if (isLeft) suppress(ctx, to.rowId)
}

function move(
  ctx: Context,
  incident: LiveIncident,
  { from, to }: { readonly from: LiveService; readonly to: LiveService },
  { name: own, summary }: LiveAlert['alert'],
  now: number,
): void {
  const { title, problem } = incident
  const isAbout = problem.about !== null && title.startsWith(problem.about)
  const name = isAbout ? problem.about : withoutService(title, from.name)
  const about = isUnattributed(to) ? own : null
  const named = about === null ? `${to.name}: ${name}` : titleOf(own, summary)
  const moved = {
    ...incident,
    serviceId: to.rowId,
    title: name === null ? title : named.slice(0, MAX_TITLE),
    problem: { ...problem, about },
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
