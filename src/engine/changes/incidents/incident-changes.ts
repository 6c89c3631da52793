/** Manual incident changes: open, edit, add a note. */

import type { LiveAlert } from '../../../domain/alert/alert.ts'
import { BUDGETS } from '../../../domain/budgets.ts'
import { IncmonError } from '../../../domain/error.ts'
import { acknowledged } from '../../../domain/incident/acknowledgement.ts'
import type { IncidentStatus } from '../../../domain/incident/incident.ts'
import { begunAt, regraded, withRating } from '../../../domain/incident/lasted.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import { alarmed, begun, left, NO_PROBLEM, reopened } from '../../../domain/incident/problem.ts'
import { countedNames, type EntryFacts } from '../../../domain/incident/timeline-entries.ts'
import { distinct } from '../../../domain/order.ts'
import { rank, type Severity } from '../../../domain/severity.ts'
import { countOf, formatCount } from '../../../domain/text.ts'
import { MINUTE } from '../../../domain/units.ts'
import type { Context } from '../../state/context.ts'
import type { OrganizationState } from '../../state/state.ts'
import { conditionsOf, senderOf } from '../conditions.ts'
import { evaluate } from '../evaluate.ts'
import { edits, noteEdits } from './edits.ts'
import { addAlerts, addEntry, firingIn, moveIncident, openIncident, requireIncident, suppress } from './incidents.ts'

/**
 * Opens an incident manually. Firing alerts of the service join the incident.
 * @returns the UUID of the incident
 * @throws IncmonError `unprocessable` if the organization has no such service; `conflict` if there are too many incidents
 */
export function createIncident(
  ctx: Context,
  wanted: { readonly title: string; readonly serviceId: string; readonly severity: Severity },
  actor: string,
  now: number,
): string {
  const rowId = ctx.state.serviceById.get(wanted.serviceId)
  if (rowId === undefined) {
    const path = 'serviceId'
    throw new IncmonError('unprocessable', 'serviceId: no such service', [{ path, message: 'no such service' }])
  }
  refuseMany(ctx)
  const firing = conditionsOf(ctx.state, rowId, now).filter(
    ({ status, severity, inIncident }) => status === 'firing' && severity !== 'info' && !inIncident,
  )
  const startedAt = Math.min(now, ...firing.map(({ startsAt }) => startsAt))
  const critical = firing.filter((one) => one.severity === 'critical')
  const asSevere = firing.filter((one) => rank(one.severity) >= rank(wanted.severity))
  const since = Math.min(now, ...(critical.length > 0 ? critical : asSevere).map((one) => one.since))
  const origin = { origin: 'manual', cause: 'service' } as const
  const names = distinct(critical.map(({ name }) => name))
  const problem = { ...begun(alarmed(NO_PROBLEM, now), since), firing: names, had: names }
  const opening = { ...wanted, serviceId: rowId, ...origin, startedAt, touchedAt: now, problem, previous: null }
  const incident = openIncident(ctx, { ...opening, text: `opened: ${wanted.title}`, actor }, now)
  const left = firing.flatMap(({ isLeft, live }) => (isLeft ? live : []))
  addAlerts(ctx, incident, left, now)
  evaluate(ctx, rowId, now)
  return incident.id
}

type IncidentChange = {
  readonly status?: IncidentStatus | undefined
  readonly title?: string | undefined
  readonly severity?: Severity | undefined
  readonly startedAt?: number | undefined
}

/**
 * Updates the given fields of an incident. Returns whether anything changed. A resolved incident can be reopened.
 * @throws IncmonError `not-found`; `invalid` if the start time is in the future; `conflict` if it was merged
 */
export function changeIncident(ctx: Context, id: string, change: IncidentChange, actor: string, now: number): boolean {
  const before = requireIncident(ctx, id)
  const after = changed(before, change, actor, now)
  if (after === before) return false
  if (before.status === 'resolved' && after.status !== 'resolved') refuseMerged(ctx, before)
  const texts = edits(before, after)
  refuseText(ctx, before, texts.join(''), texts.length)
  noteEdits(ctx, before, texts, actor, now)
  moveIncident(ctx, {
    before,
    after,
    why: null,
    facts: after.status === 'resolved' ? firingAfterwards(ctx.state, before, now) : null,
    actor,
    now,
  })
  if (after.status === before.status) return true
  // If an alert of the incident is still firing, the alert cannot open a new incident until it has ended once.
  if (after.status === 'resolved') suppress(ctx, before.serviceId)
  evaluate(ctx, before.serviceId, now)
  return true
}

/** Returns which alerts fire when a user resolves an incident, for the timeline, or null if every alert has ended. */
function firingAfterwards(state: OrganizationState, incident: LiveIncident, now: number): EntryFacts | null {
  const firing = firingIn(state, incident)
  if (firing.length === 0) return null
  const code = firing.some((one) => isReported(state, one, now)) ? 'firing' : 'unreported'
  return { code, alerts: countedNames(firing.map(({ alert }) => alert)) }
}

/** Returns whether an alert is reported as firing: it has not expired, and the heartbeat of its sender is not missing. */
function isReported(state: OrganizationState, live: LiveAlert, now: number): boolean {
  const { expiresAt, source, lastSeenAt } = live.alert
  if (expiresAt !== null) return expiresAt > now
  // Kubernetes repeats what goes on, but seldom reports an end.
  if (source === 'cluster') return lastSeenAt > now - MINUTE
  const { sender } = senderOf(state, live)
  return !sender || sender.heartbeatAt === null || sender.heartbeatDueAt !== null
}

