/** Learns how senders behave from their deliveries, and opens an incident when a heartbeat is missing. */

import type { Delivery } from '../../../domain/alert/ending.ts'
import { BUDGETS } from '../../../domain/budgets.ts'
import type { Draft, Intake, Source } from '../../../domain/event/event.ts'
import { digest } from '../../../domain/event/fingerprint.ts'
import { alarmed, closed, NO_PROBLEM } from '../../../domain/incident/problem.ts'
import { corrected, offsetIn, readingOf, withReading } from '../../../domain/sender/clock.ts'
import {
  type DeliveryInterval,
  isKnown,
  repeatTimeoutOf,
  withDelivery,
  withProvenGap,
  withReceiverInterval,
} from '../../../domain/sender/delivery-interval.ts'
import { NO_HOURS, withEvents, withHeartbeat } from '../../../domain/sender/heartbeat.ts'
import { withLag } from '../../../domain/sender/lag.ts'
import type { LiveGroup, LiveSender } from '../../../domain/sender/sender.ts'
import { WATCH } from '../../../domain/watch/object.ts'
import type { Context } from '../../state/context.ts'
import { groupKey, senderKey, settingsOf } from '../../state/state.ts'
import { clusterOf, findService } from '../attribution.ts'
import { moveIncident, oldestOpenIncident, openIncident } from '../incidents/incidents.ts'
import { createLiveService } from '../live-service.ts'

/**
 * Facts about a sender that are needed to process its items. `delivery`: how it delivers; null if it is no Alertmanager
 * and no Grafana.
 */
export type SenderFacts = {
  readonly groupId: number | null
  readonly delivery: Delivery | null
  /** How far the sender's clock is ahead of the server's, in milliseconds. */
  readonly clockOffset: number
}

/** The facts for a delivery without a sender. */
export const NO_SENDER: SenderFacts = { groupId: null, delivery: null, clockOffset: 0 }

export type SenderInput = {
  readonly source: Source
  /** The cluster assigned to the token, or ''. */
  readonly cluster: string
  /** The items of this request, or of this chunk if the request is large. */
  readonly intake: Intake
  /** All items of the request. */
  readonly whole: Intake
  readonly receivedAt: number
}

/** Updates item counts, the group's delivery interval, and the heartbeat of a sender. */
export function updateSender(ctx: Context, sending: SenderInput): SenderFacts {
  const { receivedAt, whole } = sending
  const known = findSender(ctx, sending)
  const before = known ?? newSender(ctx, sending)
  const reportsEnds = before.reportsEnds || whole.accepted.some(({ draft }) => isReportedEnd(draft))
  const counted = count({ ...before, reportsEnds }, sending.intake, receivedAt)
  const { sender, groupId, interval } = whole.group
    ? updateGroup(ctx, counted, whole.group, receivedAt)
    : { sender: counted, groupId: null, interval: null }
  const drafts = whole.accepted.map(({ draft }) => draft)
  const reading = readingOf(drafts, receivedAt)
  const learned = withLearnedBehavior(sender, drafts, reading, receivedAt)
  const beats = drafts.some(isHeartbeat)
  const after = beats ? { ...learned, ...withHeartbeat(sender, receivedAt, sender.deliveryInterval) } : learned
  ctx.put.sender(after)
  if (!before.reportsRepeats && after.reportsRepeats) recheckConditions(ctx, after, receivedAt)
  if (beats && before.heartbeatAt !== null && before.heartbeatDueAt === null)
    resolveHeartbeatIncident(ctx, before, receivedAt)
  const clockOffset = offsetIn(after.clock, sending.source, reading)
  return {
    groupId,
    delivery: groupId === null ? null : deliveryOf(after, interval),
    clockOffset,
  }
}

/** Returns how a sender delivers the alerts of a group. */
export function deliveryOf(
  { deliveryInterval, reportsEnds, lastEventAt }: LiveSender,
  group: DeliveryInterval | null,
): Delivery {
  return { repeatTimeout: repeatTimeoutOf(group, deliveryInterval), reportsEnds, heardAt: lastEventAt }
}

