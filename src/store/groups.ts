/** Groups of Alertmanager and Grafana, and their rhythm. */
import type { Group, Rhythm } from '../domain/rhythm.ts'
import type { Db } from './open.ts'
import { query } from './query.ts'

const COLUMNS = ['id', 'members', 'delivered_at as deliveredAt', 'longest_gap as longestGap', 'gaps'] as const

const byKey = query<{ senderId: number; key: string }>()((sql, hole) =>
  sql.selectFrom('groups').select(COLUMNS).where('sender_id', '=', hole('senderId')).where('key', '=', hole('key')),
)
const upsert = query<{
  senderId: number
  key: string
  members: string
  deliveredAt: number
  longestGap: number
  gaps: number
}>()((sql, hole) =>
  sql
    .insertInto('groups')
    .values({
      sender_id: hole('senderId'),
      key: hole('key'),
      members: hole('members'),
      delivered_at: hole('deliveredAt'),
      longest_gap: hole('longestGap'),
      gaps: hole('gaps'),
    })
    .onConflict((conflict) =>
      conflict.columns(['sender_id', 'key']).doUpdateSet({
        members: hole('members'),
        delivered_at: hole('deliveredAt'),
        longest_gap: hole('longestGap'),
        gaps: hole('gaps'),
      }),
    )
    .returning('id'),
)

export function findGroup(db: Db, senderId: number, key: string): (Group & { readonly id: number }) | null {
  return db.first(byKey, { senderId, key }) ?? null
}

/** Stores the group as it now is; its id. */
export function storeGroup(db: Db, senderId: number, key: string, group: Group): number {
  const { members, deliveredAt, longestGap, gaps } = group
  const stored = db.first(upsert, { senderId, key, members, deliveredAt, longestGap, gaps })
  if (!stored) throw new Error('an upsert with RETURNING returned nothing')
  return stored.id
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