/** Refuses to reopen an incident that was merged: its alerts belong to the other one. */
function refuseMerged(ctx: Context, { rowId }: LiveIncident): void {
  const into = ctx.fact('mergedInto', { incidentId: rowId })
  if (into === null) return
  throw new IncmonError(
    'conflict',
    `this incident was merged into incident ${into}: reopen that one, or open another one`,
  )
}

/** Acknowledges the open incidents or, with `undo`, takes that back if nobody has moved on. @throws IncmonError `not-found` */
export function acknowledgeIncidents(
  ctx: Context,
  ids: readonly string[],
  actor: string,
  now: number,
  undo = false,
): void {
  const [from, to] = undo ? (['investigating', 'open'] as const) : (['open', 'investigating'] as const)
  for (const id of ids.filter((one) => requireIncident(ctx, one).status === from))
    changeIncident(ctx, id, { status: to }, actor, now)
}

function changed(before: LiveIncident, change: IncidentChange, actor: string, now: number): LiveIncident {
  const status = change.status ?? before.status
  const wanted = {
    ...before,
    title: change.title ?? before.title,
    severity: change.severity ?? before.severity,
    startedAt: change.startedAt ?? before.startedAt,
    status,
  }
  const same = (['title', 'severity', 'startedAt', 'status'] as const).every((name) => wanted[name] === before[name])
  if (same) return before
  if (wanted.startedAt > now && wanted.startedAt !== before.startedAt) {
    const message = 'is in the future'
    throw new IncmonError('invalid', `startedAt: ${message}`, [{ path: 'startedAt', message }])
  }
  // The stored start can be in the future if the clock was ahead when the incident opened.
  const startedAt = Math.min(wanted.startedAt, now)
  const problemBefore = begunAt(before, startedAt)
  const isRated = change.severity !== undefined && change.severity !== before.severity
  const rated = isRated ? withRating(problemBefore, now) : problemBefore
  const moved = { ...before, problem: regraded(before, { ...wanted, problem: rated }, now) }
  const answered = { ...moved, ...acknowledged(moved, status, actor, now) }
  const { acknowledgedAt, acknowledgedBy, problem } = answered
  return {
    ...wanted,
    ...{ startedAt, acknowledgedAt, acknowledgedBy, problem, touchedAt: now },
    ...(status === before.status ? {} : statusChange(answered, status, now)),
  }
}

function statusChange(before: LiveIncident, status: IncidentStatus, now: number) {
  if (status === 'resolved') {
    return { resolvedAt: before.resolvedAt ?? now, problem: left(before.problem, now, before.cause === 'silence') }
  }
  if (before.status !== 'resolved') return {}
  return { resolvedAt: null, problem: reopened(before.problem, before.origin, now) }
}

/**
 * Adds a note to the timeline. Many notes that name the cause come after the resolution: they make the postmortem due again.
 * @throws IncmonError `not-found`; `conflict` if the incident has too many notes
 */
export function addNote(ctx: Context, id: string, text: string, actor: string, now: number): void {
  const incident = requireIncident(ctx, id)
  refuseText(ctx, incident, text, 1)
  addEntry(ctx, incident, { at: now, kind: 'note', code: null, text, actor, ref: null })
  const noted = { ...incident, touchedAt: now }
  ctx.put.incident(noted, incident)
  if (incident.status === 'resolved' && canRewrite(ctx, incident))
    ctx.emit({ kind: 'postmortem-due', incident: noted, at: now })
}

/** Returns whether the postmortem is a draft and would tell of the same alerts: some may belong to another incident by now. */
function canRewrite(ctx: Context, { rowId, alertCount }: LiveIncident): boolean {
  const asked = { incidentId: rowId }
  return ctx.fact('mergedInto', asked) === null && ctx.fact('alertsOfDraft', asked) === alertCount
}

const MAX_NOTES = BUDGETS.notes.value
const MAX_TEXT = BUDGETS['note-text'].value

/** Refuses further text in an incident, because every read of the incident returns all of it. */
function refuseText(ctx: Context, incident: LiveIncident, text: string, entries: number): void {
  const full = entries === 0 ? null : fullOf(ctx, incident, text, entries)
  if (full !== null) throw new IncmonError('conflict', `this incident has the maximum of ${full}; ${ELSEWHERE}`)
}

/** Returns which limit further entries exceed, or null if there is room. */
function fullOf(ctx: Context, { rowId }: LiveIncident, text: string, entries: number): string | null {
  const saved = ctx.fact('notes', { incidentId: rowId })
  const unsaved = ctx.unsavedNotes(rowId)
  if (saved.entries + unsaved.entries + entries > MAX_NOTES) return `${formatCount(MAX_NOTES)} notes and changes`
  const isLong = saved.length + unsaved.length + text.length > MAX_TEXT
  return isLong ? `${formatCount(MAX_TEXT)} characters of notes` : null
}

const ELSEWHERE = 'write further notes in a document, or open another incident for what is still to do'

function refuseMany({ state, limits }: Context): void {
  const most = limits().incidents
  if (state.incidents.size() < most) return
  const message = `there are already ${countOf(most, 'incident')}, the limit: resolve or merge some, and try again two days later, or raise the setting limits (incidents)`
  throw new IncmonError('conflict', message)
}

/** Records in the timeline what a person changed, unless the incident has too many notes. @throws IncmonError `not-found` */
export function noteChange(ctx: Context, id: string, text: string, actor: string, now: number): void {
  const incident = requireIncident(ctx, id)
  if (fullOf(ctx, incident, text, 1) === null)
    addEntry(ctx, incident, { at: now, kind: 'edited', code: null, text, actor, ref: null })
  ctx.put.incident({ ...incident, touchedAt: now }, incident)
}
