/** Correlating: links are made anew at every arrival of either side, so that the order of arrival does not matter. */
import {
  absorbNotification,
  type Change,
  intervalOf,
  type RolloutChange,
  rolloutsOf,
} from '../domain/correlation/change.ts'
import { AFTER, BEFORE, correlate, HEARD_BEFORE, type Link } from '../domain/correlation/correlation.ts'
import type { JobDraft, PipelineDraft } from '../domain/event/event.ts'
import {
  dropLink,
  listEvidence,
  listLinkedAlerts,
  listScalings,
  listSightings,
  newestChange,
  storeLink,
} from '../store/correlation-rows.ts'
import { listImages } from '../store/images.ts'
import { findPipeline, listPipelinesNear, storePipeline } from '../store/pipelines.ts'
import { findServiceRow, type ServiceRow } from '../store/service-rows.ts'
import type { Deps } from './deps.ts'

const DAY = 24 * 3_600_000

/** What a pipeline's or job's notification adds to what is known of the pipeline, and the links that follow. */
export function learnPipeline(
  deps: Deps,
  service: ServiceRow,
  told: { readonly draft: PipelineDraft | JobDraft; readonly rule: string; readonly eventKey: number },
): void {
  const { draft, rule, eventKey } = told
  const { organizationId } = service
  const ref = refOf(deps, organizationId, draft)
  const before = findPipeline(deps.db, organizationId, ref)
  const facts = absorbNotification(before?.facts ?? null, draft, rule)
  const pipeline = { organizationId, serviceId: service.id, ref, eventKey, facts, ...intervalOf(facts) }
  storePipeline(deps.db, pipeline)
  if (before && before.service !== service.uuid) leave(deps, organizationId, before)
  correlateChanges(deps, service, pipeline.startsAt, pipeline.startsAt)
}

/** A pipeline that a better rule joined to another service keeps no links with the conditions of the one before. */
function leave({ db }: Deps, organizationId: number, { service, kind, ref }: Change): void {
  const left = findServiceRow(db, organizationId, service)
  const linked = left ? listLinkedAlerts(db, left.id, ref) : []
  for (const alertId of linked) dropLink(db, { alertId, changeKind: kind, changeRef: ref })
}

/** The least shape has no id: the same ref, status and duration within ten minutes are one pipeline. */
function refOf(deps: Deps, organizationId: number, draft: PipelineDraft | JobDraft): string {
  if (draft.pipelineId !== null) return `${draft.project.path}#${draft.pipelineId}`
  if (draft.kind === 'job') return `${draft.project.path}@${draft.ref}`
  const duration = draft.duration === null ? '' : ` ${draft.duration}s`
  const base = `${draft.project.path}@${draft.ref} ${draft.status}${duration}`
  const tenMinutes = Math.floor(draft.at / 600_000)
  const near = [tenMinutes - 1, tenMinutes, tenMinutes + 1].map((slot) => `${base} ${slot}`)
  const known = near.find((ref) => {
    const pipeline = findPipeline(deps.db, organizationId, ref)
    return pipeline !== null && Math.abs(pipeline.facts.saidAt - draft.at) <= 600_000
  })
  return known ?? `${base} ${tenMinutes}`
}

/**
 * Links a condition that was just seen at `at` with the changes of its service around then. Reads at most 50 pipelines,
 * 200 scaling events and, for each change near enough, 400 scaling events and 500 sightings for each of its times,
 * however many events the service has.
 */
export function correlateCondition(deps: Deps, service: ServiceRow, alertId: number, at: number): void {
  // A change that was last heard of so long ago is none that the loop below would find near.
  if (at > newestChange(deps.db, service.id) + 2 * DAY) return
  for (const change of changesNear(deps, service, at - DAY - AFTER, at + HEARD_BEFORE)) {
    if (at >= change.startsAt - HEARD_BEFORE && at <= change.endsAt + AFTER) link(deps, service, change, alertId)
  }
}

