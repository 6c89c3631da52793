/** The messages about an incident as its timeline shows them, and why channels got none. */

import { sql } from 'kysely'
import {
  behindFailure,
  type LastTold,
  lastTold,
  type NotTold,
  type Told,
  toldRows,
} from '../../domain/notification/told.ts'
import type { Db } from '../sqlite/open.ts'

/** The maximum number of messages, and of messages that were not sent, in a timeline. */
const MAX_MESSAGES = 300
/** Of these, the last one is found: it has as many rows as channels that got it. */
const LAST_MESSAGES = 40

/** Lists the newest messages about an incident or the group that it leads, with the first line of each as it was sent. */
export function listToldOf(db: Db, incidentId: number, uuid: string, limit = MAX_MESSAGES): Told[] {
  const newest = db.sql.selectFrom('outbox').select('id').orderBy('id', 'desc').limit(limit)
  const own = newest.where('incident_id', '=', incidentId)
  // The path has to be written as in the index.
  const ofGroup = newest.where(sql<boolean>`kind = 'group' AND sent IS NOT NULL`)
  const led = ofGroup.where(sql`sent ->> '$.leader'`, '=', uuid)
  return [own, led].flatMap((ids) =>
    db
      .all(messages(db).where('outbox.id', 'in', ids))
      .map(({ createdAt, endedAt, failing, leaderId, nextAt, isDigest, ...row }) => {
        const message = { ...row, isDigest: isDigest === 1 }
        const { status, dueAt, detail } = message
        const at = endedAt ?? createdAt
        if (status !== 'pending' || leaderId !== null) return { ...message, at }
        const behind = nextAt === null ? null : behindFailure({ leaderId, failing, dueAt, nextAt })
        if (behind) return { ...message, at, dueAt: behind.dueAt, detail: detail ?? behind.detail }
        return { ...message, at, dueAt: dueAt > createdAt ? dueAt : null }
      }),
  )
}

/** Finds who was told last about an incident or the group that it leads. */
export function findLastTold(db: Db, organizationId: number, rowId: number, uuid: string): LastTold {
  const told = listToldOf(db, rowId, uuid, LAST_MESSAGES).map((one) => ({ ...one, title: null }))
  const notTold = told.length > 0 ? [] : listNotToldOf(db, rowId, LAST_MESSAGES)
  const last = lastTold(toldRows([], uuid, told, notTold))
  if (last) return { at: last.at, text: last.text }
  const channels = db.sql.selectFrom('channels').select('id').where('organization_id', '=', organizationId)
  return { at: null, hasChannel: db.all(channels.limit(1)).length > 0 }
}

/** When the next attempt of a channel is due whose receiver has failed. */
export const nextAttempt = sql<number | null>`(SELECT min(due_at) FROM outbox AS begun
  WHERE begun.channel_id = outbox.channel_id AND begun.status = 'pending' AND begun.leader_id IS NOT NULL)`.as('nextAt')

/** Whether the message was about other incidents, too. The message about a group is about each of its incidents. */
const ofOthers = sql<0 | 1>`outbox.kind <> 'group' AND EXISTS (SELECT 1 FROM outbox AS other
  WHERE other.leader_id = outbox.leader_id AND other.incident_id <> outbox.incident_id)`.as('isDigest')

function messages(db: Db) {
  return db.sql
    .selectFrom('outbox')
    .innerJoin('channels', 'channels.id', 'outbox.channel_id')
    .leftJoin('outbox as leader', 'leader.id', 'outbox.leader_id')
    .select(['outbox.kind', 'channels.name as channel', 'outbox.status', 'outbox.created_at as createdAt'])
    .select(['outbox.ended_at as endedAt', 'outbox.due_at as dueAt', 'outbox.detail'])
    .select(['channels.failing', 'outbox.leader_id as leaderId'])
    .select(nextAttempt)
    .select(sql<string | null>`leader.sent ->> '$.title'`.as('title'))
    .select(ofOthers)
    .orderBy('outbox.id', 'desc')
}

/** Lists the newest messages about an incident that channels did not get, with the reasons. */
export function listNotToldOf(db: Db, incidentId: number, limit = MAX_MESSAGES): NotTold[] {
  const rows = db.sql
    .selectFrom('untold')
    .innerJoin('channels', 'channels.id', 'untold.channel_id')
    .select(['untold.kind', 'channels.name as channel', 'untold.at', 'untold.reason'])
    .where('incident_id', '=', incidentId)
    .orderBy('untold.at', 'desc')
    .limit(limit)
  return db.all(rows)
}
