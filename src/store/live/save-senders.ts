import type { LiveGroup, LiveSender } from '../../domain/state/live.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, query } from '../sqlite/query.ts'
import type { SavedRecord } from './save.ts'

export function saveSenders(db: Db, senders: readonly SavedRecord<LiveSender>[]): void {
  const made = senders.filter(({ isNew }) => isNew)
  insertRows(
    db,
    'senders',
    made.map(({ record }) => ({
      id: record.rowId,
      organization_id: record.organizationId,
      source: record.source,
      cluster: record.cluster,
      receiver: record.receiver,
      events: record.events,
      rejections: record.rejections,
      last_event_at: record.lastEventAt,
      last_rejection_at: record.lastRejectionAt,
      reports_ends: record.reportsEnds ? 1 : 0,
      reports_repeats: record.reportsRepeats ? 1 : 0,
      lag: record.lag?.lag ?? null,
      lag_at: record.lag?.lagAt ?? null,
      clock: clockOf(record),
      names_cluster: namesClusterOf(record),
      longest_gap: record.deliveryInterval.longestGap,
      gaps: record.deliveryInterval.gaps,
      hours: JSON.stringify(record.hours),
      heartbeat_at: record.heartbeatAt,
      heartbeat_gap: record.heartbeatGap,
      heartbeat_due_at: record.heartbeatDueAt,
    })),
  )
  for (const { record, isNew } of senders) if (!isNew) db.run(updateSender, updatedSender(record))
}

function clockOf({ clock }: LiveSender): string | null {
  return clock && JSON.stringify(clock)
}

function namesClusterOf({ namesCluster }: LiveSender): number | null {
  return namesCluster === null ? null : Number(namesCluster)
}

function updatedSender(sender: LiveSender) {
  const { rowId, events, rejections, lastEventAt, lastRejectionAt, reportsEnds, deliveryInterval } = sender
  const { heartbeatAt, heartbeatGap, heartbeatDueAt } = sender
  return {
    ...{ rowId, events, rejections, lastEventAt, lastRejectionAt, heartbeatAt, heartbeatGap, heartbeatDueAt },
    ...{
      reportsRepeats: sender.reportsRepeats ? 1 : 0,
      lag: sender.lag?.lag ?? null,
      lagAt: sender.lag?.lagAt ?? null,
      clock: clockOf(sender),
      namesCluster: namesClusterOf(sender),
      hours: JSON.stringify(sender.hours),
    },
    ...{ reportsEnds: reportsEnds ? 1 : 0, longestGap: deliveryInterval.longestGap, gaps: deliveryInterval.gaps },
  }
}

const updateSender = query<ReturnType<typeof updatedSender>>()((sql, hole) =>
  sql
    .updateTable('senders')
    .set({
      events: hole('events'),
      rejections: hole('rejections'),
      last_event_at: hole('lastEventAt'),
      last_rejection_at: hole('lastRejectionAt'),
      reports_ends: hole('reportsEnds'),
      reports_repeats: hole('reportsRepeats'),
      lag: hole('lag'),
      lag_at: hole('lagAt'),
      clock: hole('clock'),
      names_cluster: hole('namesCluster'),
      longest_gap: hole('longestGap'),
      gaps: hole('gaps'),
      hours: hole('hours'),
      heartbeat_at: hole('heartbeatAt'),
      heartbeat_gap: hole('heartbeatGap'),
      heartbeat_due_at: hole('heartbeatDueAt'),
    })
    .where('id', '=', hole('rowId')),
)

export function saveGroups(db: Db, groups: readonly SavedRecord<LiveGroup>[]): void {
  const made = groups.filter(({ isNew }) => isNew)
  insertRows(
    db,
    'groups',
    made.map(({ record }) => ({
      id: record.rowId,
      sender_id: record.senderId,
      key: record.key,
      members: record.members,
      delivered_at: record.deliveredAt,
      longest_gap: record.longestGap,
      gaps: record.gaps,
    })),
  )
  for (const { record, isNew } of groups) if (!isNew) db.run(updateGroup, updatedGroup(record))
}

function updatedGroup({ rowId, members, deliveredAt, longestGap, gaps }: LiveGroup) {
  return { rowId, members, deliveredAt, longestGap, gaps }
}

const updateGroup = query<ReturnType<typeof updatedGroup>>()((sql, hole) =>
  sql
    .updateTable('groups')
    .set({
      members: hole('members'),
      delivered_at: hole('deliveredAt'),
      longest_gap: hole('longestGap'),
      gaps: hole('gaps'),
    })
    .where('id', '=', hole('rowId')),
)

export function dropGroup(db: Db, rowId: number): void {
  db.run(dropped, { rowId })
}

const dropped = query<{ rowId: number }>()((sql, hole) => sql.deleteFrom('groups').where('id', '=', hole('rowId')))
