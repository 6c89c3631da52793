/** Steps: what the rules decided of a service's incident, carried out inside the caller's transaction. */
import type { Step } from '../domain/incident/incident.ts'
import { rank } from '../domain/severity.ts'
import type { ActiveAlert } from '../store/active-alerts.ts'
import type { ConditionRow } from '../store/conditions.ts'
import {
  findLastResolvedIncident,
  findOldestOpenIncident,
  type IncidentRow,
  insertIncident,
  joinAlerts,
  noteScore,
} from '../store/incident-rows.ts'
import type { ServiceRow } from '../store/service-rows.ts'
import { insertTimelineEntry } from '../store/timeline.ts'
import type { Deps } from './deps.ts'
import { moveIncident } from './incident-moves.ts'

/** A sender whose clock says 1970 says nothing of when the trouble began. */
const OLDEST_START = 400 * 24 * 3_600_000

export type Taking = {
  readonly step: Step
  readonly incident: IncidentRow | null
  readonly conditions: readonly ConditionRow[]
  readonly score: number
  readonly now: number
}

/** Carries out one step; the incident after it. */
export function takeStep(deps: Deps, service: ServiceRow, taking: Taking): IncidentRow | null {
  const { step, now } = taking
  const incident = step.do === 'open' ? openIncident(deps, service, step, now) : taking.incident
  if (step.do === 'reopen') return reopen(deps, service, taking, step.alertIds)
  if (!incident) return null
  const { organizationId } = service
  deps.announce({ kind: 'incident', id: incident.uuid, organizationId })
  if (step.do === 'open' || step.do === 'join') {
    addAlerts(deps, incident, named(taking, step.alertIds))
    noteScore(deps.db, incident.id, taking.score)
    return incident
  }
  const status = step.do === 'move' ? step.to : 'resolved'
  const after: IncidentRow = { ...incident, status, resolvedAt: step.do === 'resolve' ? step.at : null }
  return moveIncident(deps, { before: incident, after, why: step.text, actor: null, now }) ? after : incident
}

/**
 * What is told late may have begun first: until a person touches it, an incident begins with, and is called after, the
 * first of its critical alerts, in whatever order they came.
 */
export function nameAfterFirst(
  deps: Deps,
  service: ServiceRow,
  found: {
    readonly incident: IncidentRow
    readonly causes: readonly string[]
    readonly conditions: readonly ConditionRow[]
    readonly now: number
  },
): void {
  const { incident, causes, conditions, now } = found
  const { origin, cause, touchedAt, status } = incident
  if (origin !== 'automatic' || cause !== 'service' || touchedAt !== null || status === 'resolved') return
  const ids = new Set(causes)
  const first = conditions
    .filter(({ uuid }) => ids.has(uuid))
    .sort((a, b) => a.startsAt - b.startsAt || (a.name < b.name ? -1 : 1))[0]
  if (!first) return
  const title = titleOf(service, first)
  const isFirst =
    (first.startsAt < incident.startedAt && first.startsAt >= incident.createdAt - OLDEST_START) ||
    (first.startsAt === incident.startedAt && title < incident.title)
  if (!isFirst) return
  const after = { ...incident, title, startedAt: first.startsAt }
  moveIncident(deps, { before: incident, after, why: null, actor: null, now })
}

function titleOf(service: ServiceRow, { name }: ConditionRow): string {
  return `${service.name}: ${name}`.slice(0, 200)
}

function openIncident(deps: Deps, service: ServiceRow, step: Extract<Step, { do: 'open' }>, now: number): IncidentRow {
  const incident = insertIncident(deps.db, {
    uuid: deps.newId(),
    organizationId: service.organizationId,
    serviceId: service.id,
    title: step.title.slice(0, 200),
    severity: 'critical',
    status: 'open',
    origin: 'automatic',
    cause: 'service',
    createdAt: now,
    startedAt: step.startedAt < now - OLDEST_START ? now : Math.min(step.startedAt, now),
    acknowledgedAt: null,
    resolvedAt: null,
    touchedAt: null,
  })
  const text = `opened: ${service.name} is critical`
  insertTimelineEntry(deps.db, incident.id, { at: now, kind: 'opened', text, actor: null, ref: null })
  return incident
}

function reopen(deps: Deps, service: ServiceRow, taking: Taking, alertIds: readonly string[]): IncidentRow | null {
  const incident = findLastResolvedIncident(deps.db, service.id)
  if (!incident) return null
  const status = incident.acknowledgedAt === null ? 'open' : 'investigating'
  const after: IncidentRow = { ...incident, status, resolvedAt: null }
  const why = `${service.name} is critical again`
  if (!moveIncident(deps, { before: incident, after, why, actor: null, now: taking.now })) return incident
  addAlerts(deps, after, named(taking, alertIds))
  return after
}

function named({ conditions }: Taking, alertIds: readonly string[]): readonly ConditionRow[] {
  const ids = new Set(alertIds)
  return conditions.filter(({ uuid }) => ids.has(uuid))
}

/** An alert that changes nothing of its service's health still belongs to the incident that people work on. */
export function joinOpenIncident(deps: Deps, active: ActiveAlert): void {
  const { uuid, id, serviceId, alert } = active
  const incident = rank(alert.severity) >= rank('warning') ? findOldestOpenIncident(deps.db, serviceId) : null
  if (incident) addAlerts(deps, incident, [{ ...alert, id, uuid }])
}

type Joining = Pick<ConditionRow, 'id' | 'uuid' | 'name' | 'summary' | 'startsAt'>

function addAlerts(deps: Deps, incident: IncidentRow, joining: readonly Joining[]): void {
  joinAlerts(
    deps.db,
    incident.id,
    joining.map(({ id }) => id),
  )
  for (const { startsAt, name, summary, uuid } of joining) {
    const text = summary === name ? name : `${name}: ${summary}`
    insertTimelineEntry(deps.db, incident.id, { at: startsAt, kind: 'alert', text, actor: null, ref: `alert/${uuid}` })
  }
}
