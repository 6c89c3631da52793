/**
 * Computes links between changes and conditions. Links are computed when a change arrives and when a condition arrives,
 * so the order of arrival does not matter.
 */
import type { Change, PipelineChange, RolloutChange } from '../../domain/correlation/change.ts'
import {
  AFTER,
  BEFORE,
  type ConditionEvent,
  correlate,
  type Link,
  RELEVANT_BEFORE,
} from '../../domain/correlation/correlation.ts'
import { rolloutsOf, type ScalingEvent } from '../../domain/correlation/rollout.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import { cacheByKey } from '../../domain/memoize.ts'
import type { Notice } from '../../domain/notice.ts'
import type { LiveImage } from '../../domain/service/image.ts'
import { DAY, HOUR } from '../../domain/units.ts'
import type { LinksDue } from '../../engine/state/effect.ts'

type Linking = {
  readonly history: LinkHistory
  readonly rollouts: (of: { readonly service: LiveService; readonly to: number }) => readonly RolloutChange[]
  readonly service: LiveService
  readonly now: number
  readonly newId: () => string
  readonly notices: Notice[]
}

export type LinkKey = {
  readonly alertId: number
  readonly changeKind: 'pipeline' | 'rollout'
  readonly changeRef: string
}
/** `changeEvent`: the UUID of the change's event. */
export type LinkOwner = LinkKey & {
  readonly organizationId: number
  readonly serviceId: number
  readonly changeEvent: string
}

/** Stores links, and reads the history from which links are computed. Periods are inclusive, in Unix milliseconds. */
export type LinkHistory = {
  /** Returns a service's pipelines that started within this period, newest first. */
  readonly pipelines: (serviceId: number, from: number, to: number) => readonly PipelineChange[]
  /** Returns a pipeline, or null if it did not change the service. */
  readonly pipeline: (service: LiveService, ref: string) => PipelineChange | null
  /** Returns a service's most recent scaling events before a time. */
  readonly scalings: (serviceId: number, to: number) => readonly ScalingEvent[]
  readonly images: (serviceId: number) => readonly LiveImage[]
  /** Returns the events that show a condition, earliest first. */
  readonly sightings: (alertId: number, from: number, to: number) => readonly ConditionEvent[]
  /** Returns a service's conditions that can serve as evidence: not from CI, and not of severity info. */
  readonly evidence: (serviceId: number, from: number, to: number) => readonly number[]
  /** Returns the newest pipelines already linked to a condition. */
  readonly linkedPipelines: (alertId: number) => readonly PipelineChange[]
  /** Returns the conditions already linked to a change of the service. */
  readonly linkedAlerts: (serviceId: number, changeRef: string) => readonly number[]
  /** Returns the changes already linked to a condition, as `rollout shop/cart@6d4cf56db6`. */
  readonly linkedChanges: (alertId: number) => readonly string[]
  /** Inserts a link, or updates the one that exists. */
  readonly store: (of: LinkOwner, link: Link, made: { readonly id: string; readonly now: number }) => void
  /** Deletes a link unless it has a user's verdict. */
  readonly drop: (key: LinkKey) => void
}

/** Computes the links inside the batch's transaction. Returns a notice for each new link. */
export function computeLinks(history: LinkHistory, links: readonly LinksDue[], newId: () => string): readonly Notice[] {
  const notices: Notice[] = []
  const rollouts = cacheByKey(
    ({ service, to }: { readonly service: LiveService; readonly to: number }) => `${service.rowId} ${to}`,
    ({ service, to }) => readRollouts(history, service, to),
  )
  for (const { service, of, now } of merged(links)) computeLink({ history, rollouts, service, now, newId, notices }, of)
  return notices
}

/**
 * Merges the notifications about a pipeline, and the repeats of a condition within the same hour, and keeps only the
 * last move of each alert's start. Otherwise, hundreds of repeats would compute the same links hundreds of times.
 */
