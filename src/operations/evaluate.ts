/** Evaluation: a service's health and the incidents that follow from it, loaded, decided, saved. */
import { DECAY, type Health, healthOf } from '../domain/health.ts'
import { decide, type Step } from '../domain/incident.ts'
import { rank } from '../domain/severity.ts'
import { isUnattributed } from '../domain/signal.ts'
import type { ActiveAlert } from '../store/active-alerts.ts'
import { type ConditionRow, listConditions, listNodeTroubles } from '../store/conditions.ts'
import {
  findLastResolvedIncident,
  findOldestOpenIncident,
  type IncidentRow,
  insertIncident,
  joinAlerts,
  noteScore,
} from '../store/incident-rows.ts'
import { loadSettings } from '../store/organizations.ts'
import { findServiceById, type ServiceRow, storeEvaluation } from '../store/service-rows.ts'
import { insertTimelineEntry } from '../store/timeline.ts'
import type { Deps } from './deps.ts'
import { moveIncident } from './incident-moves.ts'

/** A pod's trouble that begins this close to its node's is the node's. */
const NODE_WITHIN = 10 * 60_000
/** No event says that a pod came back with its node: what events showed of it fires for an hour more. */
const LINGERS = 60 * 60_000

/** Evaluates one service at `now`, inside the caller's transaction; null where a merge has removed it. */
export function evaluate(deps: Deps, serviceId: number, now: number): Health | null {
  const { db } = deps
  const service = findServiceById(db, serviceId)
  if (!service) return null
  const conditions = listConditions(db, serviceId, now - DECAY)
  const neverCritical = isUnattributed(service)
  const health = healthOf(conditions, now, { neverCritical })
  const healthySince = health.status === 'healthy' ? (service.healthySince ?? now) : null
  const settings = loadSettings(db, service.organizationId)
  const current = findOldestOpenIncident(db, serviceId)
  const explained = explainedByNodes(deps, service, { conditions, now })
  const decision = decide({
    now,
    opens: settings['auto-incidents'] === 'critical' && !neverCritical,
    resolves: settings['auto-resolve'],
    serviceName: service.name,
    health,
    healthySince,
    believed: service.believed,
    alerts: conditions,
    explained,
    current: current && {
      status: current.status,
      moves: current.origin === 'automatic' && current.cause === 'service',
      acknowledged: current.acknowledgedAt !== null,
      touchedAt: current.touchedAt,
    },
    lastResolvedAt: current ? null : (findLastResolvedIncident(db, serviceId)?.resolvedAt ?? null),
  })
  const evaluateAt = earliest(health.changesAt, decision.changesAt)
  storeEvaluation(db, serviceId, { health, healthySince, believed: decision.believed, evaluateAt })
  if (current) noteScore(db, current.id, health.score)
  let incident = current
  for (const step of decision.steps)
    incident = take(deps, service, { step, incident, conditions, score: health.score, now })
  const causes = health.critical.filter(({ alertId }) => !explained.has(alertId)).map(({ alertId }) => alertId)
  if (incident) nameAfterFirst(deps, service, { incident, causes, conditions, now })
  if (health.status !== service.status) {
    deps.announce({ kind: 'service', id: service.uuid, organizationId: service.organizationId })
  }
  return health
}

/** The alerts of pods whose node fell into trouble at about the same time. */
function explainedByNodes(
  deps: Deps,
  service: ServiceRow,
  { conditions, now }: { readonly conditions: readonly ConditionRow[]; readonly now: number },
): Set<string> {
  if (service.name.startsWith('node/')) return new Set()
  const nodes = [...new Set(conditions.flatMap(({ node }) => node ?? []))]
  const troubles = listNodeTroubles(deps.db, service.organizationId, service.cluster, nodes, now - LINGERS)
  const explained = conditions.filter((condition) =>
    troubles.some(({ node, startsAt }) => node === condition.node && isNear(condition, startsAt)),
  )
  // The mixin's alerts on such pods bear no node and come a quarter of an hour later: they only repeat what is explained.
  const serious = conditions.filter(({ source, status, severity }) => {
    return source === 'cluster' && status === 'firing' && rank(severity) >= rank('error')
  })
  const isAll = serious.length > 0 && serious.every((condition) => explained.includes(condition))
  const repeating = isAll
    ? conditions.filter(({ source, severity }) => source !== 'cluster' && severity === 'warning')
    : []
  return new Set([...explained, ...repeating].map(({ uuid }) => uuid))
}

/** A condition of many pods, as a DaemonSet's while one node after the other restarts, is near wherever it was last seen. */
function isNear({ source, startsAt, lastSeenAt }: ConditionRow, nodeStartsAt: number): boolean {
  const times = source === 'cluster' ? [startsAt, lastSeenAt] : [startsAt]
  return times.some((time) => Math.abs(nodeStartsAt - time) <= NODE_WITHIN)
}

/** A sender whose clock says 1970 says nothing of when the trouble began. */
const OLDEST_START = 400 * 24 * 3_600_000

type Taking = {
  readonly step: Step
  readonly incident: IncidentRow | null
  readonly conditions: readonly ConditionRow[]
  readonly score: number
  readonly now: number
}

/** Carries out one step; the incident after it. */
function take(deps: Deps, service: ServiceRow, taking: Taking): IncidentRow | null {
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
function nameAfterFirst(
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
  const first = conditions
    .filter(({ uuid }) => causes.includes(uuid))
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

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