/** Links the changes that began within these times with the conditions seen around them, and drops what no longer holds. */
export function correlateChanges(deps: Deps, service: ServiceRow, from: number, to: number): void {
  for (const change of changesNear(deps, service, from, to)) {
    const near = listEvidence(deps.db, service.id, change.startsAt - BEFORE, change.endsAt + AFTER)
    const linked = listLinkedAlerts(deps.db, service.id, change.ref)
    for (const alertId of new Set([...near, ...linked])) link(deps, service, change, alertId)
  }
}

/** A scaling event was told: where it begins a rollout, that is a change, and speaks for the pipelines before it. */
export function correlateScaling(deps: Deps, service: ServiceRow, eventId: string, at: number): void {
  const begun = rolloutsNear(deps, service, at).some((rollout) => rollout.eventId === eventId)
  if (begun) correlateChanges(deps, service, at - DAY, at + AFTER)
}

/** An image was pulled that the service had not pulled before: it may tie a pipeline to the service. */
export function correlateImage(deps: Deps, service: ServiceRow, at: number): void {
  correlateChanges(deps, service, at - DAY, at + AFTER)
}

/** The changes of a service that began within these times. */
function changesNear(deps: Deps, service: ServiceRow, from: number, to: number): Change[] {
  const rollouts = rolloutsNear(deps, service, to)
  return [
    ...listPipelinesNear(deps.db, service.id, from, to),
    ...rollouts.filter(({ startsAt }) => startsAt >= from && startsAt <= to),
  ]
}

function rolloutsNear({ db }: Deps, service: ServiceRow, to: number): RolloutChange[] {
  const named = { id: service.uuid, namespace: service.namespace }
  return rolloutsOf(listScalings(db, service.id, to), named)
}

function link(deps: Deps, service: ServiceRow, change: Change, alertId: number): void {
  const { db } = deps
  const best = strongest(deps, service, change, alertId)
  if (best === 'elsewhere') return
  const key = { alertId, changeKind: change.kind, changeRef: change.ref }
  if (!best) {
    dropLink(db, key)
    return
  }
  const { organizationId } = service
  const full = { ...key, organizationId, serviceId: service.id, changeEvent: best.change.eventId }
  const uuid = deps.newId()
  if (storeLink(db, full, best.link, { uuid, now: deps.now() })) {
    deps.announce({ kind: 'correlation', id: uuid, organizationId })
  }
}

type Best = { readonly change: Change; readonly link: Link }

/**
 * A template that was rolled out, left, and rolled back to is one change with several times: its link is the strongest
 * of those up to a day later. 'elsewhere': the condition was seen on other days alone, with which the link may belong.
 */
function strongest(deps: Deps, service: ServiceRow, change: Change, alertId: number): Best | 'elsewhere' | null {
  const [from, to] = [change.startsAt - DAY, change.startsAt + DAY]
  const times =
    change.kind === 'pipeline' ? [] : rolloutsNear(deps, service, to).filter(({ ref }) => ref === change.ref)
  const links = (times.length > 0 ? times : [change]).flatMap((one) => linkAt(deps, service, one, alertId) ?? [])
  const best = links.sort((a, b) => b.link.score - a.link.score || a.change.startsAt - b.change.startsAt)[0]
  if (best) return best
  const isElsewhere = change.kind === 'rollout' && listSightings(deps.db, alertId, from, to).length === 0
  return isElsewhere ? 'elsewhere' : null
}

function linkAt(deps: Deps, service: ServiceRow, change: Change, alertId: number): Best | null {
  const { db } = deps
  const [from, to] = [change.startsAt - HEARD_BEFORE, change.endsAt + AFTER]
  const nearby = { service, images: listImages(db, service.id), rollouts: rolloutsNear(deps, service, to) }
  const found = correlate(change, listSightings(db, alertId, from, to), nearby)
  return found && { change, link: found }
}
