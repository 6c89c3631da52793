/** Which channels were told about an incident. */

import { sql } from 'kysely'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { CALM, type MessageKind, OVER } from '../../domain/notification/kind.ts'
import type { Untold } from '../../domain/notification/truth.ts'
import { isPartOf } from '../../domain/text.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, listed, query } from '../sqlite/query.ts'
import { selectIncidents, toLiveIncident } from './live-incidents.ts'

/**
 * Lists the channels that were told about each incident, or will be. A message that could not be sent told nothing.
 * `isOver`: whether the last thing was that it is over.
 */
export function listToldChannels(db: Db, incidents: readonly Followed[]) {
  if (incidents.length === 0) return []
  const told = toldOf(
    db,
    incidents.map(({ rowId }) => rowId),
  )
  const own = new Set(told.map(({ incidentId, channelId }) => `${incidentId} ${channelId}`))
  // They were told that what was merged goes on here.
  const merged = incidents.flatMap(({ rowId, problem }) => {
    const channels = problem.merged.length === 0 ? [] : toldOf(db, problem.merged)
    return [...new Set(channels.map(({ channelId }) => channelId))].flatMap((channelId) => {
      return own.has(`${rowId} ${channelId}`) ? [] : [{ incidentId: rowId, channelId, isOver: 0 as const }]
    })
  })
  return [...told, ...merged]
}

type Followed = Pick<LiveIncident, 'rowId' | 'problem'>

function toldOf(db: Db, incidentIds: readonly number[]) {
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
const NEWS = ['worse', 'again', 'flapping', 'reopened', 'acknowledged'] as const

/**
 * Lists incidents with the messages that a channel did not get because it was disabled, failed or had other rules, newest
 * first.
 */
export function listMissed(db: Db, channelId: number, limit: number): Missed[] {
  const untold = db.sql
    .selectFrom('untold')
    .select(['incident_id as id', 'kind', 'at'])
    .where((eb) => eb.or([eb('reason', '=', 'disabled'), eb('reason', '=', 'rule').and('kind', 'in', NEWS)]))
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

/** Lists the critical conditions that a channel was told about an incident since its last all-clear. */
export function listToldNames(db: Db, channelId: number, incident: Pick<LiveIncident, 'rowId' | 'id'>): string[] {
  return listToldFacts(db, channelId, incident).flatMap(({ names }) => names)
}

/** What a message has told: conditions, and the UUIDs of further alerts of them. `isMerged`: it tells of a merge. */
type ToldFacts = { readonly names: readonly string[]; readonly others: readonly string[]; readonly isMerged: boolean }

/**
 * Lists what messages have told a channel about an incident, and about those that were merged into it and whose problems go
 * on, since the last all-clear: conditions, and further alerts of them. A message that was delayed names more than those it
 * was queued for.
 */
export function listToldFacts(
  db: Db,
  channelId: number,
  { rowId, id, merged = [] }: Pick<LiveIncident, 'rowId' | 'id'> & { readonly merged?: readonly number[] },
): ToldFacts[] {
  const own = db.sql
    .selectFrom('outbox')
    .leftJoin('outbox as leader', 'leader.id', 'outbox.leader_id')
    .select(['outbox.incident_id', 'outbox.kind', 'outbox.facts', 'outbox.is_digest', 'leader.sent'])
    .where('outbox.incident_id', 'in', listed(JSON.stringify([rowId, ...merged])))
    .where('outbox.channel_id', '=', channelId)
  const told = db.all(own.where('outbox.status', '!=', 'failed').orderBy('outbox.id')).map((one) => {
    const { names = [], others = [], mergedInto = null } = JSON.parse(one.facts)
    const later = (one.sent && JSON.parse(one.sent).named?.[id]) ?? []
    return { ...one, names: [...names, ...later], others, isMerged: mergedInto !== null }
  })
  return [...Map.groupBy(told, (one) => one.incident_id).values()].flatMap((all) => {
    const clearAt = all.findLastIndex((one) => OVER.has(one.kind) && one.is_digest === 0 && !one.isMerged)
    // Who hears that somebody works on it does not hear what is new.
    return all.slice(clearAt + 1).filter(({ kind }) => kind !== 'acknowledged')
  })
}

/** Returns whether messages have named a condition, maybe after another service, to which it belonged then. */
export function hasNamed(facts: readonly Pick<ToldFacts, 'names'>[], name: string): boolean {
  return facts.some(({ names }) => names.some((one) => one === name || isPartOf(one, name)))
}

/** Returns the kinds of a channel's delivered messages since a time, and the conditions of an incident that they named as firing. */
export function listSaid(
  db: Db,
  channelId: number,
  { incidentId, incidentUuid }: { readonly incidentId: number; readonly incidentUuid: string },
  since: number,
): { readonly kind: MessageKind; readonly names: readonly string[] }[] {
  return db.all(said, { channelId, incidentId }).flatMap(({ sent }) => {
    const { at, kind, named } = sent === null ? {} : JSON.parse(sent)
    return at >= since ? [{ kind, names: named[incidentUuid] ?? [] }] : []
  })
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
 * Lists the channels that were told about an incident, or about one that was merged into it, since `since`, with the
 * number of reminders and the time at which the last notification was delivered, or is due.
 */
export function listToldSince(db: Db, { rowId, problem }: Followed, since: number) {
  return db.all(toldSince, { incidentIds: JSON.stringify([rowId, ...problem.merged]), since })
}

const toldSince = query<{ incidentIds: string; since: number }>()((of, hole) =>
  of
    .selectFrom('outbox')
    .select('channel_id as channelId')
    // A new condition that has ended waits until it fires again, and a digest for its time. Reminders do not wait for them.
    .select((eb) => {
      const waits = eb.or([eb('is_digest', '=', 1), eb.and([eb('kind', '=', 'worse'), eb('leader_id', 'is', null)])])
      const at = sql<number>`CASE status WHEN 'delivered' THEN max(due_at, ended_at) ELSE due_at END`
      return eb.fn.max<number>(eb.case().when(waits).then(hole('since')).else(at).end()).as('lastAt')
    })
    .select((eb) => eb.fn.sum<number>(eb.case().when('kind', '=', 'reminder').then(1).else(0).end()).as('reminders'))
    .where('incident_id', 'in', listed(hole('incidentIds')))
    .where('created_at', '>=', hole('since'))
    .groupBy('channel_id'),
)

/** Lists the channels that were told since `since` that alerts of a resolved incident are still firing. */
export function listStillFiring(db: Db, incidentId: number, since: number): number[] {
  const sent = db.sql.selectFrom('outbox').select('channel_id').where('incident_id', '=', incidentId)
  return db.all(sent.where('kind', '=', 'still-firing').where('created_at', '>=', since)).map((row) => row.channel_id)
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
