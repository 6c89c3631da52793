/** Opens and updates incidents automatically. `incident-changes.ts` has the manual changes. */
import { byStartAndName } from '../health/alike.ts'
import type { Step } from '../incident/incident.ts'
import { notificationKindOf } from '../notification/kind.ts'
import type { Context } from '../state/context.ts'
import type { TimelineEntry } from '../state/effect.ts'
import type { LiveAlert, LiveIncident, LiveService } from '../state/live.ts'
import type { OrganizationState } from '../state/state.ts'
import type { Condition } from './conditions.ts'

/** The earliest allowed start of an incident, relative to now. A sender may have its clock set to 1970. */
const OLDEST_START = 400 * 24 * 3_600_000
const MAX_TITLE = 200

/** Returns the oldest unresolved incident of a service. New alerts join this incident. */
export function oldestOpenIncident(state: OrganizationState, serviceId: number): LiveIncident | null {
  return best(
    state,
    serviceId,
    ({ status }) => status !== 'resolved',
    (a, b) => a.createdAt - b.createdAt || a.rowId - b.rowId,
  )
}

/** Returns the unresolved incidents of a service, except those for missing heartbeats. */
export function openIncidents(state: OrganizationState, serviceId: number): LiveIncident[] {
  const incidents = [...state.incidentsOfService.get(serviceId)].flatMap((rowId) => state.incidents.get(rowId) ?? [])
  return incidents.filter(({ status, cause }) => status !== 'resolved' && cause === 'service')
}

/** Returns the most recently resolved incident of a service. Ignores incidents for missing heartbeats. */
export function lastResolvedIncident(state: OrganizationState, serviceId: number): LiveIncident | null {
  const isCandidate = ({ status, cause }: LiveIncident) => status === 'resolved' && cause === 'service'
  return best(state, serviceId, isCandidate, (a, b) => (b.resolvedAt ?? 0) - (a.resolvedAt ?? 0) || b.rowId - a.rowId)
}

function best(
  state: OrganizationState,
  serviceId: number,
  isCandidate: (incident: LiveIncident) => boolean,
  order: (a: LiveIncident, b: LiveIncident) => number,
): LiveIncident | null {
  let found: LiveIncident | null = null
  for (const rowId of state.incidentsOfService.get(serviceId)) {
    const incident = state.incidents.get(rowId)
    if (incident && isCandidate(incident) && (found === null || order(incident, found) < 0)) found = incident
  }
  return found
}

export type Opening = Pick<LiveIncident, 'title' | 'severity' | 'origin' | 'cause' | 'startedAt' | 'touchedAt'> & {
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
    resolvedAt: null,
    alertCount: 0,
    lowestScore: null,
  }
  ctx.emit({ kind: 'incident-opened', incident })
  queueNotifications(ctx, null, incident, actor, now)
  addEntry(ctx, incident, { at: now, kind: 'opened', text, actor, ref: null })
  return incident
}

/** Adds a timeline entry to an incident. */
export function addEntry(ctx: Context, { rowId }: LiveIncident, entry: TimelineEntry): void {
  ctx.emit({ kind: 'timeline-added', incidentId: rowId, entry })
}

export type Move = {
  readonly before: LiveIncident
  readonly after: LiveIncident
  /** The text that the timeline shows after the new status. */
  readonly why: string | null
  /** The token's name, or `the command line`; null for automatic changes. */
  readonly actor: string | null
  readonly now: number
}

/** Updates an incident. If the incident becomes resolved, the same commit marks its postmortem as due. */
export function moveIncident(ctx: Context, { before, after, why, actor, now }: Move): LiveIncident {
  ctx.emit({ kind: 'incident-changed', before, after })
  queueNotifications(ctx, before, after, actor, now)
  if (after.status === before.status) return after
  const kind = before.status === 'resolved' ? 'reopened' : 'status'
  const text = why === null ? after.status : `${after.status}: ${why}`
  addEntry(ctx, after, { at: now, kind, text, actor, ref: null })
  if (after.status === 'resolved') ctx.emit({ kind: 'postmortem-due', incident: after, at: now })
  return after
}

/** Queues notifications for the organization's channels if the change is important enough. */
function queueNotifications(
  ctx: Context,
  before: LiveIncident | null,
  incident: LiveIncident,
  actor: string | null,
  now: number,
): void {
  const change = notificationKindOf(before, incident)
  const service = ctx.state.services.get(incident.serviceId)
  if (change === null || !service) return
  const severityBefore = change === 'severity' && before !== null ? before.severity : null
  ctx.emit({ kind: 'notification-due', change, incident, service, severityBefore, actor, at: now })
}

