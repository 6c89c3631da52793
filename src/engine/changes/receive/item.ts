/** Processes one accepted item: finds its service, stores its event, and opens, updates or ends an alert. */
import { belongsTo, type Change, type LiveAlert, type Signal } from '../../../domain/alert/alert.ts'
import { settle } from '../../../domain/alert/ending.ts'
import type { DraftJudgement } from '../../../domain/alert/judgement.ts'
import { type ReceivedEvent, withReceivedEvents } from '../../../domain/alert/late-events.ts'
import { isUnattributed, judge, makesAlert } from '../../../domain/alert/signal.ts'
import { type Draft, isNotification } from '../../../domain/event/event.ts'
import type { LiveService } from '../../../domain/health/live-service.ts'
import { once } from '../../../domain/memoize.ts'
import { ruleCode } from '../../../domain/service/service.ts'
import type { Context } from '../../state/context.ts'
import { awaitedName, fingerprintScope } from '../../state/state.ts'
import { changeAlert } from '../alerts.ts'
import { matchService, type ServiceMatch } from '../attribution.ts'
import { firingEventAlerts, firingMetricsOf, senderBehaviorOf } from '../conditions.ts'
import { endPodsOf, fateOfNode, withoutExpected } from '../going-away.ts'
import { adopt, joinClaims, joinProject, learnImages } from '../joining.ts'
import { createLiveService } from '../live-service.ts'
import { learnPipeline, linkCondition, linkImage } from '../pipelines.ts'
import { type Shortage, shortageOf } from '../room.ts'
import { type AlertDecision, affects, decideAlert, type Item } from './item-alert.ts'

export type ItemResult = {
  readonly eventId: string
  /** Whether the item merely repeats the last event of its alert. */
  readonly isRepeat: boolean
  /** Row ids of services whose health may have changed. */
  readonly serviceIds: readonly number[]
  readonly match: ServiceMatch
  readonly event: DraftJudgement['event']
  readonly result: { readonly live: LiveAlert; readonly change: Change } | null
  /** Whether the alert was found by its labels, because no alert had the fingerprint. */
  readonly byLabels: boolean
  /** Why the item opened no alert; null if there was room. */
  readonly shortage: Shortage | null
}

/** An item that was not stored, because the sender sends it again. */
type RefusedItem = { readonly refused: Shortage }

const NOTHING = { result: null, byLabels: false, shortage: null }

/** Processes one item. */
export function decideItem(ctx: Context, item: Item): ItemResult | RefusedItem {
  const { draft, receivedAt, cluster } = item
  const understood = understand(ctx, item)
  const { match, hash } = understood
  adopt(ctx, match)
  const judged = withoutExpected(ctx, match, understood.judged)
  if (draft.source === 'cluster' && draft.isSentAgain) {
    const { object, name, text } = judged.event
    const before = ctx.storedEvent({ at: draft.at, object, name, text })
    if (before) return { eventId: before.id, isRepeat: true, serviceIds: [], match, ...NOTHING, event: judged.event }
  }
  const { known, byLabels } = judged.signal ? findCondition(ctx, item, judged.signal, match.service) : NOT_FOUND
  const isWanted =
    match.attribution.creates === 'event' || (judged.signal !== null && (known ?? makesAlert(judged.signal)))
  const existing = current(ctx, match.service)
  const opens = known === null && judged.signal !== null && makesAlert(judged.signal)
  const shortage = item.isOwn ? null : shortageOf(ctx, { opens, creates: isWanted && existing === null }, receivedAt)
  if (shortage && isNotification(draft)) return { refused: shortage }
  const service =
    isWanted && shortage !== 'services'
      ? (existing ?? createLiveService(ctx, match.key, receivedAt))
      : historyOf(match, judged)
  if (service) {
    joinProject(ctx, cluster, draft, service, receivedAt)
    joinClaims(ctx, draft, service, existing === null, receivedAt)
  }
  const stored = once(() => ({ rowId: ctx.rowId('events'), id: ctx.newId(), hash }))
  const result =
    service && judged.signal && !shortage
      ? decideAlert(ctx, item, { service, known, signal: judged.signal, stored, hash })
      : null
  const repeated = result?.repeats ? (known?.lastEvent ?? null) : null
  const span = spanOf(draft, known)
  if (!repeated)
    storeEvent(ctx, item, { match, judged, service, alertId: result?.live.rowId ?? null, span, stored: stored() })
  const event = repeated ?? stored()
  const ended = service ? follow(ctx, item, { service, known, match, judged, result, span, event }) : []
  const fate =
    draft.source === 'cluster' ? fateOfNode({ reason: draft.reason, kind: draft.object.kind }, draft.at) : null
  const left = fate ? endPodsOf(ctx, match, fate, receivedAt) : []
  const isAffected = result !== null && affects(ctx, known, result, receivedAt)
  const own = isAffected ? [service?.rowId, known?.serviceId].filter((id) => id !== undefined) : []
  const serviceIds = [...own, ...ended, ...left]
  const isRepeat = repeated !== null
  return { eventId: event.id, isRepeat, serviceIds, match, event: judged.event, result, byLabels, shortage }
}

