/** Merges two incidents. */
import { IncmonError } from '../../../domain/error.ts'
import { onAgain, takenOver } from '../../../domain/incident/acknowledgement.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import { mergedProblem, mergeOf, OWN_ENTRIES, refuseMerge } from '../../../domain/incident/merge.ts'
import { alarmed, closed } from '../../../domain/incident/problem.ts'
import { notificationKindOf } from '../../../domain/notification/kind.ts'
import type { Context } from '../../state/context.ts'
import { evaluate } from '../evaluate.ts'
import { mergedNamerOf } from './elsewhere.ts'
import {
  addEntry,
  findIncident,
  moveIncident,
  NO_INCIDENT,
  noteJoined,
  requireIncident,
  suppress,
  tell,
} from './incidents.ts'

/**
 * Moves the alerts, links and timeline of one incident into another, and resolves the first incident.
 * @throws IncmonError `not-found`; `unprocessable` if the incident `into` does not exist; `conflict` if the two
 * incidents cannot be merged
 */
export function mergeIncidents(
  ctx: Context,
  ids: { readonly from: string; readonly into: string },
  actor: string | null,
  now: number,
): void {
  const from = requireIncident(ctx, ids.from)
  const into = findIncident(ctx, ids.into)
  if (!into) throw new IncmonError('unprocessable', `into: ${NO_INCIDENT}`, [{ path: 'into', message: NO_INCIDENT }])
  const refusal = refuseMerge(from, into)
  if (refusal !== null) throw new IncmonError('conflict', refusal)
  const { startedAt, took, why } = mergeOf(from, into)
  // The store writes the postmortem before it moves the alerts, because the postmortem describes these alerts.
  const move = { before: from, after: ended(from, now), why, actor, now, mergedInto: into }
  const wasOpen = from.status !== 'resolved'
  const left = wasOpen ? moveIncident(ctx, move) : from
  const merged = { at: now, kind: 'merged', code: null, actor } as const
  addEntry(ctx, left, { ...merged, text: why, ref: `incident/${into.id}` })
  addEntry(ctx, into, { ...merged, text: took, ref: `incident/${left.id}` })
  const { severity, problem } = mergedProblem(from, into, mergedNamerOf(ctx.state, from, into), now)
  const isBack = into.problem.isOver && problem.since !== null
  const back = isBack ? { ...onAgain(into, now), problem: alarmed(problem, now) } : { problem }
  const touchedAt = actor === null ? into.touchedAt : now
  const joined = {
    ...{ ...into, severity, startedAt, touchedAt },
    alertCount: into.alertCount + left.alertCount,
    ...back,
  }
  const after = { ...joined, ...takenOver(from, joined) }
  const isTaken = after.status !== joined.status
  const because = isTaken
    ? `${after.acknowledgedBy ?? 'a user'} works on “${from.title}”`
    : 'the merged problem goes on'
  const change = isBack ? null : notificationKindOf(into, after)
  // Who acknowledged the other incident works on this one, whoever merged them.
  const isTold = change === 'acknowledged'
  // Nobody has raised a severity: something more severe goes on in this incident.
  const tells = change === 'severity' ? 'again' : change
  moveIncident(ctx, { before: into, after, why: because, actor, now, tells: isTold ? null : tells })
  if (isTold) tell(ctx, after, { change, conditions: problem.firing, actor: after.acknowledgedBy, now })
  ctx.put.incident({ ...left, alertCount: 0 }, left)
  ctx.emit({ kind: 'incident-merged', from: left.rowId, into: into.rowId, ownEntries: OWN_ENTRIES })
  noteJoined(ctx, into, now)
  if (left.serviceId !== into.serviceId && wasOpen) {
    // The target incident now covers these alerts, so they open no new incident until they have ended once.
    suppress(ctx, left.serviceId)
    evaluate(ctx, left.serviceId, now)
  }
  evaluate(ctx, into.serviceId, now)
  const kept = ctx.state.incidents.get(into.rowId)
  if (kept && isBack) tell(ctx, kept, { change: 'again', conditions: kept.problem.firing, actor, now })
}

function ended(incident: LiveIncident, now: number): LiveIncident {
  const problem = closed(incident.problem, now)
  return { ...incident, status: 'resolved', resolvedAt: now, touchedAt: now, problem }
}
