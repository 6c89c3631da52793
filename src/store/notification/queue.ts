/** The notifications of a channel that wait to be sent. */
import { type InferResult, sql } from 'kysely'
import type { Queued } from '../../domain/notification/truth.ts'
import { hasPostmortem } from '../incident/incidents.ts'
import { toProblem } from '../incident/live-incidents.ts'
import { saysOver } from '../incident/told.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, listedUuids, query } from '../sqlite/query.ts'
import { uuidBytes, uuidFromBytes } from '../sqlite/uuid.ts'
import { type MessageFacts, toFacts } from './outbox.ts'

/** A due notification, with what is needed to decide whether it is still true. */
export type QueuedEntry = Queued & {
  readonly rowId: number
  readonly incidentId: number
  readonly incidentUuid: string
  readonly createdAt: number
  readonly dueAt: number
  /** Whether other channels have heard that the incident's problem is on, but not this one. */
  readonly isToldElsewhere: boolean
} & Pick<MessageFacts, 'only' | 'others'>

/** Lists up to `limit` due notifications of a channel that are in no message yet, the one that is due first first. */
export function listQueue(db: Db, channelId: number, now: number, limit: number): QueuedEntry[] {
  const due = queued(db).where('channel_id', '=', channelId).where('outbox.status', '=', 'pending')
  const rows = due.where('leader_id', 'is', null).where('due_at', '<=', now)
  return db.all(rows.orderBy('due_at').orderBy('outbox.id').limit(limit)).map(toQueued)
}

/** Gives up the notifications about deleted incidents. */
export function failDeleted(db: Db, channelId: number, now: number): void {
  const pending = db.sql.updateTable('outbox').where('channel_id', '=', channelId).where('status', '=', 'pending')
  const lost = pending.where('incident_id', 'is', null).where('leader_id', 'is', null).where('due_at', '<=', now)
  const detail = 'the incident was deleted'
  db.run(lost.set((eb) => ({ status: 'failed', ended_at: now, detail, leader_id: eb.ref('id') })))
}

/** Lists the notifications of a message that is being sent. */
export function listBegun(db: Db, leaderId: number): QueuedEntry[] {
  return db.all(queued(db).where('leader_id', '=', leaderId).orderBy('outbox.id')).map(toQueued)
}

function queued(db: Db) {
  return db.sql
    .selectFrom('outbox')
    .innerJoin('incidents', 'incidents.id', 'outbox.incident_id')
    .innerJoin('channels', 'channels.id', 'outbox.channel_id')
    .select([
      'outbox.id as rowId',
      'incidents.id as incidentId',
      'incidents.uuid',
      'outbox.kind',
      'facts',
      'is_digest as isDigest',
    ])
    .select([
      'outbox.created_at as createdAt',
      'due_at as dueAt',
      'incidents.status',
      'incidents.problem',
      'incidents.origin',
      'incidents.severity',
      'severity_before as severityBefore',
      'acknowledged_at as acknowledgedAt',
    ])
    .select((eb) => {
      const due = eb.selectFrom('postmortems_due').whereRef('incident_id', '=', 'incidents.id')
      return due.select(({ fn }) => fn.max('due_at').as('at')).as('postmortemDueAt')
    })
    .select((eb) => {
      // The messages that were sent, or are being sent, and said that the incident's problem is on.
      const merged = listed(sql`incidents.problem -> '$.merged'`)
      const all = eb.selectFrom('outbox as earlier').where((of) => {
        return of.or([of('earlier.incident_id', '=', of.ref('incidents.id')), of('earlier.incident_id', 'in', merged)])
      })
      const sent = all
        .where('earlier.leader_id', 'is not', null)
        .where('earlier.status', 'in', ['pending', 'delivered'])
      const burning = sent.where('earlier.kind', 'not in', ['recovered', 'resolved'])
      // 0 if only other channels were told; null if nobody was.
      const isOwn = sql<0 | 1 | null>`max(earlier.channel_id = outbox.channel_id)`
      return burning.select(isOwn.as('is')).as('isTold')
    })
    .select((eb) => {
      const said = eb.selectFrom('outbox as said').whereRef('said.incident_id', '=', 'incidents.id')
      const own = said.whereRef('said.channel_id', '=', 'outbox.channel_id').whereRef('said.id', '<', 'outbox.id')
      const sent = own.where('said.leader_id', 'is not', null).where('said.status', 'in', ['pending', 'delivered'])
      return sent.select(saysOver('said').as('is')).as('isOver')
    })
    .select((eb) => {
      const others = sql`facts -> '$.others'`
      const further = eb.selectFrom('alerts').where('alerts.uuid', 'in', listedUuids(others))
      return further.select(sql<0 | 1 | null>`max(ends_at IS NULL) = 0`.as('is')).as('isEnded')
    })
    .select(['outbox.actor', 'channels.kind as channelKind', hasPostmortem])
}

