/**
 * The outbox stores each notification in the transaction that caused it. Delivered and abandoned notifications are
 * deleted later.
 */
import { sql } from 'kysely'
import type { MessageKind } from '../../domain/notification/kind.ts'
import { GIVE_UP_AFTER } from '../../domain/notification/schedule.ts'
import type { Severity } from '../../domain/severity.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, query } from '../sqlite/query.ts'
import { uuidBytes, uuidFromBytes } from '../sqlite/uuid.ts'

/**
 * What a message says about its moment. `names`: critical conditions. `wasWrong`: an all-clear was disproved.
 * `isTakenBack`: of `reopened`, a user only took an acknowledgement back. `mergedInto`, `mergedId`: the title and the
 * UUID of the incident into which this one was merged. `only`: the one form in which the channel wants to hear of the
 * incident; null for any.
 */
export type MessageFacts = {
  readonly names: readonly string[]
  readonly wasWrong: boolean
  readonly isTakenBack: boolean
  readonly mergedInto: string | null
  readonly mergedId: string | null
  readonly only: MessageKind | null
  /** The UUIDs of the alerts that are news, such as that of another shard; none if all of the conditions are. */
  readonly others: readonly string[]
}
export const NO_FACTS: MessageFacts = {
  names: [],
  wasWrong: false,
  isTakenBack: false,
  mergedInto: null,
  mergedId: null,
  only: null,
  others: [],
}

/** A notification to send. Times are Unix times in milliseconds. */
export type OutboxEntry = {
  readonly id: string
  readonly organizationId: number
  readonly channelId: number
  readonly incidentId: number
  readonly kind: MessageKind
  readonly actor: string | null
  readonly severityBefore: Severity | null
  readonly facts: MessageFacts
  /** Whether the notification belongs to the digest of a flapping incident. */
  readonly isDigest: boolean
  readonly createdAt: number
  readonly dueAt: number
}
export function toFacts(stored: string): MessageFacts {
  return { ...NO_FACTS, ...JSON.parse(stored) }
}

/** Stores notifications. A notification that cannot be delivered is abandoned when it expires. */
export function insertNotifications(db: Db, all: readonly OutboxEntry[]): void {
  insertRows(db, 'outbox', all, (one) => ({
    uuid: uuidBytes(one.id),
    organization_id: one.organizationId,
    channel_id: one.channelId,
    incident_id: one.incidentId,
    kind: one.kind,
    actor: one.actor,
    severity_before: one.severityBefore,
    facts: JSON.stringify(one.facts),
    is_digest: one.isDigest ? 1 : 0,
    created_at: one.createdAt,
    due_at: one.dueAt,
    expires_at: one.dueAt + GIVE_UP_AFTER,
  }))
}

/** Lists the channels with notifications due at `now`. */
export function listDueChannels(db: Db, now: number): { channelId: number; organizationId: number }[] {
  return db.all(dueChannels, { now })
}

const dueChannels = query<{ now: number }>()((sql, hole) =>
  sql
    .selectFrom('channels')
    .select(['channels.id as channelId', 'channels.organization_id as organizationId'])
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('outbox')
          .select('outbox.id')
          .whereRef('outbox.channel_id', '=', 'channels.id')
          .where('outbox.status', '=', 'pending')
          .where('outbox.due_at', '<=', hole('now')),
      ),
    ),
)

/** A message to a channel, identified by its first notification. */
export type Leader = {
  readonly rowId: number
  readonly id: string
  readonly attempts: number
  readonly dueAt: number
  readonly expiresAt: number
}

/** Returns the oldest message that a channel has begun to send and that is due, or undefined if there is none. */
export function findBegunMessage(db: Db, channelId: number, now: number): Leader | undefined {
  const row = db.first(begun, { channelId, now })
  return row && { ...row, id: uuidFromBytes(row.uuid) }
}

const begun = query<{ channelId: number; now: number }>()((builder, hole) =>
  builder
    .selectFrom('outbox')
    .select(['id as rowId', 'uuid', 'attempts', 'due_at as dueAt', 'expires_at as expiresAt'])
    .where('channel_id', '=', hole('channelId'))
    .where('status', '=', 'pending')
    .where('leader_id', 'is not', null)
    .whereRef('leader_id', '=', 'id')
    // The plus sign makes SQLite use the index of the few messages that have begun.
    .where(sql<number>`+due_at`, '<=', hole('now'))
    .orderBy('id')
    .limit(1),
)

/**
 * Returns when the newest notification was first due that a channel could not deliver, or null if there is none. One that
 * was due before the last delivery does not count: the receiver refuses only this message.
 */
export function findFailedSince(db: Db, channelId: number, deliveredAt: number): number | null {
  const at = db.first(failed, { channelId, after: deliveredAt + GIVE_UP_AFTER })?.at ?? null
  return at === null ? null : at - GIVE_UP_AFTER
}

const failed = query<{ channelId: number; after: number }>()((sql, hole) =>
  sql
    .selectFrom('outbox')
    .select((eb) => eb.fn.max('expires_at').as('at'))
    .where('channel_id', '=', hole('channelId'))
    .where('status', '=', 'pending')
    .where('leader_id', 'is not', null)
    .where('expires_at', '>', hole('after')),
)