function merged(links: readonly LinksDue[]): Iterable<LinksDue> {
  const found = new Map<unknown, LinksDue>()
  for (const due of links) {
    const key = mergeKey(due)
    const known = found.get(key)?.of
    found.set(
      key,
      due.of.kind === 'condition' && known?.kind === 'condition' ? { ...due, of: union(known, due.of) } : due,
    )
  }
  return found.values()
}

function mergeKey(due: LinksDue): unknown {
  const { of, service } = due
  const hour = (time: number) => Math.floor(time / HOUR)
  if (of.kind === 'condition') return `${of.alertId} ${hour(of.firstSeenAt)} ${hour(of.at)}`
  if (of.kind === 'pipeline') return `${service.rowId} pipeline ${of.ref}`
  if (of.kind === 'changes') return `${service.rowId} changes ${of.from} ${of.to}`
  return of.kind === 'start' ? of.alertId : due
}

type Seen = { readonly alertId: number; readonly firstSeenAt: number; readonly at: number }

function union(a: Seen, b: Seen & { readonly kind: 'condition' }) {
  return { ...b, firstSeenAt: Math.min(a.firstSeenAt, b.firstSeenAt), at: Math.max(a.at, b.at) }
}

function computeLink(linking: Linking, of: LinksDue['of']): void {
  const { history, service } = linking
  switch (of.kind) {
    case 'condition':
      linkCondition(linking, of)
      break
    case 'start':
      linkCondition(linking, { alertId: of.alertId, firstSeenAt: of.at, at: of.at })
      for (const pipeline of history.linkedPipelines(of.alertId)) link(linking, pipeline, of.alertId, true)
      break
    case 'changes':
      for (const change of changesNear(linking, of.from, of.to)) linkChange(linking, change)
      break
    case 'pipeline': {
      const pipeline = history.pipeline(service, of.ref)
      if (pipeline) linkChange(linking, pipeline)
      break
    }
    case 'scaling':
      linkScaling(linking, of.eventId, of.at)
      break
    case 'moved':
      for (const alertId of history.linkedAlerts(service.rowId, of.ref)) {
        history.drop({ alertId, changeKind: of.change, changeRef: of.ref })
      }
  }
}

/** The maximum number of rollouts to link to a condition, newest first. At most 50 pipelines are read, too. */
const MAX_ROLLOUTS = 50

/** Links a condition to the service's changes around the same time, earliest first, so that sightings are read once. */
function linkCondition(linking: Linking, { alertId, firstSeenAt, at }: Seen): void {
  const near = changesNear(linking, firstSeenAt - DAY - AFTER, at + RELEVANT_BEFORE, MAX_ROLLOUTS).filter(
    ({ startsAt, endsAt }) => at >= startsAt - RELEVANT_BEFORE && firstSeenAt <= endsAt + AFTER,
  )
  if (near.length === 0) return
  const linked = new Set(linking.history.linkedChanges(alertId))
  for (const change of near.sort((a, b) => a.startsAt - b.startsAt))
    link(linking, change, alertId, linked.has(`${change.kind} ${change.ref}`))
}

/** Links a change to the conditions around the same time, and deletes links that are no longer valid. */
function linkChange(linking: Linking, change: Change): void {
  const { history, service } = linking
  const near = history.evidence(service.rowId, change.startsAt - BEFORE, change.endsAt + AFTER)
  const linked = new Set(history.linkedAlerts(service.rowId, change.ref))
  for (const alertId of new Set([...near, ...linked])) link(linking, change, alertId, linked.has(alertId))
}

/**
 * Processes a scaling event. If the event starts a rollout, the rollout is a change. It also confirms earlier pipelines,
 * unless an earlier rollout has already done that. All other links stay as they are, so the work does not grow with the
 * number of changes. A late event can also begin or end the rollout that follows it.
 */
