/** Senders: what a delivery tells of whoever sent it, heard once. Inside a transaction. */

import { deliver, silenceOf, withPause } from '../domain/alert/delivery-interval.ts'
import { withLag } from '../domain/alert/lag.ts'
import type { Draft, Intake } from '../domain/event/event.ts'
import { digest } from '../domain/event/fingerprint.ts'
import { beat } from '../domain/event/heartbeat.ts'
import { hastenGroup, hearGroup } from '../store/due-alerts.ts'
import { findGroup, insertGroup, updateGroup } from '../store/groups.ts'
import { findHabits, findLag, storeLag, storeReportsRepeats } from '../store/sender-habits.ts'
import { findOrMakeSender, type SenderRow, updateSender } from '../store/sender-rows.ts'
import type { Delivery } from './delivery.ts'
import type { Deps } from './deps.ts'
import { endSilence } from './silence.ts'

/** What each item must know of its sender: its group, and the silence after which its alerts are believed over. */
export type Heard = { readonly groupId: number | null; readonly silence: number | null }

/** Where nobody is heard. */
export const UNHEARD: Heard = { groupId: null, silence: null }

/** Counts the delivery for its sender, learns the rhythm of its group, and hears the heart beat. */
export function hear(deps: Deps, delivery: Delivery): Heard {
  const { receivedAt } = delivery
  const intake = delivery.part?.whole ?? delivery.intake
  const before = findSender(deps, delivery)
  const reportsEnds = before.reportsEnds || intake.accepted.some(({ draft }) => isReportedEnd(draft))
  const counted = count({ ...before, reportsEnds }, delivery.intake, receivedAt)
  const { sender, groupId, rhythm } = intake.group
    ? hearMembers(deps, counted, intake.group, receivedAt)
    : { sender: counted, groupId: null, rhythm: null }
  learnHabits(deps, before, intake, receivedAt)
  const beats = intake.accepted.some(({ draft }) => isBeat(draft))
  updateSender(deps.db, beats ? { ...sender, ...beat(sender, receivedAt, sender.rhythm) } : sender)
  if (beats && before.heartbeatAt !== null && before.heartbeatDueAt === null) endSilence(deps, before, receivedAt)
  return { groupId, silence: reportsEnds ? null : silenceOf(rhythm, sender.rhythm) }
}

/** Of a further part nothing is new but its items. */
export function hearMore(deps: Deps, delivery: Delivery, heard: Heard): Heard {
  updateSender(deps.db, count(findSender(deps, delivery), delivery.intake, delivery.receivedAt))
  return heard
}

function findSender(deps: Deps, { organizationId, source, cluster, intake: { group } }: Delivery): SenderRow {
  return findOrMakeSender(deps.db, { organizationId, source, cluster, receiver: group?.receiver ?? '' })
}

function isReportedEnd(draft: Draft): boolean {
  return (draft.source === 'metrics' || draft.source === 'dashboard') && draft.status === 'resolved'
}

/** Learns from Kubernetes events whether their sender reports repeats, and how late it delivers. */
function learnHabits({ db }: Deps, sender: SenderRow, { accepted }: Intake, receivedAt: number): void {
  if (sender.source !== 'cluster') return
  for (const { draft } of accepted) {
    const before = findLag(db, sender.id)
    const lag = withLag(before, { at: draft.at, receivedAt })
    if (lag !== before) storeLag(db, sender.id, lag)
    if (isRepeat(draft) && !findHabits(db, sender.organizationId).repeats) storeReportsRepeats(db, sender, receivedAt)
  }
}

/** The sender passes on that Kubernetes counted the event again. */
function isRepeat(draft: Draft): boolean {
  return draft.source === 'cluster' && draft.count > 1
}

/** Watchdog alone, while it fires: InfoInhibitor comes and goes, and an end says that nobody is awake any more. */
function isBeat(draft: Draft): boolean {
  return 'nature' in draft && draft.nature === 'heartbeat' && draft.name === 'Watchdog' && draft.status === 'firing'
}

function count(sender: SenderRow, { accepted, rejected }: Intake, at: number): SenderRow {
  return {
    ...sender,
    events: sender.events + accepted.length,
    rejections: sender.rejections + rejected.length,
    // What is imported, or stored in parts, may have been received before.
    lastEventAt: accepted.length > 0 ? Math.max(sender.lastEventAt ?? at, at) : sender.lastEventAt,
    lastRejectionAt: rejected.length > 0 ? Math.max(sender.lastRejectionAt ?? at, at) : sender.lastRejectionAt,
  }
}

function hearMembers(deps: Deps, sender: SenderRow, sent: NonNullable<Intake['group']>, at: number) {
  const { members, truncated } = sent
  const key = digest(sent.key)
  const before = findGroup(deps.db, sender.id, key)
  const delivered = deliver(before, { members, at })
  const { group } = delivered
  const groupId = before?.id ?? insertGroup(deps.db, sender.id, key, group)
  if (before) updateGroup(deps.db, sender.id, key, { id: groupId, ...group })
  const rhythm = withPause(sender.rhythm, before, delivered)
  if (truncated) hearGroup(deps.db, groupId, at)
  // Members of this delivery are heard with it; only what is missing from it may be due sooner than was known.
  const silence = silenceOf(group, rhythm)
  if (!sender.reportsEnds && silence < silenceOf(before, sender.rhythm)) hastenGroup(deps.db, groupId, silence)
  return { sender: { ...sender, rhythm }, groupId, rhythm: group }
}