/** Returns when the last message that an incident burns was due; null if there was none. */
export function findAlarmAt(db: Db, incidentId: number): number | null {
  const own = db.sql.selectFrom('outbox').select((eb) => eb.fn.max('due_at').as('at'))
  const alarms = own.where('incident_id', '=', incidentId).where('kind', 'in', ['opened', 'group', 'worse', 'again'])
  return db.first(alarms)?.at ?? null
}

/** Lists a channel's messages that were delivered after `since`. */
export function listSent(db: Db, channelId: number, since: number) {
  const sent = db.sql.selectFrom('outbox').select(['kind', 'ended_at']).where('ended_at', '>', since)
  const own = sent.where('channel_id', '=', channelId).where('status', '=', 'delivered')
  return db.all(own.whereRef('leader_id', '=', 'id')).map(({ kind, ended_at: at }) => ({ kind, at: at ?? since }))
}

/** Finds the receiver's id for the first message about an incident, or null if unknown. */
export function findRemoteId(db: Db, channelId: number, incidentId: string): string | null {
  const known = messagesAbout(db, channelId, incidentId).select('remote_id').where('remote_id', 'is not', null)
  return db.first(known.orderBy('outbox.id').limit(1))?.remote_id ?? null
}

/** Returns whether any message about the incident was delivered to the channel. */
export function hasDelivered(db: Db, channelId: number, incidentId: string): boolean {
  const delivered = messagesAbout(db, channelId, incidentId).where('outbox.status', '=', 'delivered')
  return db.first(delivered.select('outbox.id').limit(1)) !== undefined
}

function messagesAbout(db: Db, channelId: number, incidentId: string) {
  return db.sql
    .selectFrom('outbox')
    .innerJoin('incidents', 'incidents.id', 'outbox.incident_id')
    .where('incidents.uuid', '=', uuidBytes(incidentId))
    .where('channel_id', '=', channelId)
}

/** Stores a message as it was sent, with the state that justified it. */
export function storeSent(db: Db, leaderId: number, sent: object): void {
  db.run(
    db.sql
      .updateTable('outbox')
      .set({ sent: JSON.stringify(sent) })
      .where('id', '=', leaderId),
  )
}

type Attempt = { readonly status: number | null; readonly detail: string | null; readonly remoteId: string | null }

/** Records that a message was delivered or abandoned. */
export function endMessage(
  db: Db,
  { rowId, attempts }: Leader,
  to: 'delivered' | 'failed',
  { status, detail, remoteId }: Attempt,
  now: number,
): void {
  const answer = { answer_status: status, detail, remote_id: remoteId }
  const ended = { status: to, ended_at: now, attempts: attempts + 1, ...answer }
  db.run(db.sql.updateTable('outbox').set(ended).where('leader_id', '=', rowId))
}

/** Records that an attempt failed, and when the next attempt is due. */
export function postponeMessage(db: Db, { rowId, attempts }: Leader, { status, detail }: Attempt, dueAt: number): void {
  const failed = { attempts: attempts + 1, answer_status: status, detail, due_at: dueAt }
  db.run(db.sql.updateTable('outbox').set(failed).where('leader_id', '=', rowId))
}

/** Postpones the other messages of a channel after a failed attempt. */
export function holdMessages(db: Db, channelId: number, { rowId }: Leader, until: number): void {
  const pending = db.sql.updateTable('outbox').set({ due_at: until }).where('channel_id', '=', channelId)
  const others = pending.where('status', '=', 'pending').where('leader_id', 'is not', null)
  db.run(others.where('leader_id', '!=', rowId).where('due_at', '<', until))
}

/** Makes a channel's messages due immediately: its receiver answers, or its URL has changed. */
export function retryNotificationsNow(db: Db, channelId: number, now: number): void {
  db.run(
    db.sql
      .updateTable('outbox')
      .set({ due_at: now })
      .where('channel_id', '=', channelId)
      .where('status', '=', 'pending')
      .where('leader_id', 'is not', null),
  )
}

/** Changes when a notification that is in no message yet is sent. */
export function rescheduleNotification(db: Db, rowId: number, dueAt: number): void {
  const moved = { due_at: dueAt, expires_at: dueAt + GIVE_UP_AFTER }
  db.run(db.sql.updateTable('outbox').set(moved).where('id', '=', rowId))
}

/** Abandons the pending notifications of a disabled channel. */
export function giveUpNotifications(db: Db, channelId: number, detail: string, now: number): void {
  db.run(
    db.sql
      .updateTable('outbox')
      .set((eb) => ({ status: 'failed', ended_at: now, detail, leader_id: eb.fn.coalesce('leader_id', 'id') }))
      .where('channel_id', '=', channelId)
      .where('status', '=', 'pending'),
  )
}

/** Deletes up to `limit` notifications that were delivered or abandoned earlier than `before`. */
export function pruneOutbox(db: Db, before: number, limit: number): number {
  const old = db.sql.selectFrom('outbox').select('id').where('ended_at', '<', before).orderBy('ended_at').limit(limit)
  return db.run(db.sql.deleteFrom('outbox').where('id', 'in', old))
}