function linkScaling(linking: Linking, eventId: string, at: number): void {
  const { history, service } = linking
  const rollouts = rolloutsNear(linking, at)
  const begun = rollouts.find((rollout) => rollout.eventId === eventId)
  if (!begun) return
  const isLate = history.scalings(service.rowId, at + DAY).some((event) => event.at > at)
  const isConfirmed = ({ startsAt }: Change) =>
    !isLate && rollouts.some((one) => one !== begun && one.startsAt >= startsAt - BEFORE)
  const next = rolloutsNear(linking, at + DAY).find((one) => one.startsAt > at && objectOf(one) === objectOf(begun))
  for (const change of changesNear(linking, at - DAY, isLate ? at + DAY : at + AFTER)) {
    const isAffected = change.kind === 'pipeline' ? !isConfirmed(change) : [begun.ref, next?.ref].includes(change.ref)
    if (isAffected) linkChange(linking, change)
  }
}

function objectOf({ ref, hash }: RolloutChange): string {
  return ref.slice(0, -hash.length)
}

/** Returns the service's changes that started within this period. */
function changesNear(linking: Linking, from: number, to: number, mostRollouts = Number.POSITIVE_INFINITY): Change[] {
  const { history, service } = linking
  const rollouts = rolloutsNear(linking, to).filter(({ startsAt }) => startsAt >= from && startsAt <= to)
  return [...history.pipelines(service.rowId, from, to), ...rollouts.slice(-mostRollouts)]
}

function rolloutsNear({ rollouts, service }: Linking, to: number): readonly RolloutChange[] {
  return rollouts({ service, to })
}

function readRollouts(history: LinkHistory, service: LiveService, to: number): readonly RolloutChange[] {
  const found = rolloutsOf(history.scalings(service.rowId, to), { id: service.id, namespace: service.namespace })
  // A rollout that is received late can show that a scale-down to zero was part of it. Links are never withdrawn.
  return found.filter(({ emptied }) => emptied === undefined)
}

/** @param isLinked whether the change and the condition are linked so far */
function link(linking: Linking, change: Change, alertId: number, isLinked: boolean): void {
  const { history, service, now, newId, notices } = linking
  const best = strongest(linking, change, alertId)
  if (best === 'elsewhere') return
  const key = { alertId, changeKind: change.kind, changeRef: change.ref }
  if (!best) {
    if (isLinked) history.drop(key)
    return
  }
  const { organizationId } = service
  const full = { ...key, organizationId, serviceId: service.rowId, changeEvent: best.change.eventId }
  const uuid = newId()
  history.store(full, best.link, { id: uuid, now })
  if (!isLinked) notices.push({ kind: 'correlation', id: uuid, organizationId })
}

type Best = { readonly change: Change; readonly link: Link }

/**
 * Returns the strongest link between a template and the condition. A template that was rolled out, replaced, and
 * restored by a rollback is one change with several rollout times. Rollout times more than a day after the change are
 * ignored. Returns 'elsewhere' if the condition was not observed within a day of the change, because the link may then
 * belong to another rollout time.
 */
function strongest(linking: Linking, change: Change, alertId: number): Best | 'elsewhere' | null {
  const [from, to] = [change.startsAt - DAY, change.startsAt + DAY]
  const times = change.kind === 'pipeline' ? [] : rolloutsNear(linking, to).filter(({ ref }) => ref === change.ref)
  const links = (times.length > 0 ? times : [change]).flatMap((one) => linkAt(linking, one, alertId) ?? [])
  const best = links.sort((a, b) => b.link.score - a.link.score || a.change.startsAt - b.change.startsAt)[0]
  if (best) return best
  const isElsewhere = change.kind === 'rollout' && linking.history.sightings(alertId, from, to).length === 0
  return isElsewhere ? 'elsewhere' : null
}

function linkAt(linking: Linking, change: Change, alertId: number): Best | null {
  const { history, service } = linking
  const [from, to] = [change.startsAt - RELEVANT_BEFORE, change.endsAt + AFTER]
  // Another rollout confirms only a pipeline.
  const rollouts = change.kind === 'rollout' ? [change] : rolloutsNear(linking, to)
  const nearby = { service, images: history.images(service.rowId), rollouts }
  const found = correlate(change, history.sightings(alertId, from, to), nearby)
  return found && { change, link: found }
}
