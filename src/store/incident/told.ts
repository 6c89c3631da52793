/** Which channels were told about an incident, and why others were not. */

import { sql } from 'kysely'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { CALM, type MessageKind, OVER } from '../../domain/notification/kind.ts'
import {
  behindFailure,
  type LastTold,
  lastTold,
  type NotTold,
  type Told,
  toldRows,
} from '../../domain/notification/told.ts'
import type { Untold } from '../../domain/notification/truth.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, listed, query } from '../sqlite/query.ts'
import { selectIncidents, toLiveIncident } from './live-incidents.ts'

/**
 * Lists the channels that were told about each incident, or will be. A message that could not be sent told nothing.
 * `isOver`: whether the last thing was that it is over.
 */
export function listToldChannels(db: Db, incidentIds: readonly number[]) {
  if (incidentIds.length === 0) return []
  const told = db.sql
    .selectFrom('outbox')
    .select(['incident_id as incidentId', 'channel_id as channelId'])
    .select(saysOver('outbox').as('isOver'))
    .where('incident_id', 'in', listed(JSON.stringify(incidentIds)))
    .where('status', '!=', 'failed')
    .groupBy(['incident_id', 'channel_id'])
  return db.all(told)
}

/** Whether the last of a channel's notifications about an incident says that it is over, and an earlier one that it is not. */
export function saysOver(table: string) {
  const [id, kind, isDigest] = ['id', 'kind', 'is_digest'].map((column) => sql.ref(`${table}.${column}`))
  const [over, calm] = [OVER, CALM].map((kinds) => sql.join([...kinds].map((one) => sql.lit(one))))
  return sql<0 | 1>`coalesce(max(CASE WHEN ${kind} IN (${over}) AND ${isDigest} = 0 THEN ${id} END)
    > max(CASE WHEN ${kind} NOT IN (${calm}) THEN ${id} END), 0)`
}

type Missed = { readonly incident: LiveIncident; readonly kinds: ReadonlySet<MessageKind> }

/** Of what did not match a channel's rules, what counts as missed as soon as they match. Ends do not wait for rules. */
const ALARMS = ['worse', 'again', 'flapping', 'reopened'] as const

/**
 * Lists incidents with the messages that a channel did not get because it was disabled, failed or had other rules, newest
 * first.
 */
export function listMissed(db: Db, channelId: number, limit: number): Missed[] {
  const untold = db.sql
    .selectFrom('untold')
    .select(['incident_id as id', 'kind', 'at'])
    .where((eb) => eb.or([eb('reason', '=', 'disabled'), eb('reason', '=', 'rule').and('kind', 'in', ALARMS)]))
  const failed = db.sql
    .selectFrom('outbox')
    .select((eb) => [eb.ref('incident_id').$notNull().as('id'), 'kind', 'created_at as at'])
    .where('incident_id', 'is not', null)
  const own = failed.where('channel_id', '=', channelId).where('status', '=', 'failed')
  const missed = db.sql
    .selectFrom(untold.where('channel_id', '=', channelId).unionAll(own).as('missed'))
    .where((eb) => {
      const later = eb.selectFrom('outbox').select('outbox.id').whereRef('outbox.incident_id', '=', 'missed.id')
      const told = later.where('channel_id', '=', channelId).where('status', '!=', 'failed')
      // Who heard that somebody works on it does not know what it missed before.
      const news = told.where(({ or, eb: is }) => {
        return or([is('outbox.kind', '!=', 'acknowledged'), is(sql.ref('missed.kind'), '=', 'acknowledged')])
      })
      return eb.not(eb.exists(news.whereRef('outbox.created_at', '>=', 'missed.at')))
    })
  const rows = db.all(missed.select(['id', 'kind']))
  const kinds = Map.groupBy(rows, ({ id }) => id)
  const ids = listed(JSON.stringify([...kinds.keys()]))
  return db.all(selectIncidents(db.sql).where('id', 'in', ids).orderBy('id', 'desc').limit(limit)).map((row) => {
    const incident = toLiveIncident(row)
    return { incident, kinds: new Set(kinds.get(incident.rowId)?.map(({ kind }) => kind)) }
  })
}

