/** Checks that every service was evaluated when it had to be. */
import assert from 'node:assert/strict'
import type { LiveService } from '../../src/domain/health/live-service.ts'
import type { LiveIncident } from '../../src/domain/incident/live-incident.ts'
import { DEFAULT_LIMITS } from '../../src/domain/limits.ts'
import { evaluate } from '../../src/engine/changes/evaluate.ts'
import { createContext, createEnvironment } from '../../src/engine/state/context.ts'
import type { Effect } from '../../src/engine/state/effect.ts'
import { type Changes, changesSince, createJournal, type RowChange } from '../../src/engine/state/journal.ts'
import type { OrganizationState } from '../../src/engine/state/state.ts'
import type { EngineStore } from '../../src/engine/store.ts'

/** Evaluates every service again, which must not change any health or incident. Must be called after a sweep. */
export async function checkEvaluated(store: EngineStore, organizationId: number, now: number): Promise<void> {
  const journal = createJournal()
  const state = await store.load(journal, organizationId, now)
  assert.ok(state)
  const visible = changesOf(state)
  const mark = journal.mark()
  const effects: Effect[] = []
  const given = { newId: () => 'new', hashOf: () => 0, limits: () => DEFAULT_LIMITS }
  const environment = { ...createEnvironment(given), rowId: () => 1_000_000 }
  const history = { fact: store.fact, isFault: () => false }
  const ctx = createContext(state, journal, environment, history, effects)
  for (const serviceId of [...state.services.keys()]) evaluate(ctx, serviceId, now)
  assert.deepEqual(visible(changesSince(journal, mark, effects)), [], 'evaluating once more changes nothing')
}

/**
 * Describes the visible changes. An alert that was moved to another service, or whose service has several incidents
 * after a merge, stays in its incident. When that incident is resolved, the alert joins the next one with any evaluation.
 */
function changesOf(state: OrganizationState): (changes: Changes) => readonly string[] {
  const isMoved = [...state.alerts.values()].some(
    ({ incidentId, serviceId }) => incidentId !== null && state.incidents.get(incidentId)?.serviceId !== serviceId,
  )
  const isMerged = [...state.incidentsOfService.keys()].some((id) => state.incidentsOfService.get(id).size > 1)
  const textOf = (incident: LiveIncident | null) => {
    if (incident === null) return 'none'
    return isMoved || isMerged ? incident.status : `${incident.status} with ${incident.alertCount} alerts`
  }
  const healthText = (service: LiveService | null) => service && `${service.health.status} ${service.health.score}`
  const differing = <Live>(changes: readonly RowChange<Live>[], text: (live: Live | null) => string | null) =>
    changes.flatMap(({ before, after }) => (text(before) === text(after) ? [] : `${text(after)}, not ${text(before)}`))
  return ({ rows }) => [
    ...differing(rows.services, healthText),
    ...differing(rows.incidents, textOf),
    ...differing(rows.alerts, (live) => `silenced by ${live?.silencedBy}`),
  ]
}