/** `hash`: the hash of a notification's payload, used to detect repeats; 0 for an event. */
type Understood = { readonly match: ServiceMatch; readonly judged: DraftJudgement; readonly hash: number }

/** Finds the service for an item and classifies its signal. */
function understand(ctx: Context, { cluster, draft, isFromCache }: Item): Understood {
  const find = () => {
    const match = matchService(ctx.state, cluster, draft)
    const hash = isNotification(draft) ? ctx.hashOf(draft.payload) : 0
    return { match, judged: judge(draft, match.key, match.attribution), hash }
  }
  return isFromCache ? ctx.cached(draft, find) : find()
}

/** Returns the current state of a service, because a cached match may be outdated. */
function current(ctx: Context, service: LiveService | null): LiveService | null {
  return service && (ctx.state.services.get(service.rowId) ?? service)
}

/** Returns the service whose history includes the event, or null. Heartbeats and tests have no service. */
function historyOf({ service }: ServiceMatch, { event }: DraftJudgement): LiveService | null {
  return event.kind === 'heartbeat' || event.kind === 'test' ? null : service
}

type Found = { readonly known: LiveAlert | null } & Pick<ItemResult, 'byLabels'>

const NOT_FOUND: Found = { known: null, byLabels: false }

/** Finds the live alert that the signal belongs to. */
function findCondition(ctx: Context, { cluster }: Item, signal: Signal, service: LiveService | null): Found {
  const { state } = ctx
  const { source, fingerprint } = signal
  const first = state.alertByFingerprint.get(fingerprintScope(source, cluster), fingerprint)
  const named = first === undefined ? undefined : state.alerts.get(first)
  if (named && belongsTo(named.alert, signal)) return { known: named, byLabels: false }
  const alike = state.alertByLogicalKey.all(source, signal.logicalKey).map((rowId) => state.alerts.get(rowId))
  const known = alike.find((one) => one && one.serviceId === service?.rowId)
  return known && belongsTo(known.alert, signal) ? { known, byLabels: known.rowId !== first } : NOT_FOUND
}

function storeEvent(
  ctx: Context,
  { draft, receivedAt, cluster }: Item,
  found: Omit<Understood, 'hash'> & {
    readonly service: LiveService | null
    readonly alertId: number | null
    readonly span: Span
    readonly stored: { readonly rowId: number; readonly id: string }
  },
): void {
  const { match, service, judged, span, stored } = found
  const evidence = judged.evidenceOf
  const pipelineAlert =
    evidence === null ? undefined : ctx.state.alertByFingerprint.get(fingerprintScope('ci', cluster), evidence)
  ctx.emit({
    kind: 'event-stored',
    event: {
      // The fields are listed one by one because V8 copies them repeatedly after a spread.
      kind: judged.event.kind,
      name: judged.event.name,
      object: judged.event.object,
      severity: judged.event.severity,
      text: judged.event.text,
      rowId: stored.rowId,
      id: stored.id,
      organizationId: ctx.state.rowId,
      serviceId: service?.rowId ?? null,
      alertId: found.alertId ?? pipelineAlert ?? null,
      source: draft.source,
      count: draft.source === 'cluster' ? draft.count : 1,
      // An unattributed item names no service, so it cannot wait for a service to be created.
      awaited: service || isUnattributed(match.key) ? null : awaitedName(match.key),
      firstSeenAt: span.firstSeenAt,
      at: span.at,
      receivedAt,
      body: draft.payload,
    },
  })
}

