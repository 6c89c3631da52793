import type { LiveGroup, LiveSender } from '../../domain/state/live.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, query, updateRow } from '../sqlite/query.ts'
import type { SavedRecord } from './save.ts'

export function saveSenders(db: Db, senders: readonly SavedRecord<LiveSender>[]): void {
  const made = senders.flatMap(({ record, isNew }) => (isNew ? record : []))
  insertRows(
    db,
    'senders',
    made.map((record) => ({
      id: record.rowId,
      organization_id: record.organizationId,
      source: record.source,
      cluster: record.cluster,
      receiver: record.receiver,
      ...senderFacts(record),
    })),
  )
  for (const { record, isNew } of senders) if (!isNew) updateRow(db, 'senders', record.rowId, senderFacts(record))
}

/** Returns the columns that can change. */
function senderFacts(sender: LiveSender) {
  const { lag, clock, namesCluster, deliveryInterval } = sender
  return {
    events: sender.events,
    rejections: sender.rejections,
    last_event_at: sender.lastEventAt,
    last_rejection_at: sender.lastRejectionAt,
    reports_ends: sender.reportsEnds ? 1 : 0,
    reports_repeats: sender.reportsRepeats ? 1 : 0,
    lag: lag?.lag ?? null,
    lag_at: lag?.lagAt ?? null,
    clock: clock && JSON.stringify(clock),
    names_cluster: namesCluster === null ? null : Number(namesCluster),
    longest_gap: deliveryInterval.longestGap,
    gaps: deliveryInterval.gaps,
    hours: JSON.stringify(sender.hours),
    heartbeat_at: sender.heartbeatAt,
    heartbeat_gap: sender.heartbeatGap,
    heartbeat_due_at: sender.heartbeatDueAt,
  }
}

export function saveGroups(db: Db, groups: readonly SavedRecord<LiveGroup>[]): void {
  const made = groups.flatMap(({ record, isNew }) => (isNew ? record : []))
  insertRows(
    db,
    'groups',
    made.map((record) => ({ id: record.rowId, sender_id: record.senderId, key: record.key, ...groupFacts(record) })),
  )
  for (const { record, isNew } of groups) if (!isNew) updateRow(db, 'groups', record.rowId, groupFacts(record))
}

/** Returns the columns that can change. */
function groupFacts({ members, deliveredAt, longestGap, gaps }: LiveGroup) {
  return { members, delivered_at: deliveredAt, longest_gap: longestGap, gaps }
}

export function dropGroup(db: Db, rowId: number): void {
  db.run(dropped, { rowId })
}

const dropped = query<{ rowId: number }>()((sql, hole) => sql.deleteFrom('groups').where('id', '=', hole('rowId')))