/** Records the lowest score of the service during the incident. */
export function noteScore(ctx: Context, incident: LiveIncident, score: number): LiveIncident {
  if (incident.lowestScore !== null && incident.lowestScore <= score) return incident
  const after = { ...incident, lowestScore: score }
  ctx.emit({ kind: 'incident-changed', before: incident, after })
  return after
}

export type StepInput = {
  readonly step: Step
  readonly incident: LiveIncident | null
  readonly conditions: readonly Condition[]
  readonly score: number
  readonly now: number
}

/** Applies one step of the incident rules. Returns the updated incident. */
export function applyStep(ctx: Context, service: LiveService, taking: StepInput): LiveIncident | null {
  const { step, now } = taking
  if (step.do === 'reopen') return reopen(ctx, service, taking, step.alertIds)
  const incident = step.do === 'open' ? openByRule(ctx, service, step, now) : taking.incident
  if (!incident) return null
  if (step.do === 'open' || step.do === 'join') {
    return noteScore(ctx, addAlerts(ctx, incident, named(taking, step.alertIds)), taking.score)
  }
  const status = step.do === 'move' ? step.to : 'resolved'
  const after: LiveIncident = { ...incident, status, resolvedAt: step.do === 'resolve' ? step.at : null }
  return moveIncident(ctx, { before: incident, after, why: step.text, actor: null, now })
}

function openByRule(
  ctx: Context,
  service: LiveService,
  step: Extract<Step, { do: 'open' }>,
  now: number,
): LiveIncident {
  return openIncident(
    ctx,
    {
      serviceId: service.rowId,
      title: step.title.slice(0, MAX_TITLE),
      severity: 'critical',
      origin: 'automatic',
      cause: 'service',
      startedAt: step.startedAt < now - OLDEST_START ? now : Math.min(step.startedAt, now),
      touchedAt: null,
      text: `opened: ${service.name} is critical`,
      actor: null,
    },
    now,
  )
}

function reopen(
  ctx: Context,
  service: LiveService,
  taking: StepInput,
  alertIds: readonly string[],
): LiveIncident | null {
  const incident = lastResolvedIncident(ctx.state, service.rowId)
  if (!incident) return null
  const status = incident.acknowledgedAt === null ? 'open' : 'investigating'
  const after: LiveIncident = { ...incident, status, resolvedAt: null }
  const why = `${service.name} is critical again`
  return addAlerts(
    ctx,
    moveIncident(ctx, { before: incident, after, why, actor: null, now: taking.now }),
    named(taking, alertIds),
  )
}

function named({ conditions }: StepInput, alertIds: readonly string[]): LiveAlert[] {
  const ids = new Set(alertIds)
  return conditions.filter(({ uuid }) => ids.has(uuid)).map(({ live }) => live)
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
  if (origin !== 'automatic' || cause !== 'service' || touchedAt !== null || status === 'resolved') return
  const ids = new Set(causes)
  const first = conditions.filter(({ uuid }) => ids.has(uuid)).sort(byStartAndName)[0]
  if (!first) return
  const title = `${service.name}: ${first.name}`.slice(0, MAX_TITLE)
  const isFirst =
    (first.startsAt < incident.startedAt && first.startsAt >= incident.createdAt - OLDEST_START) ||
    (first.startsAt === incident.startedAt && title < incident.title)
  if (!isFirst) return
  const after = { ...incident, title, startedAt: first.startsAt }
  moveIncident(ctx, { before: incident, after, why: null, actor: null, now })
}

/**
 * Counts a new alert as part of the open incident of its service. Returns the row id of the incident, or null if no
 * incident is open. Called for alerts that do not change the health.
 */
export function joinOpenIncident(ctx: Context, serviceId: number): number | null {
  const incident = oldestOpenIncident(ctx.state, serviceId)
  if (!incident) return null
  const after = { ...incident, alertCount: incident.alertCount + 1 }
  ctx.emit({ kind: 'incident-changed', before: incident, after })
  return incident.rowId
}

/**
 * Adds alerts to an incident, except for alerts that already belong to the incident. Adds no timeline entries, because
 * the timeline lists all alerts of the incident anyway.
 */
function addAlerts(ctx: Context, incident: LiveIncident, alerts: readonly LiveAlert[]): LiveIncident {
  const joining = alerts.filter(({ incidentId }) => incidentId !== incident.rowId)
  if (joining.length === 0) return incident
  const after = { ...incident, alertCount: incident.alertCount + joining.length }
  ctx.emit({ kind: 'incident-changed', before: incident, after })
  for (const { rowId } of joining) {
    const live = ctx.state.alerts.get(rowId)
    if (live)
      ctx.emit({ kind: 'alert-changed', before: live, after: { ...live, incidentId: incident.rowId }, texts: null })
  }
  return after
}
