/** Finds incidents, and opens and updates them automatically. `incident-changes.ts` has the manual changes. */

import type { LiveAlert } from '../../../domain/alert/alert.ts'
import { riseOf } from '../../../domain/alert/fingerprints.ts'
import { IncmonError } from '../../../domain/error.ts'
import type { LiveService } from '../../../domain/health/live-service.ts'
import { sinceBegun } from '../../../domain/incident/incident.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import { begunEarlier } from '../../../domain/incident/periods.ts'
import { severityEntry, type TimelineEntry } from '../../../domain/incident/timeline-entries.ts'
import { type NotificationKind, notificationKindOf, takesBack } from '../../../domain/notification/kind.ts'
import type { Severity } from '../../../domain/severity.ts'
import type { Context } from '../../state/context.ts'
import type { OrganizationState } from '../../state/state.ts'
import { alertsOf, type Condition } from '../conditions.ts'

/** The earliest allowed start of an incident, relative to now. A sender may have its clock set to 1970. */
export const OLDEST_START = 400 * 24 * 3_600_000
export const MAX_TITLE = 200

/**
 * Returns the oldest unresolved incident of a service. New alerts join this incident.
 * @param about for the service `unattributed`: the name of an alert that the incident is about, or that was merged into it
 */
export function oldestOpenIncident(
  state: OrganizationState,
  serviceId: number,
  about: string | null = null,
): LiveIncident | null {
  const isAbout = ({ problem }: LiveIncident) => problem.about === about || problem.firing.includes(about ?? '')
  return unresolvedIncidents(state, serviceId).find((one) => about === null || isAbout(one)) ?? null
}

/** Returns all unresolved incidents of a service, oldest first. */
export function unresolvedIncidents(state: OrganizationState, serviceId: number): LiveIncident[] {
  const open = incidentsOf(state, serviceId).filter(({ status }) => status !== 'resolved')
  return open.sort((a, b) => a.createdAt - b.createdAt || a.rowId - b.rowId)
}

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

/** Returns the most recently resolved incident of a service. Ignores incidents for missing heartbeats. */
export function lastResolvedIncident(
  state: OrganizationState,
  serviceId: number,
  about: string | null = null,
): LiveIncident | null {
  const resolved = incidentsOf(state, serviceId).filter(
    ({ status, cause, problem }) => status === 'resolved' && cause === 'service' && problem.about === about,
  )
  return resolved.sort((a, b) => (b.resolvedAt ?? 0) - (a.resolvedAt ?? 0) || b.rowId - a.rowId)[0] ?? null
}

/** Alerts of a service that fire open no incident until they have ended once. */
export function suppress(ctx: Context, serviceId: number): void {
  const service = ctx.state.services.get(serviceId)
  if (service) ctx.put.service({ ...service, suppressed: true })
}

type Opening = Pick<
  LiveIncident,
  'title' | 'severity' | 'origin' | 'cause' | 'startedAt' | 'touchedAt' | 'problem' | 'previous'
> & {
  readonly serviceId: number
  readonly text: string
  readonly actor: string | null
}

/** Opens an incident and adds the first timeline entry. */
export function openIncident(ctx: Context, { text, actor, ...opening }: Opening, now: number): LiveIncident {
  const incident: LiveIncident = {
    ...opening,
    rowId: ctx.rowId('incidents'),
    id: ctx.newId(),
    organizationId: ctx.state.rowId,
    status: 'open',
    createdAt: now,
    acknowledgedAt: null,
    acknowledgedBy: null,
    resolvedAt: null,
    alertCount: 0,
    lowestScore: null,
  }
  ctx.put.incident(incident)
  tell(ctx, incident, { change: notificationKindOf(null, incident), conditions: incident.problem.firing, actor, now })
  addEntry(ctx, incident, { at: now, kind: 'opened', code: null, text, actor, ref: null })
  return incident
}

/** Adds a timeline entry to an incident. */
export function addEntry(ctx: Context, { rowId }: LiveIncident, entry: TimelineEntry): void {
  ctx.emit({ kind: 'timeline-added', incidentId: rowId, entry })
}

type Move = Omit<News, 'change' | 'conditions' | 'severityBefore'> &
  Partial<Pick<News, 'conditions'>> & {
    readonly before: LiveIncident
    readonly after: LiveIncident
    /** The reason that the timeline shows after the new status. */
    readonly why: string | null
    readonly facts?: TimelineEntry['facts']
    /** The message about the change; null for none. By default, the message follows from the change. */
    readonly tells?: NotificationKind | null
  }

/** Updates an incident. If the incident becomes resolved, the same commit marks its postmortem as due. */
export function moveIncident(ctx: Context, move: Move): LiveIncident {
  const { before, why, facts = null, actor, now } = move
  const isResolved = move.after.status === 'resolved' && before.status !== 'resolved'
  // The alerts of a merged incident belong to the other one.
  const awaitsEnds = isResolved && !move.mergedInto && firingIn(ctx.state, before).length > 0
  const after = isResolved ? { ...move.after, problem: { ...move.after.problem, awaitsEnds } } : move.after
  ctx.put.incident(after, before)
  const change = move.tells === undefined ? notificationKindOf(before, after) : move.tells
  const more = { severityBefore: change === 'severity' ? before.severity : null, isTakenBack: takesBack(before, after) }
  tell(ctx, after, { ...move, ...more, change, conditions: move.conditions ?? after.problem.firing })
  if (after.status === before.status) return after
  const kind = before.status === 'resolved' ? 'reopened' : 'status'
  addEntry(ctx, after, { at: now, kind, code: after.status, text: why ?? '', facts, actor, ref: null })
  if (after.status === 'resolved') ctx.emit({ kind: 'postmortem-due', incident: after, at: now })
  return after
}