/** Returns whether quiet hours held back the message to a channel that an incident opened. */
export function wasHeld(db: Db, channelId: number, incidentId: number): boolean {
  return db.first(held, { channelId, incidentId }) !== undefined
}

const held = query<{ channelId: number; incidentId: number }>()((sql, hole) =>
  sql
    .selectFrom('untold')
    .select('kind')
    .where('incident_id', '=', hole('incidentId'))
    .where('channel_id', '=', hole('channelId'))
    .where('kind', '=', 'opened')
    .where('reason', '=', 'quiet-hours')
    .limit(1),
)

/** Lists the critical conditions that a channel was told about an incident since its last all-clear. */
export function listToldNames(db: Db, channelId: number, incidentId: number): string[] {
  const own = db.sql.selectFrom('outbox').select(['kind', 'facts', 'is_digest']).where('incident_id', '=', incidentId)
  const told = db.all(own.where('channel_id', '=', channelId).where('status', '!=', 'failed').orderBy('id'))
  const clearAt = told.findLastIndex(({ kind, is_digest }) => OVER.has(kind) && is_digest === 0)
  // Who hears that somebody works on it does not hear what is new.
  return told
    .slice(clearAt + 1)
    .flatMap(({ kind, facts }) => (kind === 'acknowledged' ? [] : (JSON.parse(facts).names ?? [])))
}

/** Returns the conditions of an incident that the delivered messages of a channel have named as firing since a time. */
export function listSaid(
  db: Db,
  channelId: number,
  { incidentId, incidentUuid }: { readonly incidentId: number; readonly incidentUuid: string },
  since: number,
): ReadonlySet<string> {
  const names = db.all(said, { channelId, incidentId }).flatMap(({ sent }): string[] => {
    const { at, named } = sent === null ? {} : JSON.parse(sent)
    return at >= since ? (named[incidentUuid] ?? []) : []
  })
  return new Set(names)
}

const said = query<{ channelId: number; incidentId: number }>()((sql, hole) =>
  sql
    .selectFrom('outbox')
    .innerJoin('outbox as leader', 'leader.id', 'outbox.leader_id')
    .select('leader.sent')
    .where('outbox.incident_id', '=', hole('incidentId'))
    .where('outbox.channel_id', '=', hole('channelId'))
    .where('outbox.status', '=', 'delivered'),
)

/**
 * Lists the channels that were told about an incident since `since`, with the number of reminders and the time at which
 * the last notification was due.
 */
export function listToldSince(db: Db, incidentId: number, since: number) {
  return db.all(toldSince, { incidentId, since })
}

const toldSince = query<{ incidentId: number; since: number }>()((sql, hole) =>
  sql
    .selectFrom('outbox')
    .select('channel_id as channelId')
    // A new condition that has ended waits until it fires again, and a digest for its time. Reminders do not wait for them.
    .select((eb) => {
      const waits = eb.or([eb('is_digest', '=', 1), eb.and([eb('kind', '=', 'worse'), eb('leader_id', 'is', null)])])
      return eb.fn.max<number>(eb.case().when(waits).then(hole('since')).else(eb.ref('due_at')).end()).as('lastAt')
    })
    .select((eb) => eb.fn.sum<number>(eb.case().when('kind', '=', 'reminder').then(1).else(0).end()).as('reminders'))
    .where('incident_id', '=', hole('incidentId'))
    .where('created_at', '>=', hole('since'))
    .groupBy('channel_id'),
)

/** Lists the channels that were told since `since` that alerts of a resolved incident are still firing. */
export function listStillFiring(db: Db, incidentId: number, since: number): number[] {
  const sent = db.sql.selectFrom('outbox').select('channel_id').where('incident_id', '=', incidentId)
  return db.all(sent.where('kind', '=', 'still-firing').where('created_at', '>=', since)).map((row) => row.channel_id)
}

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

export type UntoldEntry = {
  readonly incidentId: number
  readonly channelId: number
  readonly kind: MessageKind
  readonly at: number
  readonly reason: Untold
}

export function insertUntold(db: Db, all: readonly UntoldEntry[]): void {
  insertRows(db, 'untold', all, ({ incidentId, channelId, kind, at, reason }) => {
    return { incident_id: incidentId, channel_id: channelId, kind, at, reason }
  })
}
