/** Finds the ends of conditions, and what goes on of other services whose incidents were merged into one. */

import { worseEndOf } from '../../../domain/alert/fingerprints.ts'
import { BACKLOG, incidentDueAt } from '../../../domain/alert/unavailable.ts'
import { circumstancesOf, healthOf, isDrained } from '../../../domain/health/health.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import type { Burning, Ended } from '../../../domain/incident/problem.ts'
import { beatsFor, heldUntil } from '../../../domain/sender/beats.ts'
import { conditionOf, isConditionOf } from '../../../domain/text.ts'
import type { Context } from '../../state/context.ts'
import type { OrganizationState } from '../../state/state.ts'
import { beatsOf, type Condition, conditionsOf, senderOf } from '../conditions.ts'
import { freedFrom } from '../silenced.ts'

/** Returns the end of a condition, or the last report of one that Kubernetes reported: it can be critical no more without an end. */
export function endOf(state: OrganizationState, { name, endsAt, live }: Condition): Ended[] {
  const { alert, fingerprints, serviceId, groupId } = live
  // A user who resolves an alert can be wrong, too. An alert that still fires as a warning is not critical any more.
  const reported = alert.source === 'cluster' ? { endsAt: alert.lastSeenAt, isGuess: true, isOpen: true } : null
  const end =
    endsAt === null
      ? (worseEndOf(alert, fingerprints) ?? reported)
      : { endsAt, isGuess: alert.resolution !== 'reported' }
  if (!end) return []
  if (end.isGuess || groupId === null) return [{ name, ...end }]
  const beats = beatsFor(beatsOf(state, senderOf(state, live).sender), state.services.get(serviceId)?.cluster ?? '')
  return [{ name, ...end, heldUntil: heldUntil(end.endsAt, alert.startsAt, beats) }]
}

/** Returns how the conditions of a service are named in an incident of the service `ownId`. */
export function namerOf({ services }: OrganizationState, serviceId: number, ownId: number): (name: string) => string {
  const [service, own] = [services.get(serviceId), services.get(ownId)]
  return (name) => (service && own ? conditionOf(name, service, own) : name)
}

/** Returns how the conditions of an incident are named in another one. What was merged before is named after its own service. */
export function mergedNamerOf(state: OrganizationState, from: LiveIncident, into: LiveIncident) {
  const nameOf = namerOf(state, from.serviceId, into.serviceId)
  const others = from.problem.others.flatMap((rowId) => state.services.get(rowId) ?? [])
  return (name: string) => (others.some((service) => isConditionOf(name, service)) ? name : nameOf(name))
}

/**
 * Returns the conditions of an incident that other services have, by service, and how the incident names them.
 * @param ready a node that is ready again; conditions of its pods are left out
 */
function partsOf(
  { state }: Context,
  { rowId, problem, serviceId: ownId }: LiveIncident,
  endedSince: number,
  ready: string | null = null,
) {
  return problem.others.map((serviceId) => {
    const own = conditionsOf(state, serviceId, endedSince).filter(({ live }) => {
      const isOver = ready !== null && live.alert.node === ready
      return live.incidentId === rowId && !isOver
    })
    return { own, nameOf: namerOf(state, serviceId, ownId) }
  })
}

/**
 * Returns the critical conditions of other services that belong to an incident, because of a merge or a failed node.
 * @param ready see `partsOf`
 */
export function burningElsewhere(ctx: Context, incident: LiveIncident, now: number, ready?: string | null): Burning[] {
  return partsOf(ctx, incident, now, ready).flatMap(({ own, nameOf }) => {
    const counted = own.filter(({ live }) => live.silencedBy.length === 0)
    const byId = new Map(counted.map((one) => [one.uuid, one]))
    const drained = isDrained(counted)
    return healthOf(counted, now).critical.flatMap(({ alertId, by }) => {
      const found = byId.get(alertId)
      // What Kubernetes reports anew opens an incident of its own as soon as it is due.
      const isAnew = by === 'events' && found && found.begunAt > found.startsAt
      const dueAt = isAnew ? incidentDueAt(found, now, circumstancesOf(found, drained)) : now
      if (!found || dueAt === null) return []
      const name = nameOf(found.name)
      return dueAt <= now + (incident.problem.firing.includes(name) ? BACKLOG : 0) ? [{ ...found, name }] : []
    })
  })
}

/** Returns the ends of the conditions that a merge moved into an incident of another service. */
export function endedElsewhere(ctx: Context, incident: LiveIncident, now: number): Ended[] {
  return partsOf(ctx, incident, incident.problem.since ?? now).flatMap(({ own, nameOf }) =>
    own.flatMap((one) => endOf(ctx.state, one)).map((one) => ({ ...one, name: nameOf(one.name) })),
  )
}

/** Returns the silenced conditions of other services that an incident has had. @param ready see `partsOf` */
export function mutedElsewhere(ctx: Context, incident: LiveIncident, now: number, ready?: string | null): Burning[] {
  return partsOf(ctx, incident, now, ready).flatMap(({ own, nameOf }) => {
    const muted = own.filter(({ live, status }) => {
      const isCritical = worseEndOf(live.alert, live.fingerprints) === null
      return status === 'firing' && live.silencedBy.length > 0 && isCritical
    })
    const named = muted.map((one) => ({ ...mutedBy(ctx, one, now), name: nameOf(one.name) }))
    return named.filter(({ name }) => incident.problem.had.includes(name))
  })
}

/** Returns a silenced condition, and since when silences cover it. */
export function mutedBy(ctx: Context, one: Condition, now: number): Burning {
  const { name, since, onset, begunAt } = one
  // The silences may have just been found.
  const live = ctx.state.alerts.get(one.live.rowId) ?? one.live
  const window = freedFrom(ctx, { ...one, live }, now)
  const covered = window && { since: Math.max(since, begunAt), from: window.startsAt, until: now }
  return { name, since, onset, begunAt, ...(covered ? { covered } : {}) }
}
