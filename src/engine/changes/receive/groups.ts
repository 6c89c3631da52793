/** Learns how often a sender repeats the alerts of a group. */
import { BUDGETS } from '../../../domain/budgets.ts'
import type { Intake } from '../../../domain/event/event.ts'
import { digest } from '../../../domain/event/fingerprint.ts'
import {
  isKnown,
  repeatTimeoutOf,
  withDelivery,
  withProvenGap,
  withReceiverInterval,
} from '../../../domain/sender/delivery-interval.ts'
import type { LiveGroup, LiveSender } from '../../../domain/sender/sender.ts'
import type { Context } from '../../state/context.ts'
import { groupKey } from '../../state/state.ts'
import { makeDue } from '../live-service.ts'

const MAX_GROUPS = BUDGETS.groups.value

/**
 * Updates a group and the delivery interval of its sender.
 * @param isUntaught whether the pause teaches nothing about other groups of the sender: its heartbeat was missing
 */
export function updateGroup(
  ctx: Context,
  sender: LiveSender,
  sent: NonNullable<Intake['group']>,
  at: number,
  isUntaught: boolean,
) {
  const { members, truncated } = sent
  const key = digest(sent.key)
  const before = ctx.state.groups.get(groupKey(sender.rowId, key)) ?? null
  if (before === null && ctx.state.groups.size() >= MAX_GROUPS) return { sender, groupId: null, interval: null }
  const counted = withDelivery(before, { members, at }, ctx.state.awaited.get('period')?.since)
  const isProven = before !== null && counted.gap !== null && hasInferredEnd(ctx, before)
  const delivered = isProven ? { ...counted, group: withProvenGap(counted) } : counted
  const { group } = delivered
  const groupId = before?.rowId ?? ctx.rowId('groups')
  const after = { ...group, rowId: groupId, senderId: sender.rowId, key }
  ctx.put.group(after)
  const interval = isUntaught
    ? sender.deliveryInterval
    : withReceiverInterval(sender.deliveryInterval, before, delivered)
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
    if (alert?.resolution === 'inferred' && alert.receivedAt >= deliveredAt) return true
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
  forEachFiring(ctx, groupId, (receivedAt, dueAt) => {
    return { receivedAt: at, isSeen: true, dueAt: dueAt + at - receivedAt }
  })
}

/**
 * Gives a sender that was silent as much time as usual to repeat the alerts that still fire. The pauses of its other
 * groups begin now, because its silence teaches nothing about them.
 * @param sent the group that it delivers
 */
export function awaitRepeatsOf(
  ctx: Context,
  { rowId, deliveryInterval, reportsEnds }: LiveSender,
  sent: Intake['group'],
  at: number,
): void {
  const own = sent && digest(sent.key)
  for (const group of [...ctx.state.groups.values()]) {
    if (group.senderId !== rowId) continue
    const dueAt = at + repeatTimeoutOf(group, deliveryInterval)
    if (!reportsEnds) forEachFiring(ctx, group.rowId, () => ({ receivedAt: at, dueAt }))
    if (group.key !== own) ctx.put.group({ ...group, deliveredAt: at })
  }
}

/** `isSeen`: whether the alert counts as reported at `receivedAt`. */
type Times = { readonly receivedAt: number; readonly isSeen?: boolean; readonly dueAt: number }

function forEachFiring(ctx: Context, groupId: number, change: (receivedAt: number, dueAt: number) => Times): void {
  for (const rowId of [...ctx.state.alertsOfGroup.get(groupId)]) {
    const before = ctx.state.alerts.get(rowId)
    if (before?.alert.status !== 'firing') continue
    const { dueAt, receivedAt, isSeen = false } = change(before.alert.receivedAt, before.dueAt)
    if (receivedAt === before.alert.receivedAt && dueAt === before.dueAt) continue
    const isConfirmed = receivedAt !== before.alert.receivedAt
    const confirmed = isConfirmed ? before.fingerprints?.map((one) => ({ ...one, seenAt: receivedAt })) : null
    const fingerprints = confirmed ?? before.fingerprints
    const lastSeenAt = Math.max(before.alert.lastSeenAt, isSeen ? receivedAt : 0)
    const after = { ...before, dueAt, fingerprints, alert: { ...before.alert, receivedAt, lastSeenAt } }
    ctx.put.alert(after)
    // The health depends on how long an alert has been seen.
    if (after.alert.lastSeenAt > before.alert.lastSeenAt) makeDue(ctx, before.serviceId, receivedAt)
  }
}