/** The first and the last time at which an item shows its condition, in ms UTC. */
type Span = { readonly firstSeenAt: number; readonly at: number }

/**
 * Returns when an item shows its condition. Kubernetes counts repeats within one event. If a notification moves the
 * start of its alert back, the condition existed from the new start to the previous start.
 */
function spanOf(draft: Draft, known: LiveAlert | null): Span {
  const { at } = draft
  if (draft.source === 'cluster') return { firstSeenAt: draft.startsAt, at }
  const isFiring = draft.source !== 'ci' && draft.status === 'firing'
  return { firstSeenAt: at, at: isFiring && known ? Math.max(at, known.alert.startsAt) : at }
}

type Followed = Omit<Understood, 'hash'> & {
  readonly service: LiveService
  readonly known: LiveAlert | null
  readonly result: AlertDecision | null
  readonly span: Span
  readonly event: { readonly rowId: number; readonly id: string }
}

/** Updates the service, its conditions and its links after an item. Returns the services whose conditions changed. */
function follow(ctx: Context, item: Item, found: Followed): number[] {
  const { draft, receivedAt } = item
  const { service, known, match, judged, result, span, event } = found
  const isFirst = judged.signal?.status === 'firing' || result?.change === 'opened'
  touchService(ctx, service, receivedAt, isFirst ? draft.at : null)
  const affected: number[] = []
  if (judged.tellsOfEnds && endConditions(ctx, service, { ...judged.event, at: draft.at }, receivedAt))
    affected.push(service.rowId)
  if (learnImages(ctx, service, draft, receivedAt)) linkImage(ctx, service, draft.at, receivedAt)
  if (judged.event.kind === 'change') {
    const of = { kind: 'scaling', eventId: event.id, at: draft.at } as const
    ctx.emit({ kind: 'links-due', due: { service, of, now: receivedAt } })
  }
  if (draft.source === 'ci' && draft.kind !== 'other') {
    affected.push(...learnPipeline(ctx, service, draft, ruleCode(match.attribution.rule), event, receivedAt))
  } else if (result && isEvidence(result, judged.event.kind, span)) {
    const { rowId: alertId, alert } = result.live
    const start = { startsAt: alert.startsAt, previous: known?.alert ?? null, now: receivedAt }
    linkCondition(ctx, service, { alertId, ...span }, start)
  }
  return affected
}

/** Applies an event to each firing Kubernetes condition of its service. Returns whether any condition changed. */
function endConditions(ctx: Context, service: LiveService, event: ReceivedEvent, now: number): boolean {
  let changed = false
  const metricsFire = firingMetricsOf(ctx.state, service.rowId)
  for (const live of firingEventAlerts(ctx.state, service)) {
    const after = withReceivedEvents(live.alert, [event])
    if (after === live.alert) continue
    const context = { delivery: null, metricsFiring: metricsFire(after.startsAt), ...senderBehaviorOf(ctx.state, live) }
    changeAlert(ctx, live, { ...live, ...settle(after, context, now) }, now)
    changed = true
  }
  return changed
}

/** Updates the times of the service's newest event and newest alert. Neither time ever moves back. */
function touchService(ctx: Context, { rowId }: LiveService, eventAt: number, alertAt: number | null): void {
  const before = ctx.state.services.get(rowId)
  if (!before) return
  const lastEventAt = Math.max(before.lastEventAt ?? eventAt, eventAt)
  const lastAlertAt = alertAt === null ? before.lastAlertAt : Math.max(before.lastAlertAt ?? alertAt, alertAt)
  if (lastEventAt === before.lastEventAt && lastAlertAt === before.lastAlertAt) return
  ctx.put.service({ ...before, lastEventAt, lastAlertAt })
}

/**
 * Returns whether an item is new evidence for links. Repeated events are new evidence. A repeated notification is new
 * evidence only if it moves the start of its alert back.
 */
function isEvidence({ live, change }: AlertDecision, kind: DraftJudgement['event']['kind'], span: Span): boolean {
  const isNew = live.alert.source === 'cluster' || change !== 'repeated' || span.firstSeenAt < span.at
  return kind === 'firing' && isNew && live.alert.severity !== 'info'
}
