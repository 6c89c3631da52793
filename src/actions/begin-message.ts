/** Begins the messages of a channel: which notifications are sent together, and when. */
import { GATHERING } from '../domain/incident/problem.ts'
import { PAGES, REMINDERS } from '../domain/notification/kind.ts'
import { AT_ONCE_WITHIN, GROUP_PAUSE, paceOf, TRY_EVERY } from '../domain/notification/schedule.ts'
import { RECHECK_MS } from '../domain/notification/truth.ts'
import type { IncidentGroup } from '../domain/suspect/group.ts'
import type { findGroups } from '../store/incident/groups.ts'
import type { ChannelRecord } from '../store/notification/channels.ts'
import { findBegunMessage, findFailedSince, type Leader, listSent } from '../store/notification/outbox.ts'
import {
  beginMessage,
  failDeleted,
  findGroupSentAt,
  joinBegun,
  listBegun,
  listQueue,
  postponeNotification,
  type QueuedEntry,
  releaseMessage,
} from '../store/notification/queue.ts'
import type { Deps } from './deps.ts'
import { drop, groupOf, isNewIncident, sort, verdictIn } from './sort-queue.ts'

/**
 * The maximum number of notifications in a message. Further notifications go into the next message. A webhook message
 * lists all of its notifications; other messages contain only counts.
 */
const MAX_LISTED = 500
const MAX_COUNTED = 2_000

/** Returns the next message that is being sent, unless something in it is no longer true. */
export function begun(deps: Deps, channel: ChannelRecord, now: number): Leader | undefined {
  const leader = findBegunMessage(deps.db, channel.rowId, now)
  return leader && isTrue(deps, channel, leader, now) ? leader : undefined
}

/** Returns whether a message is still true. Takes it apart if it is not. */
export function isTrue(deps: Deps, channel: ChannelRecord, { rowId }: Leader, now: number): boolean {
  const entries = listBegun(deps.db, rowId)
  const together = Map.groupBy(entries, ({ incidentId }) => incidentId)
  const isSent = (entry: QueuedEntry) =>
    verdictIn(deps, channel, entry, together.get(entry.incidentId) ?? [], now).do === 'send'
  if (entries.every(isSent)) return true
  const waiting = listQueue(deps.db, channel.rowId, now + RECHECK_MS, MAX_LISTED)
  deps.db.transaction(() => {
    releaseMessage(deps.db, rowId)
    sort(deps, channel, entries, now, [...entries, ...waiting])
  })
  return false
}

/** Begins the next message of a channel: the first three in 30 seconds at once, then a digest. */
export function begin(deps: Deps, channel: ChannelRecord, groupsOf: () => Groups, now: number): Leader | undefined {
  const { rowId, kind, deliveredAt } = channel
  failDeleted(deps.db, rowId, now)
  const failedSince = findFailedSince(deps.db, rowId, deliveredAt ?? 0)
  if (failedSince !== null && now >= failedSince && now < failedSince + TRY_EVERY) return undefined
  // An opening that is checked again soon belongs to an end that is due.
  const soon = listQueue(deps.db, rowId, now + RECHECK_MS, kind === 'webhook' ? MAX_LISTED : MAX_COUNTED)
  const due = soon.filter(({ dueAt }) => dueAt <= now)
  const opening = new Set(due.flatMap((entry) => (isNewIncident(entry) ? [entry.incidentId] : [])))
  const isUrgent = ({ kind: one, incidentId }: QueuedEntry) => PAGES.has(one) || opening.has(incidentId)
  const queue = failedSince === null ? due : due.filter(isUrgent)
  if (queue.length === 0) return undefined
  const isShared = (entry: QueuedEntry) => isNewIncident(entry) || SHARED.has(entry.kind)
  const groups: Groups = queue.some(isShared) ? groupsOf() : new Map()
  const isBegun = deps.db.transaction(() => {
    const all = withGroups(deps, rowId, sort(deps, channel, queue, now, soon), groups)
    // What happens to an incident becomes part of the message about it that could not be sent.
    const rest = failedSince === null ? all : all.filter((entry) => !joinBegun(deps.db, rowId, entry, now))
    // What burns does not wait for messages that say that something is over, or that somebody works on it.
    const alarms = rest.filter(({ kind }) => PAGES.has(kind))
    const calm = rest.filter(({ kind }) => !PAGES.has(kind))
    const [first, ...others] = [...alarms, ...calm]
    if (!first) return rest.length < all.length
    const isAlarm = alarms.length > 0
    const sent = listSent(deps.db, rowId, Math.min(first.dueAt, now) - AT_ONCE_WITHIN)
    const sentAt = sent.flatMap(({ kind: one, at }) => (isAlarm && !PAGES.has(one) ? [] : at))
    const pace = paceOf(sentAt, { dueAt: first.dueAt, createdAt: queuedAt(isAlarm ? alarms : calm, now) }, now)
    if (pace === 'wait') return false
    const isOne = pace === 'one' && failedSince === null
    const isGroup = first.group !== null && (isOne || others.every(({ group }) => group === first.group))
    const together = others.filter((one) => {
      if (!isOne && !isGroup) return true
      if (first.group !== null || one.group !== null) return one.group === first.group
      const isSameMessage = one.incidentId === first.incidentId && one.isDigest === first.isDigest
      return isSameMessage || isSameNews(one, first, groups)
    })
    const rowIds = [first, ...together].map((one) => one.rowId)
    beginMessage(deps.db, rowIds, isGroup ? 'group' : 'opened')
    return true
  })
  return isBegun ? findBegunMessage(deps.db, rowId, now) : undefined
}

/**
 * Returns when the oldest notification was queued that has had to wait. The digest of a flapping incident is on time, and
 * so is what was gathered after an opening.
 */
function queuedAt(entries: readonly QueuedEntry[], now: number): number {
  return entries.reduce((first, { isDigest, kind, createdAt, dueAt }) => {
    const isGathered = kind === 'worse' && dueAt - createdAt <= GATHERING
    return isDigest ? first : Math.min(first, isGathered ? dueAt : createdAt)
  }, now)
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
    const form = groupOf(entry, groups)
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

/** What is told once about incidents with the same cause that change together. */
const SHARED: ReadonlySet<string> = new Set(['recovered', 'again', 'acknowledged', ...REMINDERS])

/** Returns whether the same is to be said about two incidents with the same cause. */
function isSameNews(one: QueuedEntry, first: QueuedEntry, groups: Groups): boolean {
  if (one.kind !== first.kind || !SHARED.has(one.kind) || one.isDigest !== first.isDigest) return false
  const group = groups.get(first.incidentUuid)
  return group !== undefined && groups.get(one.incidentUuid) === group
}