/** Adds the items of a later chunk to the counts. The first chunk has already updated everything else. */
export function countLaterChunk(ctx: Context, sending: SenderInput): void {
  const before = findSender(ctx, sending)
  const after = count(before ?? newSender(ctx, sending), sending.intake, sending.receivedAt)
  ctx.put.sender(after)
}

const MAX_SENDERS = BUDGETS.senders.value
const MAX_GROUPS = BUDGETS.groups.value

function keyOf({ source, cluster, whole }: SenderInput) {
  return { source, cluster, receiver: whole.group?.receiver ?? whole.receiver ?? '' }
}

/** Returns the key of a sender. Beyond the limit, the receivers of a source in a cluster share one sender. */
function sharedKeyOf({ state }: Context, sending: SenderInput) {
  const key = keyOf(sending)
  const isKnown = state.senders.size() < MAX_SENDERS || state.senders.get(senderKey(key)) !== undefined
  return isKnown ? key : { ...key, receiver: '' }
}

function findSender(ctx: Context, sending: SenderInput): LiveSender | null {
  return ctx.state.senders.get(senderKey(sharedKeyOf(ctx, sending))) ?? null
}

function newSender(ctx: Context, sending: SenderInput): LiveSender {
  return {
    rowId: ctx.rowId('senders'),
    organizationId: ctx.state.rowId,
    ...sharedKeyOf(ctx, sending),
    ...{ events: 0, rejections: 0, lastEventAt: null, lastRejectionAt: null },
    ...{ reportsEnds: false, reportsRepeats: false, lag: null, clock: null, namesCluster: null },
    deliveryInterval: { longestGap: 0, gaps: 0 },
    hours: NO_HOURS,
    ...{ heartbeatAt: null, heartbeatGap: 0, heartbeatDueAt: null },
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
    // This sender forwards the repeat counts from Kubernetes.
    reportsRepeats ||= draft.source === 'cluster' && draft.count > 1
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

/**
 * Returns whether a draft is a firing heartbeat, such as Watchdog. InfoInhibitor is not a heartbeat because it does not
 * always fire.
 */
function isHeartbeat(draft: Draft): boolean {
  return (
    'nature' in draft && draft.nature === 'heartbeat' && draft.name !== 'InfoInhibitor' && draft.status === 'firing'
  )
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

function updateGroup(ctx: Context, sender: LiveSender, sent: NonNullable<Intake['group']>, at: number) {
  const { members, truncated } = sent
  const key = digest(sent.key)
  const before = ctx.state.groups.get(groupKey(sender.rowId, key)) ?? null
  if (before === null && ctx.state.groups.size() >= MAX_GROUPS) return { sender, groupId: null, interval: null }
  const counted = withDelivery(before, { members, at })
  const isProven = before !== null && hasInferredEnd(ctx, before)
  const delivered = isProven ? { ...counted, group: withProvenGap(counted) } : counted
  const { group } = delivered
  const groupId = before?.rowId ?? ctx.rowId('groups')
  const after = { ...group, rowId: groupId, senderId: sender.rowId, key }
  ctx.put.group(after)
  const interval = withReceiverInterval(sender.deliveryInterval, before, delivered)
  if (truncated) postponeGroup(ctx, groupId, at)
  const learned = { ...sender, deliveryInterval: interval }
  if (!sender.reportsEnds) hastenGroups(ctx, sender, learned, { before, after })
  return { sender: learned, groupId, interval: group }
}

/**
 * Returns whether an alert of the group's last delivery was considered ended for lack of repeats. If the same members
 * are delivered again, that was wrong.
 */
function hasInferredEnd({ state }: Context, { rowId, deliveredAt }: LiveGroup): boolean {
  for (const alertId of state.alertsOfGroup.get(rowId)) {
    const alert = state.alerts.get(alertId)?.alert
    if (alert?.resolution === 'inferred' && alert.receivedAt === deliveredAt) return true
  }
  return false
}

/**
 * Brings forward the due times of the group's alerts if its delivery interval became shorter. When the interval of the
 * receiver becomes known, does the same for its groups without an interval of their own.
 */
function hastenGroups(
  ctx: Context,
  sender: LiveSender,
  learned: LiveSender,
  { before, after }: { readonly before: LiveGroup | null; readonly after: LiveGroup },
): void {
  const becameKnown = !isKnown(sender.deliveryInterval) && isKnown(learned.deliveryInterval)
  const timeout = repeatTimeoutOf(after, learned.deliveryInterval)
  // This delivery confirmed the alerts that it contains, so only the group's other alerts may now be due earlier.
  if (timeout < repeatTimeoutOf(before, sender.deliveryInterval)) hastenGroup(ctx, after.rowId, timeout)
  if (!becameKnown) return
  for (const group of [...ctx.state.groups.values()]) {
    if (group.senderId === sender.rowId && !isKnown(group))
      hastenGroup(ctx, group.rowId, repeatTimeoutOf(null, learned.deliveryInterval))
  }
}

function hastenGroup(ctx: Context, groupId: number, timeout: number): void {
  forEachFiring(ctx, groupId, (receivedAt, dueAt) => ({ receivedAt, dueAt: Math.min(dueAt, receivedAt + timeout) }))
}

/** Postpones the due times of a group's firing alerts, including alerts omitted from the delivery. */
function postponeGroup(ctx: Context, groupId: number, at: number): void {
  forEachFiring(ctx, groupId, (receivedAt, dueAt) => ({ receivedAt: at, dueAt: dueAt + at - receivedAt }))
}

type Times = { readonly receivedAt: number; readonly dueAt: number }

function forEachFiring(ctx: Context, groupId: number, change: (receivedAt: number, dueAt: number) => Times): void {
  for (const rowId of [...ctx.state.alertsOfGroup.get(groupId)]) {
    const before = ctx.state.alerts.get(rowId)
    if (before?.alert.status !== 'firing') continue
    const { receivedAt, dueAt } = change(before.alert.receivedAt, before.dueAt)
    if (receivedAt === before.alert.receivedAt && dueAt === before.dueAt) continue
    const isConfirmed = receivedAt !== before.alert.receivedAt
    const seen = isConfirmed ? before.fingerprints?.map((one) => ({ ...one, seenAt: receivedAt })) : null
    const fingerprints = seen ?? before.fingerprints
    const after = { ...before, dueAt, fingerprints, alert: { ...before.alert, receivedAt } }
    ctx.put.alert(after)
  }
}

/** Opens an incident for a missing heartbeat. A sender that stops sending heartbeats cannot report problems either. */
export function openHeartbeatIncident(ctx: Context, sender: LiveSender, now: number): void {
  ctx.put.sender({ ...sender, heartbeatDueAt: null })
  if (!settingsOf(ctx.state).heartbeats) return
  const key = serviceKeyOf(sender)
  const service = findService(ctx.state, key) ?? createLiveService(ctx, key, now)
  if (oldestOpenIncident(ctx.state, service.rowId)) return
  const lastBeat = sender.heartbeatAt ?? now
  const minutes = Math.round((now - lastBeat) / 60_000)
  openIncident(
    ctx,
    {
      serviceId: service.rowId,
      title: `source silent: ${nameOf(sender)}`,
      ...{ severity: 'critical', origin: 'automatic', cause: 'silence' },
      startedAt: lastBeat,
      touchedAt: null,
      problem: { ...alarmed(NO_PROBLEM, now), since: lastBeat },
      previous: null,
      text: `opened: no heartbeat for ${minutes} minutes; problems may go unreported`,
      actor: null,
    },
    now,
  )
}

/** Resolves the incident for a missing heartbeat when the heartbeat returns. */
function resolveHeartbeatIncident(ctx: Context, sender: LiveSender, now: number): void {
  const service = findService(ctx.state, serviceKeyOf(sender))
  const incident = service && oldestOpenIncident(ctx.state, service.rowId)
  if (incident?.cause !== 'silence') return
  const problem = closed(incident.problem, now)
  const after = { ...incident, status: 'resolved', resolvedAt: now, problem } as const
  moveIncident(ctx, { before: incident, after, why: 'the heartbeat is back', actor: null, now })
}

function serviceKeyOf(sender: LiveSender) {
  return { cluster: sender.cluster, namespace: '', name: `source/${nameOf(sender)}` }
}

function nameOf({ source, receiver }: LiveSender): string {
  return receiver === '' ? source : `${source}/${receiver}`
}
