/**
 * The outbox stores each notification in the transaction that caused it. Delivered and abandoned notifications are
 * deleted later.
 */
import type { MessageKind } from '../../domain/notification/kind.ts'
import { GIVE_UP_AFTER } from '../../domain/notification/schedule.ts'
import type { MessageItem } from '../../domain/notification/words.ts'
import type { Severity } from '../../domain/severity.ts'
import { firingAlerts } from '../incident/incidents.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, listed, query } from '../sqlite/query.ts'
import { uuidBytes, uuidFromBytes } from '../sqlite/uuid.ts'

/** A notification to send. Times are Unix times in milliseconds. */
export type OutboxEntry = {
  readonly id: string
  readonly organizationId: number
  readonly channelId: number
  readonly incidentId: number
  readonly kind: MessageKind
  readonly actor: string | null
  readonly severityBefore: Severity | null
  readonly createdAt: number
  readonly dueAt: number
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

/** Returns the message that is being sent to a channel, or undefined if there is none. */
export function findBegunMessage(db: Db, channelId: number): Leader | undefined {
  const row = db.first(begun, { channelId })
  return row && { ...row, id: uuidFromBytes(row.uuid) }
}

const begun = query<{ channelId: number }>()((sql, hole) =>
  sql
    .selectFrom('outbox')
    .select(['id as rowId', 'uuid', 'attempts', 'due_at as dueAt', 'expires_at as expiresAt'])
    .where('channel_id', '=', hole('channelId'))
    .where('status', '=', 'pending')
    .where('leader_id', 'is not', null)
    .orderBy('id')
    .limit(1),
)

/** Combines up to `limit` due notifications into one message. Returns false if no notifications are due. */
export function beginMessage(db: Db, channelId: number, now: number, limit: number): boolean {
  const due = db.sql.selectFrom('outbox').where('channel_id', '=', channelId).where('status', '=', 'pending')
  const ids = db
    .all(due.select('id').where('due_at', '<=', now).orderBy('due_at').orderBy('id').limit(limit))
    .map(({ id }) => id)
  const [leader] = ids
  if (leader === undefined) return false
  const json = JSON.stringify(ids)
  db.run(db.sql.updateTable('outbox').set({ leader_id: leader }).where('id', 'in', listed(json)))
  return true
}

/** Lists the notifications in a message, oldest first, except those about deleted incidents. */
export function listItems(db: Db, leaderId: number): MessageItem[] {
  const items = db.sql
    .selectFrom('outbox')
    .innerJoin('incidents', 'incidents.id', 'outbox.incident_id')
    .innerJoin('services', 'services.id', 'incidents.service_id')
    .leftJoin('postmortems', 'postmortems.incident_id', 'incidents.id')
    .select(['outbox.kind', 'outbox.created_at as at', 'outbox.actor', 'severity_before as severityBefore'])
    .select(['incidents.uuid', 'incidents.number', 'incidents.title', 'incidents.severity', 'incidents.status'])
    .select(['started_at as startedAt', 'resolved_at as resolvedAt', 'alert_count as alertCount', firingAlerts])
    .select(['services.name', 'services.namespace', 'services.cluster', 'postmortems.id as document'])
    .where('outbox.leader_id', '=', leaderId)
    .orderBy('outbox.id')
  return db.all(items).map((row) => {
    const { kind, at, actor, severityBefore, name, namespace, cluster, firing_alerts: firingAlerts } = row
    const { number, title, severity, status, startedAt, resolvedAt, alertCount } = row
    const known = { id: uuidFromBytes(row.uuid), hasPostmortem: row.document !== null }
    const incident = { ...known, number, title, severity, status, startedAt, resolvedAt, alertCount, firingAlerts }
    return { kind, at, actor, severityBefore, incident, service: { name, namespace, cluster } }
  })
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

/** Makes a channel's message due immediately. Call this function after a change of the channel's URL. */
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

/**
 * Lists the channels notified about each incident, with the number of reminders and the time of the last notification.
 */
export function listSentMessages(db: Db, incidentIds: readonly number[]) {
  if (incidentIds.length === 0) return []
  const sentMessages = db.sql
    .selectFrom('outbox')
    .select((eb) => ['incident_id as incidentId', 'channel_id as channelId', eb.fn.max('created_at').as('lastAt')])
    .select((eb) => eb.fn.sum<number>(eb.case().when('kind', '=', 'reminder').then(1).else(0).end()).as('reminders'))
    .where('incident_id', 'in', listed(JSON.stringify(incidentIds)))
    .groupBy(['incident_id', 'channel_id'])
  return db.all(sentMessages)
}

/** Counts the `still-firing` notifications since `since`, by channel. */
export function countStillFiring(db: Db, incidentId: number, since: number): ReadonlyMap<number, number> {
  const rows = db.sql
    .selectFrom('outbox')
    .select((eb) => ['channel_id as channelId', eb.fn.countAll<number>().as('count')])
    .where('incident_id', '=', incidentId)
    .where('kind', '=', 'still-firing')
    .where('created_at', '>=', since)
    .groupBy('channel_id')
  return new Map(db.all(rows).map(({ channelId, count }) => [channelId, count]))
}
