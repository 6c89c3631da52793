/** Learns how senders behave from their deliveries. */

import type { LiveAlert } from '../../../domain/alert/alert.ts'
import { withoutEnd } from '../../../domain/alert/doubt.ts'
import { type Delivery, EXPIRES } from '../../../domain/alert/ending.ts'
import { BUDGETS } from '../../../domain/budgets.ts'
import type { Draft, Intake, Source } from '../../../domain/event/event.ts'
import { type Beat, isDoubted, isOver, withMissing, withShared } from '../../../domain/sender/beats.ts'
import { type DeliveryInterval, NO_INTERVAL, repeatTimeoutOf } from '../../../domain/sender/delivery-interval.ts'
import {
  corrected,
  isSilent,
  type LiveSender,
  NO_HOURS,
  offsetIn,
  readingOf,
  withEvents,
  withLag,
  withReading,
  withToken,
} from '../../../domain/sender/sender.ts'
import { SECOND } from '../../../domain/units.ts'
import { WATCH } from '../../../domain/watch/object.ts'
import type { Context } from '../../state/context.ts'
import { type OrganizationState, senderKey } from '../../state/state.ts'
import { noteDoubt } from '../alerts.ts'
import { clusterOf } from '../attribution.ts'
import { beatsOf } from '../conditions.ts'
import { makeDue } from '../live-service.ts'
import { awaitRepeatsOf, updateGroup } from './groups.ts'
import { followHeartbeats, isHeartbeat } from './heartbeats.ts'

/**
 * Facts about a sender that are needed to process its items. `delivery`: how it delivers; null if it is no Alertmanager
 * and no Grafana.
 */
export type SenderFacts = {
  readonly groupId: number | null
  readonly delivery: Delivery | null
  readonly beats: readonly Beat[]
  /** How far the sender's clock is ahead of the server's, in milliseconds. */
  readonly clockOffset: number
}

/** The facts for a delivery without a sender. */
export const NO_SENDER: SenderFacts = { groupId: null, delivery: null, beats: [], clockOffset: 0 }

type SenderInput = {
  readonly source: Source
  /** The cluster assigned to the token, or ''. */
  readonly cluster: string
  /** The items of this request, or of this chunk if the request is large. */
  readonly intake: Intake
  /** All items of the request. */
  readonly whole: Intake
  readonly receivedAt: number
  /** The name of the token; null if the items came without one. */
  readonly token: string | null
}

/** Updates item counts, the group's delivery interval, and the heartbeat of a sender. */
export function updateSender(ctx: Context, sending: SenderInput): SenderFacts {
  const { receivedAt, whole, token } = sending
  const known = findSender(ctx, sending)
  const before = known ?? newSender(ctx, sending)
  const wasSilent = isSilent(before, receivedAt)
  if (wasSilent) awaitRepeatsOf(ctx, before, whole.group, receivedAt)
  const reportsEnds = before.reportsEnds || whole.accepted.some(({ draft }) => isReportedEnd(draft))
  const tokens = token === null ? before.tokens : withToken(before.tokens, token)
  const drafts = whole.accepted.map(({ draft }) => draft)
  // Such a sender's intervals only tell what it leaves out. Heartbeats often have a shorter one than other alerts.
  const deliveryInterval = reportsEnds && !before.reportsEnds ? NO_INTERVAL : before.deliveryInterval
  const isUntaught = wasSilent || (reportsEnds && drafts.every(isHeartbeat))
  const counted = count({ ...before, reportsEnds, tokens, deliveryInterval }, sending.intake, receivedAt)
  const { sender, groupId, interval } = whole.group
    ? updateGroup(ctx, counted, whole.group, receivedAt, isUntaught)
    : { sender: counted, groupId: null, interval: null }
  const reading = readingOf(drafts, receivedAt)
  const learned = withLearnedBehavior(sender, drafts, reading, receivedAt)
  const clockOffset = offsetIn(learned.clock, sending.source, reading)
  const awaited = ctx.state.awaited.get('period')
  const after = followHeartbeats(ctx, learned, drafts, { at: receivedAt, clockOffset, awaited })
  ctx.put.sender(after)
  if (!before.reportsRepeats && after.reportsRepeats) recheckConditions(ctx, after, receivedAt)
  if (after.beats !== before.beats) takeBackEnds(ctx, after, receivedAt)
  return {
    groupId,
    beats: withMissing(beatsOf(ctx.state, after), { gap: after.heartbeatGap, at: receivedAt, awaited }),
    delivery: groupId === null ? null : deliveryOf(after, interval, receivedAt),
    clockOffset,
  }
}

