/** Finds the rollouts of a service in the events of its Deployments. */
import { endsCanary, removesEndpoints, rolloutOf } from '../event/rollout.ts'
import type { Emptied, RolloutChange } from './change.ts'

/** Kubernetes reports a rollout as stuck after this time (`progressDeadlineSeconds`). */
const ROLLOUT_LASTS = 10 * 60_000

/** A stored ScalingReplicaSet event. */
export type ScalingEvent = {
  readonly eventId: string
  readonly object: string
  readonly text: string
  readonly at: number
}

/** How long after the old ReplicaSet is gone the new one appears (strategy `Recreate`). */
const RECREATED = 2 * 60_000

/**
 * Returns a service's rollouts. A rollout is the first scale-up of a ReplicaSet that differs from the Deployment's
 * previous ReplicaSet. Adding replicas to the same ReplicaSet is not a rollout. A rollback is also a rollout, and so is
 * whatever leaves nothing to serve: the scale-down to zero, and the removal of a selector or of endpoints.
 */
export function rolloutsOf(events: readonly ScalingEvent[], service: ChangedService): RolloutChange[] {
  const inOrder = [...events].sort((a, b) => a.at - b.at || (a.eventId < b.eventId ? -1 : 1))
  const last = new Map<string, string>()
  const seen = new Set<string>()
  /** The previous ReplicaSet of each Deployment, until it is scaled down. */
  const serving = new Map<string, string>()
  const changes = inOrder.flatMap((event): RolloutChange[] => {
    const rollout = rolloutOf(event.text)
    if (!rollout) return removesEndpoints(event.text) ? [changeOf(event, service, '', 'endpoints removed')] : []
    // More or fewer replicas of the same pod template.
    if (rollout.hash === '' && rollout.to > 0) return []
    const before = last.get(event.object)
    const template = `${event.object} ${rollout.hash}`
    const isRollback = rollout.isBack ?? seen.has(template)
    seen.add(template)
    if (rollout.direction === 'down') {
      if (endsCanary(event, inOrder)) {
        // The ReplicaSet before it has served all the time, and nothing is known of it.
        last.delete(event.object)
        return []
      }
      if (rollout.hash === serving.get(event.object)) serving.delete(event.object)
      const isOwn = rollout.hash === '' || (before ?? rollout.hash) === rollout.hash
      const isLast = rollout.to === 0 && isOwn && !isRecreated(event, inOrder)
      const old = rollout.hash === '' ? undefined : serving.get(event.object)
      if (isLast && old !== undefined) {
        // The old ReplicaSet has served all the time: somebody took the new one back.
        last.set(event.object, old)
        return [{ ...changeOf(event, service, old), isRollback: true }]
      }
      return isLast ? [{ ...changeOf(event, service, rollout.hash, 'scaled to zero'), ...templateOf(rollout) }] : []
    }
    if (before === rollout.hash) return []
    if (before !== undefined) serving.set(event.object, before)
    last.set(event.object, rollout.hash)
    // If the first known event of a Deployment starts from existing replicas, the event merely adds replicas.
    if (before === undefined && (rollout.from ?? 0) > 0) return []
    return [{ ...changeOf(event, service, rollout.hash), isRollback, ...templateOf(rollout) }]
  })
  return changes.filter((one) => !isVague(one) || !changes.some((other) => tellsMore(other, one)))
}

/** The controller and a watched cluster both report a scale-down to zero. The controller does not say who did it. */
function isVague({ emptied, template }: RolloutChange): boolean {
  return emptied === 'scaled to zero' && template === undefined
}

function tellsMore(one: RolloutChange, vague: RolloutChange): boolean {
  const isSame = one.emptied === vague.emptied && one.ref === vague.ref
  return isSame && one.template !== undefined && Math.abs(one.startsAt - vague.startsAt) <= RECREATED
}

function templateOf({ template = '' }: { readonly template?: string }): Pick<RolloutChange, 'template'> {
  return template === '' ? {} : { template }
}

type ChangedService = { readonly id: string; readonly namespace: string }

function isRecreated({ object, at }: ScalingEvent, events: readonly ScalingEvent[]): boolean {
  return events.some((one) => {
    const isSoon = one.object === object && Math.abs(one.at - at) <= RECREATED
    return isSoon && rolloutOf(one.text)?.direction === 'up'
  })
}

function changeOf({ object, eventId, at }: ScalingEvent, service: ChangedService, hash: string, emptied?: Emptied) {
  const name = object.slice(object.indexOf('/') + 1)
  const what = emptied === undefined ? hash : emptied === 'scaled to zero' ? '0' : 'endpoints'
  return {
    kind: 'rollout' as const,
    ref: `${service.namespace}/${name}@${what}`,
    service: service.id,
    eventId,
    startsAt: at,
    endsAt: at + ROLLOUT_LASTS,
    hash,
    isRollback: false,
    ...(emptied === undefined ? {} : { emptied }),
  }
}