function toQueued(row: InferResult<ReturnType<typeof queued>>[number]): QueuedEntry {
  const { isOver, isEnded, actor, channelKind, hasPostmortem: isWritten, ...more } = row
  const { facts, isDigest, isTold, status, origin, severity, problem, acknowledgedAt, uuid, ...rest } = more
  const incident = { status, origin, severity, problem: toProblem(problem), acknowledgedAt }
  // A program that gets a webhook follows the status.
  const isForPeople = channelKind !== 'webhook' && isWritten === 0
  const isKnown = isOver === 1 && (row.kind === 'recovered' || (actor === null && isForPeople))
  const { names, only, others, isTakenBack } = toFacts(facts)
  return {
    ...rest,
    incidentUuid: uuidFromBytes(uuid),
    names,
    only,
    others,
    isEnded: isEnded === 1,
    isTakenBack,
    isRaised: actor !== null,
    isDigest: isDigest === 1,
    isTold: isTold === 1,
    isToldElsewhere: isTold === 0,
    isKnown,
    incident,
  }
}

/** Combines notifications into one message. The first one is the leader. */
export function beginMessage(db: Db, rowIds: readonly number[], kind: 'opened' | 'group'): void {
  const leader = rowIds[0] ?? null
  const json = JSON.stringify(rowIds)
  db.run(db.sql.updateTable('outbox').set({ leader_id: leader }).where('id', 'in', listed(json)))
  // A new incident is announced alone or with its group. Other notifications keep their kind.
  const named = db.sql.updateTable('outbox').set({ kind }).where('id', 'in', listed(json))
  db.run(named.where('kind', 'in', ['opened', 'group']))
}

/**
 * Adds a notification to the message about its incident that could not be sent, and makes it due. Returns whether there
 * is one.
 */
export function joinBegun(db: Db, channelId: number, { rowId, incidentId }: QueuedEntry, now: number): boolean {
  const leaderId = db.first(begunAbout, { channelId, incidentId })?.leader_id ?? null
  if (leaderId === null) return false
  db.run(db.sql.updateTable('outbox').set({ leader_id: leaderId }).where('id', '=', rowId))
  db.run(db.sql.updateTable('outbox').set({ due_at: now }).where('leader_id', '=', leaderId))
  return true
}

const begunAbout = query<{ channelId: number; incidentId: number }>()((sql, hole) =>
  sql
    .selectFrom('outbox')
    .select('leader_id')
    .where('channel_id', '=', hole('channelId'))
    .where('incident_id', '=', hole('incidentId'))
    .where('status', '=', 'pending')
    .where('leader_id', 'is not', null)
    .limit(1),
)

/** Returns when a channel last got a message about a group that has one of these incidents, or null. */
export function findGroupSentAt(db: Db, channelId: number, incidentUuids: readonly string[]): number | null {
  const incidents = db.sql
    .selectFrom('incidents')
    .select('id')
    .where(
      'uuid',
      'in',
      incidentUuids.map((id) => uuidBytes(id)),
    )
  const sent = db.sql.selectFrom('outbox').where('channel_id', '=', channelId).where('kind', '=', 'group')
  const last = sent.where('incident_id', 'in', incidents).select((eb) => eb.fn.max('ended_at').as('at'))
  return db.first(last)?.at ?? null
}

/** Takes a message apart whose notifications are not all true any more. The rest is sent in another message. */
export function releaseMessage(db: Db, leaderId: number): void {
  db.run(db.sql.updateTable('outbox').set({ leader_id: null, attempts: 0 }).where('leader_id', '=', leaderId))
}

/** Postpones a notification that is not in a message yet. */
export function postponeNotification(db: Db, rowId: number, dueAt: number): void {
  db.run(db.sql.updateTable('outbox').set({ due_at: dueAt }).where('id', '=', rowId))
}

/** Deletes a notification that is not sent. */
export function deleteNotification(db: Db, rowId: number): void {
  db.run(db.sql.deleteFrom('outbox').where('id', '=', rowId))
}
