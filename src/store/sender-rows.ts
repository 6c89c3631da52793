/** Senders as the write path sees them: what each has sent, how often it repeats, whether its heart beats. */
import type { InferResult } from 'kysely'
import type { Rhythm } from '../domain/alert/delivery-interval.ts'
import type { Source } from '../domain/event/event.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'

export type SenderRow = {
  readonly id: number
  readonly organizationId: number
  readonly source: Source
  readonly cluster: string
  readonly receiver: string
  readonly events: number
  readonly rejections: number
  readonly lastEventAt: number | null
  readonly lastRejectionAt: number | null
  /** Has ever sent a resolved item, and so is believed to send them all. */
  readonly reportsEnds: boolean
  /** Of all its groups. */
  readonly rhythm: Rhythm
  readonly heartbeatAt: number | null
  readonly heartbeatGap: number
  /** When its silence becomes an incident; null while silent, or never heard. */
  readonly heartbeatDueAt: number | null
}

const byKey = query<{ organizationId: number; source: Source; cluster: string; receiver: string }>()((sql, hole) =>
  select(sql)
    .where('organization_id', '=', hole('organizationId'))
    .where('source', '=', hole('source'))
    .where('cluster', '=', hole('cluster'))
    .where('receiver', '=', hole('receiver')),
)

/** The sender of that name, made where it is new. */
export function findOrMakeSender(
  db: Db,
  key: { organizationId: number; source: Source; cluster: string; receiver: string },
): SenderRow {
  const load = () => {
    const known = db.first(byKey, key)
    return known ? toSenderRow(known) : null
  }
  const known = db.memory.row('senders', nameOf(key), load)
  if (known) return known
  const { organizationId, ...rest } = key
  db.run(db.sql.insertInto('senders').values({ organization_id: organizationId, ...rest }))
  return findOrMakeSender(db, key)
}

/** The sender as it is now: remembered, and written once for all that it sends in one transaction. */
export function updateSender(db: Db, sender: SenderRow): void {
  const name = nameOf(sender)
  db.memory.keep('senders', name, sender)
  db.memory.later('senders', name, sender, (last) => writeSender(db, last))
}

function nameOf({
  organizationId,
  source,
  cluster,
  receiver,
}: Pick<SenderRow, 'organizationId' | 'source' | 'cluster' | 'receiver'>): string {
  return `${organizationId} ${source} ${cluster}\0${receiver}`
}

function writeSender(db: Db, sender: SenderRow): void {
  db.run(update, {
    id: sender.id,
    events: sender.events,
    rejections: sender.rejections,
    lastEventAt: sender.lastEventAt,
    lastRejectionAt: sender.lastRejectionAt,
    reportsEnds: sender.reportsEnds ? 1 : 0,
    longestGap: sender.rhythm.longestGap,
    gaps: sender.rhythm.gaps,
    heartbeatAt: sender.heartbeatAt,
    heartbeatGap: sender.heartbeatGap,
    heartbeatDueAt: sender.heartbeatDueAt,
  })
}

const update = query<{
  id: number
  events: number
  rejections: number
  lastEventAt: number | null
  lastRejectionAt: number | null
  reportsEnds: number
  longestGap: number
  gaps: number
  heartbeatAt: number | null
  heartbeatGap: number
  heartbeatDueAt: number | null
}>({ keepsMemory: true })((sql, hole) =>
  sql
    .updateTable('senders')
    .set({
      events: hole('events'),
      rejections: hole('rejections'),
      last_event_at: hole('lastEventAt'),
      last_rejection_at: hole('lastRejectionAt'),
      reports_ends: hole('reportsEnds'),
      longest_gap: hole('longestGap'),
      gaps: hole('gaps'),
      heartbeat_at: hole('heartbeatAt'),
      heartbeat_gap: hole('heartbeatGap'),
      heartbeat_due_at: hole('heartbeatDueAt'),
    })
    .where('id', '=', hole('id')),
)

const MOST_OVERDUE = 100

/** The senders whose heartbeat is overdue, the longest first, so many at a time. */
export function listOverdueSenders(db: Db, now: number): SenderRow[] {
  return db
    .all(select(db.sql).where('heartbeat_due_at', '<=', now).orderBy('heartbeat_due_at').limit(MOST_OVERDUE))
    .map(toSenderRow)
}

function select(sql: Db['sql']) {
  return sql.selectFrom('senders').selectAll()
}

function toSenderRow(row: InferResult<ReturnType<typeof select>>[number]): SenderRow {
  return {
    id: row.id,
    organizationId: row.organization_id,
    source: row.source,
    cluster: row.cluster,
    receiver: row.receiver,
    events: row.events,
    rejections: row.rejections,
    lastEventAt: row.last_event_at,
    lastRejectionAt: row.last_rejection_at,
    reportsEnds: row.reports_ends === 1,
    rhythm: { longestGap: row.longest_gap, gaps: row.gaps },
    heartbeatAt: row.heartbeat_at,
    heartbeatGap: row.heartbeat_gap,
    heartbeatDueAt: row.heartbeat_due_at,
  }
}
