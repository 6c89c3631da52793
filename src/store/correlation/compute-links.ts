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
  /** Stores a link. Returns whether the link is new. */
  readonly store: (of: LinkOwner, link: Link, made: { readonly id: string; readonly now: number }) => boolean
  /** Deletes a link unless it has a user's verdict. */
  readonly drop: (key: LinkKey) => void
}

type Linking = {
  readonly history: LinkHistory
  readonly service: LiveService
  readonly now: number
  readonly newId: () => string
  readonly notices: Notice[]
}

/** Computes the links inside the batch's transaction. Returns a notice for each new link. */
export function computeLinks(history: LinkHistory, links: readonly LinksDue[], newId: () => string): readonly Notice[] {
  const notices: Notice[] = []
  const remembered = rememberReads(history)
  for (const { service, of, now } of merged(links))
    computeLink({ history: remembered, service, now, newId, notices }, of)
  return notices
}

/** Reads images and scaling events only once, because computing links does not change them. */
function rememberReads(history: LinkHistory): LinkHistory {
  const scalings = cacheByKey(
    ({ serviceId, to }: { readonly serviceId: number; readonly to: number }) => `${serviceId} ${to}`,
    ({ serviceId, to }) => history.scalings(serviceId, to),
  )
  return {
    ...history,
    images: cacheByKey((serviceId: number) => serviceId, history.images),
    scalings: (serviceId, to) => scalings({ serviceId, to }),
  }
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
      for (const pipeline of history.linkedPipelines(of.alertId)) link(linking, pipeline, of.alertId)
      break
    case 'changes':
      linkChanges(linking, of.from, of.to)
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

/**
 * Links a condition to the service's changes around the same time. Reads at most 50 pipelines and 200 scaling events.
 * For each nearby change, reads up to 200 more scaling events. For each rollout time of a change, reads up to 200
 * scaling events and 500 observations.
 */
function linkCondition(linking: Linking, { alertId, firstSeenAt, at }: Seen): void {
  for (const change of changesNear(linking, firstSeenAt - DAY - AFTER, at + RELEVANT_BEFORE)) {
    const isNear = at >= change.startsAt - RELEVANT_BEFORE && firstSeenAt <= change.endsAt + AFTER
    if (isNear) link(linking, change, alertId)
  }
}

/**
 * Links the changes within a period to the conditions around the same time, and deletes links that are no longer valid.
 */
function linkChanges(linking: Linking, from: number, to: number): void {
  for (const change of changesNear(linking, from, to)) linkChange(linking, change)
}

function linkChange(linking: Linking, change: Change): void {
  const { history, service } = linking
  const near = history.evidence(service.rowId, change.startsAt - BEFORE, change.endsAt + AFTER)
  const linked = new Set(history.linkedAlerts(service.rowId, change.ref))
  for (const alertId of new Set([...near, ...linked])) link(linking, change, alertId, linked.has(alertId))
}

/**
 * Processes a scaling event. If the event starts a rollout, the rollout is a change and also confirms earlier
 * pipelines.
 */
function linkScaling(linking: Linking, eventId: string, at: number): void {
  const begun = rolloutsNear(linking, at).some((rollout) => rollout.eventId === eventId)
  if (begun) linkChanges(linking, at - DAY, at + AFTER)
}

/** Returns the service's changes that started within this period. */
function changesNear(linking: Linking, from: number, to: number): Change[] {
  const { history, service } = linking
  const rollouts = rolloutsNear(linking, to)
  return [
    ...history.pipelines(service.rowId, from, to),
    ...rollouts.filter(({ startsAt }) => startsAt >= from && startsAt <= to),
  ]
}

function rolloutsNear({ history, service }: Linking, to: number): RolloutChange[] {
  const found = rolloutsOf(history.scalings(service.rowId, to), { id: service.id, namespace: service.namespace })
  // A rollout that is received late can show that a scale-down to zero was part of it. Links are never withdrawn.
  return found.filter(({ emptied }) => emptied === undefined)
}

function link(linking: Linking, change: Change, alertId: number, mayBeLinked = true): void {
  const { history, service, now, newId, notices } = linking
  const best = strongest(linking, change, alertId)
  if (best === 'elsewhere') return
  const key = { alertId, changeKind: change.kind, changeRef: change.ref }
  if (!best) {
    if (mayBeLinked) history.drop(key)
    return
  }
  const { organizationId } = service
  const full = { ...key, organizationId, serviceId: service.rowId, changeEvent: best.change.eventId }
  const uuid = newId()
  if (history.store(full, best.link, { id: uuid, now })) notices.push({ kind: 'correlation', id: uuid, organizationId })
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
  const nearby = { service, images: history.images(service.rowId), rollouts: rolloutsNear(linking, to) }
  const found = correlate(change, history.sightings(alertId, from, to), nearby)
  return found && { change, link: found }
}
