/** Evaluation: a service's health and the incidents that follow from it, loaded, decided, saved. */

import { isUnattributed } from '../domain/alert/signal.ts'
import { DECAY, type Health, healthOf } from '../domain/health/health.ts'
import { explainedByNodes } from '../domain/health/node-trouble.ts'
import { decide } from '../domain/incident/incident.ts'
import { type ConditionRow, listConditions, listNodeTroubles } from '../store/conditions.ts'
import { findLastResolvedIncident, findOldestOpenIncident, noteScore } from '../store/incident-rows.ts'
import { loadSettings } from '../store/organizations.ts'
import { findHabits } from '../store/sender-habits.ts'
import { findEvaluatedService, storeEvaluation } from '../store/service-evaluations.ts'
import type { ServiceRow } from '../store/service-rows.ts'
import { recordState } from '../store/service-states.ts'
import type { Deps } from './deps.ts'
import { nameAfterFirst, takeStep } from './incident-steps.ts'
import { withoutSilenced } from './silences.ts'

/** No event says that a pod came back with its node: what events showed of it fires for an hour more. */
const LINGERS = 60 * 60_000

/** Evaluates one service at `now`, inside the caller's transaction; null where a merge has removed it. */
export function evaluate(deps: Deps, serviceId: number, now: number): Health | null {
  const { db } = deps
  const service = findEvaluatedService(db, serviceId)
  if (!service) return null
  const conditions = withoutSilenced(deps, service, listConditions(db, serviceId, now - DECAY), now)
  const neverCritical = isUnattributed(service)
  const habits = findHabits(db, service.organizationId)
  const health = healthOf(conditions, now, { neverCritical, ...habits })
  const healthySince = health.status === 'healthy' ? (service.healthySince ?? now) : null
  const settings = loadSettings(db, service.organizationId)
  const current = findOldestOpenIncident(db, serviceId)
  const explained = explainedOf(deps, service, conditions, now)
  const decision = decide({
    now,
    opens: settings['auto-incidents'] === 'critical' && !neverCritical,
    resolves: settings['auto-resolve'],
    serviceName: service.name,
    health,
    ...habits,
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
  recordState(db, serviceId, { at: now, status: health.status, score: health.score })
  storeEvaluation(db, serviceId, { health, healthySince, believed: decision.believed, evaluateAt })
  if (current) noteScore(db, current.id, health.score)
  let incident = current
  for (const step of decision.steps)
    incident = takeStep(deps, service, { step, incident, conditions, score: health.score, now })
  const causes = health.critical.filter(({ alertId }) => !explained.has(alertId)).map(({ alertId }) => alertId)
  if (incident) nameAfterFirst(deps, service, { incident, causes, conditions, now })
  if (health.status !== service.status) {
    deps.announce({ kind: 'service', id: service.uuid, organizationId: service.organizationId })
  }
  return health
}

/** The alerts that the trouble of the nodes they run on accounts for. */
function explainedOf(
  deps: Deps,
  service: ServiceRow,
  conditions: readonly ConditionRow[],
  now: number,
): ReadonlySet<string> {
  if (service.name.startsWith('node/')) return new Set()
  const nodes = [...new Set(conditions.flatMap(({ node }) => node ?? []))]
  const troubles = listNodeTroubles(deps.db, service.organizationId, service.cluster, nodes, now - LINGERS)
  return explainedByNodes(conditions, troubles)
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
