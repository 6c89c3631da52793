/** Takes messages from the outbox for sending, and records the result of each attempt. */
import { MIN_MESSAGE_INTERVAL, resultOf, retryPause } from '../domain/notification/schedule.ts'
import type { MessageItem } from '../domain/notification/words.ts'
import {
  type ChannelRecord,
  type ChannelSecrets,
  findChannelByRow,
  loadChannelSecrets,
  recordDelivery,
  recordFailure,
} from '../store/notification/channels.ts'
import {
  beginMessage,
  endMessage,
  findBegunMessage,
  findRemoteId,
  giveUpNotifications,
  hasDelivered,
  type Leader,
  listItems,
  postponeMessage,
  pruneOutbox,
} from '../store/notification/outbox.ts'
import type { Deps } from './deps.ts'

/**
 * The maximum number of notifications in a message. Further notifications go into the next message. A webhook message
 * lists all of its notifications; other messages contain only counts.
 */
const MAX_LISTED = 500
const MAX_COUNTED = 2_000
const KEPT_FOR = 30 * 86_400_000
const PRUNE_STEP = 1_000

/** A message to send now. */
export type Message = {
  readonly leader: Leader
  readonly channel: ChannelRecord
  readonly secrets: ChannelSecrets
  readonly items: readonly MessageItem[]
  /** The incident, if all notifications are about the same incident; otherwise null. */
  readonly incidentId: string | null
  /** The receiver's id for the first message about that incident. */
  readonly replyTo: string | null
  readonly isFirst: boolean
}

/**
 * The result of an attempt. `status`: the HTTP status; null if there was no response. `retryAfter` is in milliseconds.
 */
export type SendOutcome = {
  readonly status: number | null
  readonly detail: string | null
  readonly remoteId: string | null
  readonly retryAfter: number
}

/**
 * Returns the message to send now, or null if the channel must wait. A message interrupted by a crash is sent again.
 */
export function takeMessage(deps: Deps, channelId: number): Message | null {
  const now = deps.now()
  const channel = findChannelByRow(deps.db, channelId)
  const secrets = channel && loadChannelSecrets(deps.db, channelId)
  if (!channel || !secrets) return null
  if (!channel.enabled) {
    giveUpNotifications(deps.db, channelId, 'the channel is disabled', now)
    return null
  }
  const leader = findBegunMessage(deps.db, channelId) ?? begin(deps, channel, now)
  if (!leader || leader.dueAt > now) return null
  const items = listItems(deps.db, leader.rowId)
  if (leader.expiresAt <= now || items.length === 0) {
    const detail = items.length === 0 ? 'the incident was deleted' : 'the message is older than 24 hours'
    endMessage(deps.db, leader, 'failed', { status: null, detail, remoteId: null }, now)
    return null
  }
  const [incidentId = null, second] = [...new Set(items.map(({ incident }) => incident.id))]
  const single = second === undefined ? incidentId : null
  const replyTo = single === null ? null : findRemoteId(deps.db, channelId, single)
  const isFirst = single === null || !hasDelivered(deps.db, channelId, single)
  return { leader, channel, secrets, items, incidentId: single, replyTo, isFirst }
}

function begin(deps: Deps, { rowId, kind, deliveredAt }: ChannelRecord, now: number): Leader | undefined {
  // Setting the clock back must not block the channel.
  const pause = deliveredAt === null ? MIN_MESSAGE_INTERVAL : now - deliveredAt
  if (pause >= 0 && pause < MIN_MESSAGE_INTERVAL) return undefined
  const limit = kind === 'webhook' ? MAX_LISTED : MAX_COUNTED
  const isBegun = deps.db.transaction(() => beginMessage(deps.db, rowId, now, limit))
  return isBegun ? findBegunMessage(deps.db, rowId) : undefined
}

/** Records the result of an attempt. @param jitter from 0 to 1 */
export function settleMessage(deps: Deps, { leader, channel }: Message, outcome: SendOutcome, jitter: number): void {
  const now = deps.now()
  const { status, detail, retryAfter } = outcome
  const nextAt = now + retryPause(leader.attempts + 1, jitter, retryAfter)
  const fate = resultOf(status, nextAt >= leader.expiresAt)
  deps.db.transaction(() => {
    if (fate === 'delivered') {
      endMessage(deps.db, leader, 'delivered', { ...outcome, detail: null }, now)
      recordDelivery(deps.db, channel.rowId, now)
      return
    }
    const why = detail ?? `the receiver responded with ${status}`
    recordFailure(deps.db, channel.rowId, why, now, fate === 'disable')
    if (fate === 'retry') {
      postponeMessage(deps.db, leader, outcome, nextAt)
      return
    }
    endMessage(deps.db, leader, 'failed', { ...outcome, detail: why }, now)
    if (fate === 'disable') giveUpNotifications(deps.db, channel.rowId, why, now)
  })
}

/** Deletes some of the messages that were delivered or abandoned more than 30 days ago. */
export function pruneMessages(deps: Deps): void {
  pruneOutbox(deps.db, deps.now() - KEPT_FOR, PRUNE_STEP)
}
