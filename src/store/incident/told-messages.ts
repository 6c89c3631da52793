/** The messages about an incident as its timeline shows them, and why channels got none. */

import { sql } from 'kysely'
import { BUDGETS } from '../../domain/budgets.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { behindFailure, type NotTold, type Told, type WhoWasTold, whoWasTold } from '../../domain/notification/told.ts'
import { distinct } from '../../domain/order.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, query } from '../sqlite/query.ts'

/** The maximum number of messages, and of messages that were not sent, in a timeline. */
const MAX_MESSAGES = 300

/** Lists the newest messages about an incident or the group that it leads, with the first line of each as it was sent. */
export function listToldOf(db: Db, incidentId: number, uuid: string): Told[] {
  const newest = db.sql.selectFrom('outbox').select('id').orderBy('id', 'desc').limit(MAX_MESSAGES)
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
        if (status !== 'pending') return { ...message, at }
        const behind = nextAt === null ? null : behindFailure({ leaderId, failing, dueAt, nextAt })
        if (behind) return { ...message, at, dueAt: behind.dueAt, detail: detail ?? behind.detail }
        return { ...message, at, dueAt: leaderId !== null || dueAt > createdAt ? dueAt : null }
      }),
  )
}

/** Finds who was told about each incident, by its row id. */
export function findWhoWasTold(
  db: Db,
  organizationId: number,
  incidentIds: readonly number[],
  now: number,
): ReadonlyMap<number, WhoWasTold> {
  const channels = db.all(channelsOf, { organizationId })
  const ids = JSON.stringify(incidentIds)
  const keyOf = ({ incidentId, channelId }: { incidentId: number | null; channelId: number }) =>
    `${incidentId} ${channelId}`
  const sent = new Map(db.all(sentTo, { ids }).map((row) => [keyOf(row), row]))
  const untold = new Map(db.all(notSentTo, { ids }).map((row) => [keyOf(row), row.reason]))
  return new Map(
    incidentIds.map((incidentId) => {
      const states = channels.map(({ channelId, enabled, ...channel }) => {
        const key = keyOf({ incidentId, channelId })
        const { toldAt = null, dueAt = null, failed = 0 } = sent.get(key) ?? {}
        const reason = untold.get(key) ?? null
        return { ...channel, enabled: enabled === 1, toldAt, dueAt, failed: failed === 1, reason }
      })
      return [incidentId, whoWasTold(states, now)]
    }),
  )
}

const channelsOf = query<{ organizationId: number }>()((builder, hole) =>
  builder
    .selectFrom('channels')
    .select(['id as channelId', 'name', 'enabled', 'failing', 'failing_since as failingSince'])
    .where('organization_id', '=', hole('organizationId'))
    .orderBy('id')
    .limit(BUDGETS.channels.value),
)

const sentTo = query<{ ids: string }>()((builder, hole) =>
  builder
    .selectFrom('outbox')
    .select(['incident_id as incidentId', 'channel_id as channelId'])
    .select(sql<number | null>`max(CASE WHEN status = 'delivered' THEN ended_at END)`.as('toldAt'))
    .select(sql<number | null>`min(CASE WHEN status = 'pending' THEN due_at END)`.as('dueAt'))
    .select(sql<0 | 1>`max(status = 'failed')`.as('failed'))
    .where('incident_id', 'in', listed(hole('ids')))
    .groupBy(['incident_id', 'channel_id']),
)

/** The newest reason of each channel. */
const notSentTo = query<{ ids: string }>()((builder, hole) =>
  builder
    .selectFrom('untold')
    .select(['incident_id as incidentId', 'channel_id as channelId', 'reason'])
    .select((eb) => eb.fn.max('id').as('newest'))
    .where('incident_id', 'in', listed(hole('ids')))
    .groupBy(['incident_id', 'channel_id']),
)

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
    .select(sql<string | null>`leader.sent ->> '$.titleWithoutAge'`.as('titleWithoutAge'))
    .select(ofOthers)
    .orderBy('outbox.id', 'desc')
}

/** Lists the newest messages about an incident that channels did not get, with the reasons. */
export function listNotToldOf(db: Db, incidentId: number): NotTold[] {
  const rows = db.sql
    .selectFrom('untold')
    .innerJoin('channels', 'channels.id', 'untold.channel_id')
    .select(['untold.kind', 'channels.name as channel', 'untold.at', 'untold.reason'])
    .where('incident_id', '=', incidentId)
    .orderBy('untold.at', 'desc')
    .limit(MAX_MESSAGES)
  return db.all(rows)
}

/** Returns the channels that got a message about an incident, and when the first one did. */
export function findTold(db: Db, { organizationId, rowId, id }: LiveIncident, now: number) {
  const who = findWhoWasTold(db, organizationId, [rowId], now).get(rowId)
  const sent = listToldOf(db, rowId, id).filter(({ status }) => status === 'delivered')
  const firstAt = sent.length === 0 ? null : sent.reduce((first, { at }) => Math.min(first, at), now)
  return {
    hasChannel: who?.hasChannel ?? true,
    names: [...new Set(sent.map(({ channel }) => channel))].sort(),
    firstAt,
    quiet: distinct(
      listNotToldOf(db, rowId).flatMap(({ channel, reason }) => (reason === 'quiet-hours' ? channel : [])),
    ),
  }
}
