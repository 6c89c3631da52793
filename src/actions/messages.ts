/** Takes messages from the outbox for sending, and records the result of each attempt. */
import { problemAt } from '../domain/incident/problem.ts'
import { once } from '../domain/memoize.ts'
import { AT_ONCE_WITHIN, GROUP_PAUSE, paceOf, resultOf, retryPause } from '../domain/notification/schedule.ts'
import { type Untold, verdictOf } from '../domain/notification/truth.ts'
import type { MessageItem, MessageText } from '../domain/notification/words.ts'
import type { IncidentGroup } from '../domain/suspect/group.ts'
import { findGroups } from '../store/incident/groups.ts'
import { insertUntold } from '../store/incident/told.ts'
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
  findBegunMessage,
  findRemoteId,
  giveUpNotifications,
  hasDelivered,
  type Leader,
  listSentAt,
  postponeMessage,
  storeSent,
} from '../store/notification/outbox.ts'
import {
  beginMessage,
  deleteNotification,
  failDeleted,
  findGroupSentAt,
  listBegun,
  listQueue,
  postponeNotification,
  type QueuedEntry,
  releaseMessage,
} from '../store/notification/queue.ts'
import type { Deps } from './deps.ts'

/**
 * The maximum number of notifications in a message. Further notifications go into the next message. A webhook message
 * lists all of its notifications; other messages contain only counts.
 */
const MAX_LISTED = 500
const MAX_COUNTED = 2_000

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
  if (!leader || leader.dueAt > now) return null
  const items = listItems(deps.db, leader.rowId, groups(), now)
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

/** Returns the message that is being sent, unless something in it is no longer true. */
function begun(deps: Deps, { rowId }: ChannelRecord, now: number): Leader | undefined {
  const leader = findBegunMessage(deps.db, rowId)
  if (!leader || leader.dueAt > now) return leader
  const entries = listBegun(deps.db, leader.rowId)
  if (entries.every((entry) => verdictOf(entry, now).do === 'send')) return leader
  deps.db.transaction(() => {
    releaseMessage(deps.db, leader.rowId)
    sort(deps, rowId, entries, now)
  })
  return undefined
}

/** Begins the next message of a channel: the first three in 30 seconds at once, then a digest. */
function begin(deps: Deps, { rowId, kind }: ChannelRecord, groupsOf: () => Groups, now: number): Leader | undefined {
  failDeleted(deps.db, rowId, now)
  const queue = listQueue(deps.db, rowId, now, kind === 'webhook' ? MAX_LISTED : MAX_COUNTED)
  if (queue.length === 0) return undefined
  const isShared = (entry: QueuedEntry) => isNewIncident(entry) || entry.kind === 'recovered'
  const groups: Groups = queue.some(isShared) ? groupsOf() : new Map()
  const isBegun = deps.db.transaction(() => {
    const [first, ...others] = withGroups(deps, rowId, sort(deps, rowId, queue, now), groups)
    if (!first) return false
    const sentAt = listSentAt(deps.db, rowId, Math.min(first.dueAt, now) - AT_ONCE_WITHIN)
    const pace = paceOf(sentAt, first.dueAt, now)
    if (pace === 'wait') return false
    const together = others.filter((one) => {
      if (first.group !== null || one.group !== null) return one.group === first.group
      return pace === 'digest' || isSameMessage(one, first) || isSameRecovery(one, first, groups)
    })
    const rowIds = [first, ...together].map((one) => one.rowId)
    beginMessage(deps.db, rowIds, first.group === null ? 'opened' : 'group')
    return true
  })
  return isBegun ? findBegunMessage(deps.db, rowId) : undefined
}

function isNewIncident({ kind }: QueuedEntry): boolean {
  return kind === 'opened' || kind === 'group'
}

type Groups = ReturnType<typeof findGroups>
type GroupedEntry = QueuedEntry & { readonly group: IncidentGroup | null }

/**
 * Finds the groups of new incidents, which are announced together. A channel gets at most one message a minute about a
 * group. Drops what the channel wants to hear in the other form only.
 */
function withGroups(deps: Deps, channelId: number, entries: readonly QueuedEntry[], groups: Groups): GroupedEntry[] {
  const now = deps.now()
  const nextAt = new Map<IncidentGroup, number>()
  return entries.flatMap((entry): GroupedEntry[] => {
    const group = (isNewIncident(entry) && groups.get(entry.incidentUuid)) || null
    const form = group === null || entry.only === 'opened' ? null : group
    if (!isNewIncident(entry) || (form === null && entry.only !== 'group')) return [{ ...entry, group: form }]
    if (form === null) {
      drop(deps, channelId, entry, 'rule', now)
      return []
    }
    const sentAt = nextAt.has(form) ? null : findGroupSentAt(deps.db, channelId, form.members)
    if (!nextAt.has(form)) nextAt.set(form, sentAt === null || sentAt > now ? now : sentAt + GROUP_PAUSE)
    const dueAt = nextAt.get(form) ?? now
    if (dueAt <= now) return [{ ...entry, group: form }]
    postponeNotification(deps.db, entry.rowId, dueAt)
    return []
  })
}

function drop(deps: Deps, channelId: number, { rowId, incidentId, kind }: QueuedEntry, reason: Untold, now: number) {
  deleteNotification(deps.db, rowId)
  insertUntold(deps.db, [{ incidentId, channelId, kind, at: now, reason }])
}

function isSameMessage(one: QueuedEntry, first: QueuedEntry): boolean {
  return one.incidentId === first.incidentId && one.isDigest === first.isDigest
}

/** Returns whether two incidents with the same cause recovered at about the same time. */
function isSameRecovery(one: QueuedEntry, first: QueuedEntry, groups: Groups): boolean {
  if (one.kind !== 'recovered' || first.kind !== 'recovered' || one.isDigest !== first.isDigest) return false
  const group = groups.get(first.incidentUuid)
  return group !== undefined && groups.get(one.incidentUuid) === group
}

/** Drops the notifications that are no longer true and postpones those that must wait. Returns the others. */
function sort(deps: Deps, channelId: number, entries: readonly QueuedEntry[], now: number): QueuedEntry[] {
  return entries.filter((entry) => {
    const verdict = verdictOf(entry, now)
    if (verdict.do === 'send') return true
    if (verdict.do === 'wait') postponeNotification(deps.db, entry.rowId, verdict.until)
    else drop(deps, channelId, entry, verdict.reason, now)
    return false
  })
}

/** Returns the message with its present state, or null if it is no longer true. */
export function retake(deps: Deps, message: Message): Message | null {
  if (message.leader.attempts === 0 && !begun(deps, message.channel, deps.now())) return null
  const groups = findGroups(deps.db, message.channel.organizationId)
  const items = listItems(deps.db, message.leader.rowId, groups, deps.now())
  return items.length === 0 ? null : { ...message, items }
}

/** Stores what is sent, with the state that justifies it, before the first attempt. */
export function recordSent(
  deps: Deps,
  { leader, items }: Message,
  { title, body }: Pick<MessageText, 'title' | 'body'>,
): void {
  const last = items.at(-1)
  if (!last) return
  const { status, problem } = last.incident
  const ofGroup = last.kind === 'group' && last.group ? { leader: last.group.leader.id } : {}
  const state = { status, problem: problemAt(problem, deps.now()), firing: problem.firing }
  storeSent(deps.db, leader.rowId, { title, body, kind: last.kind, ...state, ...ofGroup })
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