type News = {
  readonly change: NotificationKind | null
  readonly conditions: readonly string[]
  readonly others?: readonly string[]
  readonly severityBefore?: Severity | null
  /** The token's name, or `the command line`; null for automatic changes. */
  readonly actor: string | null
  readonly now: number
  readonly wasWrong?: boolean
  readonly isTakenBack?: boolean
  readonly mergedInto?: LiveIncident | null
  readonly digestAt?: number | null
  /** When those hear of it who were told of the incident. Default: now. */
  readonly toldAt?: number | undefined
}

/** Queues messages for the organization's channels. */
export function tell(ctx: Context, incident: LiveIncident, news: News): void {
  const { change, conditions, others = [], severityBefore = null, actor, now: at } = news
  const { wasWrong = false, isTakenBack = false, mergedInto = null, digestAt = null, toldAt = at } = news
  const service = ctx.state.services.get(incident.serviceId)
  if (change === null || !service) return
  const about = { change, incident, service, severityBefore, conditions, others, wasWrong, isTakenBack, mergedInto }
  ctx.emit({ kind: 'notification-due', ...about, actor, at, digestAt, toldAt })
}

/** Records the lowest score of the service during the incident. */
export function noteScore(ctx: Context, incident: LiveIncident, score: number): LiveIncident {
  if (incident.lowestScore !== null && incident.lowestScore <= score) return incident
  const after = { ...incident, lowestScore: score }
  ctx.put.incident(after)
  return after
}

/**
 * Updates the start and the title from the earliest critical alert, because an event can arrive late. Does nothing once
 * a user has edited the incident.
 */
export function nameAfterFirst(
  ctx: Context,
  service: LiveService,
  found: {
    readonly incident: LiveIncident
    readonly causes: readonly string[]
    readonly conditions: readonly Condition[]
    readonly now: number
  },
): void {
  const { incident, causes, conditions, now } = found
  const { origin, cause, touchedAt, status } = incident
  const isOwn = origin === 'automatic' && cause === 'service' && incident.problem.about === null
  if (!isOwn || touchedAt !== null || status === 'resolved') return
  const ids = new Set(causes)
  // What opened another incident after the last one has ended in between.
  const own = conditions.flatMap((one) => (ids.has(one.uuid) ? [sinceBegun(one, incident.previous !== null)] : []))
  // What began before belongs to the incident that a user resolved.
  const from = incident.previous === null ? 0 : (lastResolvedIncident(ctx.state, service.rowId)?.resolvedAt ?? 0)
  const first = own.filter(({ since }) => since >= from).sort(bySinceAndName)[0]
  if (!first) return
  const title = `${service.name}: ${first.name}`.slice(0, MAX_TITLE)
  const isFirst =
    (first.since < incident.startedAt && first.since >= incident.createdAt - OLDEST_START) ||
    (first.since === incident.startedAt && title < incident.title)
  if (!isFirst) return
  const problem = begunEarlier(incident.problem, first)
  const after = { ...incident, title, startedAt: first.since, problem }
  moveIncident(ctx, { before: incident, after, why: null, actor: null, now })
}

function bySinceAndName(a: Condition, b: Condition): number {
  return a.since - b.since || (a.name < b.name ? -1 : 1)
}

/**
 * Counts a new alert as part of the open incident of its service. Returns the row id of the incident, or null if no
 * incident is open. Called for alerts that do not change the health.
 */
export function joinOpenIncident(
  ctx: Context,
  alert: { readonly rowId: number; readonly serviceId: number; readonly about: string | null },
  now: number,
): number | null {
  const incident = oldestOpenIncident(ctx.state, alert.serviceId, alert.about)
  if (!incident) return null
  ctx.put.incident({ ...incident, alertCount: incident.alertCount + 1 })
  noteJoined(ctx, incident, now, { alertIds: [alert.rowId] })
  return incident.rowId
}

/**
 * Adds alerts to an incident, except for alerts that already belong to the incident. The timeline lists all alerts of the
 * incident anyway, so only those that were less severe at first get an entry.
 */
export function addAlerts(
  ctx: Context,
  incident: LiveIncident,
  alerts: readonly LiveAlert[],
  now: number,
): LiveIncident {
  const joining = alerts.filter(({ incidentId }) => incidentId !== incident.rowId)
  if (joining.length === 0) return incident
  const after = { ...incident, alertCount: incident.alertCount + joining.length }
  ctx.put.incident(after)
  const alertIds = joining.map(({ rowId }) => rowId)
  noteJoined(ctx, incident, now, { alertIds })
  for (const rowId of alertIds) {
    const live = ctx.state.alerts.get(rowId)
    if (!live) continue
    ctx.put.alert({ ...live, incidentId: incident.rowId })
    const left = ctx.state.incidents.get(live.incidentId ?? 0)
    if (left && left.status !== 'resolved') ctx.put.incident({ ...left, alertCount: left.alertCount - 1 })
    // A postmortem that was written again would lack this alert.
    else if (left?.problem.awaitsEnds) ctx.put.incident({ ...left, problem: { ...left.problem, awaitsEnds: false } })
    const rise = live.incidentId === null ? riseOf(live.alert, live.fingerprints) : null
    if (rise) addEntry(ctx, after, severityEntry(live, rise))
  }
  return after
}
