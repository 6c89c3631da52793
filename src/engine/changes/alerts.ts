/** Changes alerts, records the changes in the incident timeline, and resolves alerts manually. */
import type { Alert, AlertTexts, LiveAlert } from '../../domain/alert/alert.ts'
import { isGuessed } from '../../domain/alert/doubt.ts'
import { firingAgainSince, settle } from '../../domain/alert/ending.ts'
import { changedAt } from '../../domain/alert/fingerprints.ts'
import { IncmonError } from '../../domain/error.ts'
import { isNotification } from '../../domain/event/event.ts'
import { severityEntry, type TimelineEntry } from '../../domain/incident/timeline-entries.ts'
import { rank } from '../../domain/severity.ts'
import type { Context } from '../state/context.ts'
import { evaluate } from './evaluate.ts'
import { noteJoined } from './incidents/incidents.ts'

/** Replaces an alert. `now`: when the change was received. `actor`: the user who made it. `texts`: null if unchanged. */
export function changeAlert(
  ctx: Context,
  before: LiveAlert,
  after: LiveAlert,
  now: number,
  { texts = null, actor = null }: { readonly texts?: AlertTexts | null; readonly actor?: string | null } = {},
): void {
  ctx.put.alert(withOwnSummary(ctx, before, after), texts)
  const isSame = before.alert.status === after.alert.status && before.alert.severity === after.alert.severity
  if (isSame && !isEndCorrected(before.alert, after.alert)) return
  const incident = ctx.state.incidents.get(after.incidentId ?? 0)
  if (isCritical(after) && !isCritical(before) && incident) noteJoined(ctx, incident, now, { alertIds: [after.rowId] })
  if (after.incidentId === null) return
  const entry = { ...changeOf(before.alert, after, now), actor }
  ctx.emit({ kind: 'timeline-added', incidentId: after.incidentId, entry })
}

const isCritical = ({ alert }: LiveAlert) => alert.status === 'firing' && alert.severity === 'critical'

/** Returns whether a sender reported the end of an alert that had been assumed to have ended at another time. */
function isEndCorrected(before: Alert, after: Alert): boolean {
  return isGuessed(before.resolution) && after.resolution === 'reported' && before.endsAt !== after.endsAt
}

/** Returns an alert that became less severe, or that ended as severe as it was before, with the words of that severity. */
function withOwnSummary(ctx: Context, before: LiveAlert, after: LiveAlert): LiveAlert {
  const { alert } = after
  const [now, was] = [rank(alert.severity), rank(before.alert.severity)]
  const isOther = alert.status === 'firing' ? now < was : now !== was
  if (!isOther || alert.summary !== before.alert.summary || !isNotification(alert)) return after
  const summary = ctx.fact('summary', { alertId: after.rowId, severity: alert.severity })
  return summary === null ? after : { ...after, alert: { ...alert, summary } }
}

/** Records in the timeline of the incident that the end of an alert does not count yet. */
export function noteDoubt(ctx: Context, { id, incidentId, alert: { name: text } }: LiveAlert, at: number): void {
  if (incidentId === null) return
  const entry: TimelineEntry = { at, kind: 'alert', code: 'doubt', text, actor: null, ref: `alert/${id}` }
  ctx.emit({ kind: 'timeline-added', incidentId, entry })
}

function changeOf(before: Alert, after: LiveAlert, now: number): TimelineEntry {
  const { alert, fingerprints } = after
  const { name, lastSeenAt: at } = alert
  const common = { actor: null, ref: `alert/${after.id}` }
  if (alert.status === 'resolved')
    return { ...common, kind: 'ended', code: alert.resolution, text: name, at: alert.endsAt ?? at }
  if (before.status === 'resolved') {
    const since = firingAgainSince(alert, fingerprints, before.endsAt ?? at)
    return { ...common, kind: 'alert', code: 'again', text: name, at: Math.min(since ?? at, at) }
  }
  const from = before.severity
  return severityEntry(after, { from, at: changedAt(alert, fingerprints, from, now) })
}

/**
 * Resolves an alert manually. Does nothing if the alert is already resolved. Later reports of the same problem do not
 * reopen the alert.
 * @throws IncmonError `not-found` if the organization has no such alert
 */
export function resolveAlert(ctx: Context, id: string, actor: string, now: number): void {
  const rowId = ctx.fact('alert', { id })
  if (rowId === null) throw new IncmonError('not-found', 'no such alert')
  const active = ctx.state.alerts.get(rowId)
  if (!active || active.alert.status === 'resolved') return
  const ended: Alert = {
    ...active.alert,
    status: 'resolved',
    resolution: 'manual',
    endsAt: Math.max(now, active.alert.startsAt),
    endedAt: now,
  }
  const { alert, dueAt } = settle(ended, { delivery: null, metricsFiring: false, repeats: true }, now)
  changeAlert(ctx, active, { ...active, alert, dueAt }, now, { actor })
  evaluate(ctx, active.serviceId, now)
}
