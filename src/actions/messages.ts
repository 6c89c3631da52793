/** Takes messages from the outbox for sending, and records the result of each attempt. */
import { problemAt } from '../domain/incident/problem.ts'
import { once } from '../domain/memoize.ts'
import { namedIn } from '../domain/notification/digest-order.ts'
import { spokenOf } from '../domain/notification/group-words.ts'
import { othersPause, resultOf, retryPause, SWITCHED_OFF } from '../domain/notification/schedule.ts'
import type { MessageItem, MessageText } from '../domain/notification/words.ts'
import { SECOND } from '../domain/units.ts'
import { findGroups } from '../store/incident/groups.ts'
import {
  type ChannelRecord,
  type ChannelSecrets,
  findChannelByRow,
  loadChannelSecrets,
  recordDelivery,
  recordFailure,
} from '../store/notification/channels.ts'
import { listItems } from '../store/notification/items.ts'
import {
  endMessage,
  findRemoteId,
  giveUpNotifications,
  hasDelivered,
  holdMessages,
  type Leader,
  postponeMessage,
  pruneOutbox,
  retryNotificationsNow,
  storeSent,
} from '../store/notification/outbox.ts'
import { beginMessage, listQueue } from '../store/notification/queue.ts'
import { begin, begun, isTrue } from './begin-message.ts'
import type { Deps } from './deps.ts'
import { groupOf } from './sort-queue.ts'

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
  const groups = once(() => findGroups(deps.db, channel.organizationId))
  const leader = begun(deps, channel, now) ?? begin(deps, channel, groups, now)
  if (!leader) return null
  const items = spokenOf(listItems(deps.db, leader.rowId, groups(), now))
  if (leader.expiresAt <= now || items.length === 0) {
    const detail = items.length === 0 ? 'the incident was deleted' : 'the message is older than 24 hours'
    endMessage(deps.db, leader, 'failed', { status: null, detail, remoteId: null }, now)
    return null
  }
  const single = subjectOf(items)
  const replyTo = single === null ? null : findRemoteId(deps.db, channelId, single)
  const isFirst = single === null || !hasDelivered(deps.db, channelId, single)
  return { leader, channel, secrets, items, incidentId: single, replyTo, isFirst }
}

/** Returns the incident that a message is about: its only one, or the leader of its group; null for a digest. */
function subjectOf(items: readonly MessageItem[]): string | null {
  const subjects = new Set(
    items.map(({ kind, group, incident }) => (kind === 'group' && group?.leader.id) || incident.id),
  )
  const [first = null, second] = [...subjects]
  return second === undefined ? first : null
}

/** Returns the message with its present state, or null if it is no longer true. */
export function retake(deps: Deps, message: Message): Message | null {
  if (!isTrue(deps, message.channel, message.leader, deps.now())) return null
  const groups = findGroups(deps.db, message.channel.organizationId)
  joinLate(deps, message, groups)
  const items = spokenOf(listItems(deps.db, message.leader.rowId, groups, deps.now()))
  return items.length === 0 ? null : { ...message, items }
}

/** An opening waits for its likely cause for at most so long. */
const LATE = SECOND
const MAX_LATE = 500

/** Adds the incidents that have joined a group since the message about it was begun: the text names them. */
function joinLate({ db, now }: Deps, { leader, channel, items }: Message, groups: ReturnType<typeof findGroups>): void {
  const group = items[0]?.kind === 'group' ? groups.get(items[0].incident.id) : undefined
  if (!group) return
  const queue = listQueue(db, channel.rowId, now() + LATE, MAX_LATE)
  const late = queue.filter((entry) => groupOf(entry, groups) === group)
  if (late.length > 0) beginMessage(db, [leader.rowId, ...late.map(({ rowId }) => rowId)], 'group')
}

/** Stores what is sent, with the state that justifies it, before the first attempt. */
export function recordSent(
  deps: Deps,
  { leader, items }: Message,
  { title, titleWithoutAge, body }: Pick<MessageText, 'title' | 'titleWithoutAge' | 'body'>,
): void {
  const last = items.at(-1)
  if (!last) return
  const { status, problem } = last.incident
  const ofGroup = last.kind === 'group' && last.group ? { leader: last.group.leader.id } : {}
  const at = deps.now()
  const state = { status, problem: problemAt(problem, at), firing: problem.firing, at, named: namedIn(items, at) }
  storeSent(deps.db, leader.rowId, { title, titleWithoutAge, body, kind: last.kind, ...state, ...ofGroup })
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
      retryNotificationsNow(deps.db, channel.rowId, now)
      return
    }
    const answer = status === null ? null : `the receiver responded with ${status}`
    const why = [answer, detail].filter((part) => part !== null).join(': ')
    recordFailure(deps.db, channel.rowId, fate === 'disable' ? `${SWITCHED_OFF}${why}` : why, now, fate === 'disable')
    if (fate === 'retry') {
      postponeMessage(deps.db, leader, { ...outcome, detail: why }, nextAt)
      holdMessages(deps.db, channel.rowId, leader, now + othersPause(retryAfter))
      return
    }
    endMessage(deps.db, leader, 'failed', { ...outcome, detail: why }, now)
    if (fate === 'disable') giveUpNotifications(deps.db, channel.rowId, why, now)
  })
}

const KEPT_FOR = 30 * 86_400_000
const PRUNE_STEP = 1_000

/** Deletes some of the messages that were delivered or abandoned more than 30 days ago. */
export function pruneMessages(deps: Deps): void {
  pruneOutbox(deps.db, deps.now() - KEPT_FOR, PRUNE_STEP)
}