/** Takes back the ends that were reported shortly before the end of a heartbeat and that do not count with it. */
function takeBackEnds(ctx: Context, sender: LiveSender, now: number): void {
  if (!sender.beats.some((beat) => isOver(beat, now))) return
  // Another receiver may have reported the end of an alert last.
  const own = [...ctx.state.senders.values()].map((one) => (one.rowId === sender.rowId ? sender : one))
  const beatsById = new Map(own.map((one) => [one.rowId, withShared(one.beats, sender.beats)]))
  for (const group of [...ctx.state.groups.values()]) {
    const beats = beatsById.get(group.senderId) ?? []
    if (!beats.some((beat) => isOver(beat, now))) continue
    for (const rowId of [...ctx.state.alertsOfGroup.get(group.rowId)]) {
      const live = ctx.state.alerts.get(rowId)
      if (live?.alert.resolution !== 'reported') continue
      const cluster = ctx.state.services.get(live.serviceId)?.cluster ?? ''
      if (isDoubted(live.alert.endsAt, beats, cluster, now)) takeBackEnd(ctx, live, now)
    }
  }
}

/** An incident that a person has resolved stays so, and so do its alerts. */
function takeBackEnd(ctx: Context, live: LiveAlert, now: number): void {
  const incident = live.incidentId === null ? null : ctx.state.incidents.get(live.incidentId)
  if (incident === undefined || incident?.status === 'resolved') return
  ctx.put.alert({ ...live, ...withoutEnd(live.alert, live.fingerprints), dueAt: now })
  noteDoubt(ctx, live, now)
  makeDue(ctx, live.serviceId, now)
  if (!incident || incident.problem.since !== null) return
  // The end was a guess, so that it is no gap.
  ctx.put.incident({ ...incident, problem: { ...incident.problem, isGuess: true } }, incident)
}

/** Returns how a sender delivers the alerts of a group. */
export function deliveryOf(sender: LiveSender, group: DeliveryInterval | null, now: number): Delivery {
  const { deliveryInterval, reportsEnds, lastEventAt } = sender
  const repeatTimeout = repeatTimeoutOf(group, deliveryInterval)
  const silence = isSilent(sender, now) ? EXPIRES : 0
  return { repeatTimeout: Math.max(repeatTimeout, silence), reportsEnds, heardAt: lastEventAt }
}

/** Adds the items of a later chunk to the counts. The first chunk has already updated everything else. */
export function countLaterChunk(ctx: Context, sending: SenderInput): void {
  const before = findSender(ctx, sending)
  const after = count(before ?? newSender(ctx, sending), sending.intake, sending.receivedAt)
  ctx.put.sender(after)
}

const MAX_SENDERS = BUDGETS.senders.value

function keyOf({ source, cluster, whole }: SenderInput) {
  return { source, cluster, receiver: whole.group?.receiver ?? whole.receiver ?? '' }
}

/** Returns the key of a sender. Beyond the limit, the receivers of a source in a cluster share one sender. */
function sharedKeyOf({ state }: Context, sending: SenderInput) {
  const key = keyOf(sending)
  if (state.senders.get(senderKey(key)) !== undefined) return key
  if (key.receiver === '' && sending.intake.accepted.length === 0) return likelySenderOf(state, key) ?? key
  return state.senders.size() < MAX_SENDERS ? key : { ...key, receiver: '' }
}

