/** Groups of Alertmanager and Grafana, and their rhythm. */
import type { Group, Rhythm } from '../domain/alert/delivery-interval.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'

const COLUMNS = ['id', 'members', 'delivered_at as deliveredAt', 'longest_gap as longestGap', 'gaps'] as const

const byKey = query<{ senderId: number; key: string }>()((sql, hole) =>
  sql.selectFrom('groups').select(COLUMNS).where('sender_id', '=', hole('senderId')).where('key', '=', hole('key')),
)
const insert = query<Group & { senderId: number; key: string }>()((sql, hole) =>
  sql.insertInto('groups').values({
    sender_id: hole('senderId'),
    key: hole('key'),
    members: hole('members'),
    delivered_at: hole('deliveredAt'),
    longest_gap: hole('longestGap'),
    gaps: hole('gaps'),
  }),
)
const update = query<Group & { id: number }>({ keepsMemory: true })((sql, hole) =>
  sql
    .updateTable('groups')
    .set({
      members: hole('members'),
      delivered_at: hole('deliveredAt'),
      longest_gap: hole('longestGap'),
      gaps: hole('gaps'),
    })
    .where('id', '=', hole('id')),
)

export type GroupRow = Group & { readonly id: number }

export function findGroup(db: Db, senderId: number, key: string): GroupRow | null {
  return db.memory.row('groups', `${senderId} ${key}`, () => db.first(byKey, { senderId, key }) ?? null)
}

/** A group that was not known; its id. */
export function insertGroup(db: Db, senderId: number, key: string, group: Group): number {
  return db.insert(insert, { senderId, key, ...group })
}

/** The group as it is now: remembered, and written once for all its deliveries in one transaction. */
export function updateGroup(db: Db, senderId: number, key: string, group: GroupRow): void {
  const name = `${senderId} ${key}`
  db.memory.keep('groups', name, group)
  db.memory.later('groups', name, group, (last) => void db.run(update, last))
}

/** What the sweeper asks of the group of an alert: its rhythm, its receiver's, and whether ends are reported. */
export function findRhythms(
  db: Db,
  groupId: number,
): { readonly group: Rhythm; readonly receiver: Rhythm; readonly reportsEnds: boolean } | null {
  const row = db.first(
    db.sql
      .selectFrom('groups')
      .innerJoin('senders', 'senders.id', 'groups.sender_id')
      .select([
        'groups.longest_gap as longestGap',
        'groups.gaps',
        'senders.longest_gap as receiverGap',
        'senders.gaps as receiverGaps',
        'senders.reports_ends as reportsEnds',
      ])
      .where('groups.id', '=', groupId),
  )
  if (!row) return null
  return {
    group: { longestGap: row.longestGap, gaps: row.gaps },
    receiver: { longestGap: row.receiverGap, gaps: row.receiverGaps },
    reportsEnds: row.reportsEnds === 1,
  }
}
