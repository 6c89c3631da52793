/** Checks that every service was evaluated when it had to be. */
import assert from 'node:assert/strict'
import { evaluate } from '../../src/domain/decide/evaluate.ts'
import { createJournal } from '../../src/domain/state/collections.ts'
import { createContext } from '../../src/domain/state/context.ts'
import type { Effect } from '../../src/domain/state/effect.ts'
import type { OrganizationState } from '../../src/domain/state/state.ts'
import type { EngineStore } from '../../src/engine/store.ts'

/** Evaluates every service again, which must not change any health or incident. Must be called after a sweep. */
export async function checkEvaluated(store: EngineStore, organizationId: number, now: number): Promise<void> {
  const state = await store.load(createJournal(), organizationId, now)
  assert.ok(state)
  const visible = changeOf(state)
  const effects: Effect[] = []
  const ids = { newId: () => 'new', rowId: () => 1_000_000, hashOf: () => 0, forgetDrafts: () => {} }
  const environment = { ...ids, cached: <Found>(_: object, find: () => Found) => find() }
  const history = { fact: store.fact, isFault: () => false }
  const ctx = createContext(state, createJournal(), environment, history, effects)
  for (const serviceId of [...state.services.keys()]) evaluate(ctx, serviceId, now)
  assert.deepEqual(effects.flatMap(visible), [], 'evaluating once more changes nothing')
}

/**
 * Describes the visible changes of an effect. An alert that was moved to another service, or whose service has several
 * incidents after a merge, stays in its incident. When that incident is resolved, the alert joins the next one with any
 * evaluation.
 */
function changeOf(state: OrganizationState): (effect: Effect) => readonly string[] {
  const isMoved = [...state.alerts.values()].some(
    ({ incidentId, serviceId }) => incidentId !== null && state.incidents.get(incidentId)?.serviceId !== serviceId,
  )
  const isMerged = [...state.incidentsOfService.keys()].some((id) => state.incidentsOfService.get(id).size > 1)
  const textOf = ({ status, alertCount }: { readonly status: string; readonly alertCount: number }) =>
    isMoved || isMerged ? status : `${status} with ${alertCount} alerts`
  return (effect) => {
    switch (effect.kind) {
      case 'service-changed': {
        const [before, after] = [effect.before, effect.after].map(({ health }) => `${health.status} ${health.score}`)
        return before === after ? [] : [`${effect.after.name} becomes ${after}, not ${before}`]
      }
      case 'incident-opened':
        return [`incident opens: ${effect.incident.title}`]
      case 'incident-changed': {
        const [before, after] = [textOf(effect.before), textOf(effect.after)]
        return before === after ? [] : [`incident ${effect.after.rowId} becomes ${after}, not ${before}`]
      }
      case 'alert-silenced':
        return [`alert ${effect.after.rowId} is silenced by ${effect.after.silencedBy}`]
      default:
        return []
    }
  }
}