/**
 * Returns the key of the sender that probably sent a body without a receiver's name: the one of this source and cluster
 * that sent last. A body that cannot be read is no sender of its own.
 */
function likelySenderOf(state: OrganizationState, { source, cluster }: ReturnType<typeof keyOf>) {
  const own = [...state.senders.values()].filter((one) => one.source === source && one.cluster === cluster)
  const last = own.reduce<LiveSender | null>(
    (found, one) => (found && (found.lastEventAt ?? 0) >= (one.lastEventAt ?? 0) ? found : one),
    null,
  )
  return last && { source, cluster, receiver: last.receiver }
}

function findSender(ctx: Context, sending: SenderInput): LiveSender | null {
  return ctx.state.senders.get(senderKey(sharedKeyOf(ctx, sending))) ?? null
}

function newSender(ctx: Context, sending: SenderInput): LiveSender {
  return {
    rowId: ctx.rowId('senders'),
    organizationId: ctx.state.rowId,
    ...sharedKeyOf(ctx, sending),
    ...{ tokens: [], events: 0, rejections: 0, lastEventAt: null, lastRejectionAt: null },
    ...{ reportsEnds: false, reportsRepeats: false, lag: null, clock: null, namesCluster: null },
    deliveryInterval: NO_INTERVAL,
    hours: NO_HOURS,
    ...{ heartbeatAt: null, heartbeatGap: 0, heartbeatDueAt: null, beats: [] },
  }
}

function isReportedEnd(draft: Draft): boolean {
  return (draft.source === 'metrics' || draft.source === 'dashboard') && draft.status === 'resolved'
}

/**
 * Learns the sender's event delay and clock offset, whether the sender names a cluster, and whether it reports repeats.
 */
function withLearnedBehavior(
  before: LiveSender,
  drafts: readonly Draft[],
  reading: number | null,
  receivedAt: number,
): LiveSender {
  if (before.source === 'ci' || drafts.length === 0) return before
  const clock = reading === null ? before.clock : withReading(before.clock, reading, receivedAt)
  const namesCluster = before.cluster !== '' || drafts.every((draft) => clusterOf(draft) !== '')
  const sender = { ...before, clock, namesCluster }
  if (sender.source !== 'cluster') return sender
  let { lag, reportsRepeats } = sender
  const offset = offsetIn(clock, sender.source, reading)
  for (const draft of drafts) {
    lag = withLag(lag, { at: corrected(draft, offset, receivedAt).at, receivedAt })
    // The count can be missing, and the time of the last repeat be there.
    reportsRepeats ||= draft.source === 'cluster' && (draft.count > 1 || draft.at - draft.startsAt > SECOND)
  }
  return { ...sender, lag, reportsRepeats }
}

/** Rechecks the sender's conditions, because a missing repeat now means that a condition has ended. */
function recheckConditions(ctx: Context, { cluster }: LiveSender, now: number): void {
  for (const before of [...ctx.state.alerts.values()]) {
    const isOwn = before.alert.source === 'cluster' && before.cluster === cluster
    if (!isOwn || before.alert.status !== 'firing') continue
    ctx.put.alert({ ...before, dueAt: now })
  }
}

function count(sender: LiveSender, { accepted, rejected }: Intake, at: number): LiveSender {
  return {
    ...sender,
    events: sender.events + accepted.length,
    hours: withEvents(sender.hours, at, accepted.length),
    rejections: sender.rejections + rejected.length,
    // Imported items and chunks may arrive out of order.
    lastEventAt:
      accepted.length > 0 || sender.receiver === WATCH ? Math.max(sender.lastEventAt ?? at, at) : sender.lastEventAt,
    lastRejectionAt: rejected.length > 0 ? Math.max(sender.lastRejectionAt ?? at, at) : sender.lastRejectionAt,
  }
}
