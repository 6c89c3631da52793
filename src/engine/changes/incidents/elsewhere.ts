/** Finds the ends of conditions, and what goes on of other services whose incidents were merged into one. */
import { worseEndOf } from '../../../domain/alert/fingerprints.ts'
import { healthOf } from '../../../domain/health/health.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import { conditionOf } from '../../../domain/incident/merge.ts'
import type { Burning, Ended } from '../../../domain/incident/problem.ts'
import { beatsFor, heldUntil } from '../../../domain/sender/beats.ts'
import type { Context } from '../../state/context.ts'
import type { OrganizationState } from '../../state/state.ts'
import { beatsOf, type Condition, conditionsOf, senderOf } from '../conditions.ts'

/** Returns the end of a condition, or none while it is critical. */
export function endOf(state: OrganizationState, { name, endsAt, live }: Condition): Ended[] {
  const { alert, fingerprints, serviceId, groupId } = live
  // A user who resolves an alert can be wrong, too. An alert that still fires as a warning is not critical any more.
  const end = endsAt === null ? worseEndOf(alert, fingerprints) : { endsAt, isGuess: alert.resolution !== 'reported' }
  if (!end) return []
  if (end.isGuess || groupId === null) return [{ name, ...end }]
  const beats = beatsFor(beatsOf(state, senderOf(state, live).sender), state.services.get(serviceId)?.cluster ?? '')
  return [{ name, ...end, heldUntil: heldUntil(end.endsAt, alert.startsAt, beats) }]
}

/**
 * Returns the critical conditions of other services that belong to an incident, because of a merge or a failed node.
 * @param ready a node that is ready again; conditions of its pods are left out
 */
export function burningElsewhere(
  { state }: Context,
  { rowId, problem }: LiveIncident,
  now: number,
  ready: string | null = null,
): Burning[] {
  return problem.others.flatMap((serviceId) => {
    const own = conditionsOf(state, serviceId, now).filter(({ live }) => {
      const isOver = ready !== null && live.alert.node === ready
      return live.incidentId === rowId && live.silencedBy.length === 0 && !isOver
    })
    const byId = new Map(own.map((one) => [one.uuid, one]))
    const service = state.services.get(serviceId)?.name ?? ''
    return healthOf(own, now).critical.flatMap(({ alertId }) => {
      const found = byId.get(alertId)
      return found ? [{ ...found, name: conditionOf(found.name, service) }] : []
    })
  })
}

/** Returns the ends of the conditions that a merge moved into an incident of another service. */
export function endedElsewhere({ state }: Context, { rowId, problem }: LiveIncident, now: number): Ended[] {
  return problem.others.flatMap((serviceId) => {
    const service = state.services.get(serviceId)?.name ?? ''
    const own = conditionsOf(state, serviceId, problem.since ?? now).filter(({ live }) => live.incidentId === rowId)
    return own.flatMap((one) => endOf(state, one)).map((one) => ({ ...one, name: conditionOf(one.name, service) }))
  })
}

/** Returns the silenced conditions of other services that an incident has had. @param ready see `burningElsewhere` */
export function mutedElsewhere(
  { state }: Context,
  { rowId, problem }: LiveIncident,
  now: number,
  ready: string | null = null,
): string[] {
  return problem.others.flatMap((serviceId) => {
    const service = state.services.get(serviceId)?.name ?? ''
    return conditionsOf(state, serviceId, now).flatMap(({ live, name, status }) => {
      const isMuted = status === 'firing' && live.silencedBy.length > 0 && live.incidentId === rowId
      const isOver = ready !== null && live.alert.node === ready
      const condition = conditionOf(name, service)
      const isCritical = worseEndOf(live.alert, live.fingerprints) === null
      return isMuted && isCritical && !isOver && problem.had.includes(condition) ? [condition] : []
    })
  })
}
