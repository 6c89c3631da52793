import type { LiveGroup, LiveSender } from '../../domain/sender/sender.ts'
import type { RowChange } from '../../engine/state/journal.ts'
import type { Db } from '../sqlite/open.ts'
import { query, saveChanges } from '../sqlite/query.ts'

export function saveSenders(db: Db, senders: readonly RowChange<LiveSender>[]): void {
  saveChanges(db, 'senders', senders, senderRow, senderColumns)
}

function senderRow(sender: LiveSender) {
  const { rowId: id, organizationId: organization_id, source, cluster, receiver } = sender
  return { id, organization_id, source, cluster, receiver, ...senderColumns(sender) }
}

function senderColumns(sender: LiveSender) {
  const { lag, clock, namesCluster, deliveryInterval } = sender
  return {
    tokens: JSON.stringify(sender.tokens),
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
    heartbeats: JSON.stringify(sender.beats),
  }
}

export function saveGroups(db: Db, groups: readonly RowChange<LiveGroup>[]): void {
  saveChanges(db, 'groups', groups, groupRow, groupColumns)
}

export function dropGroups(db: Db, groups: readonly RowChange<LiveGroup>[]): void {
  for (const { after, isGone } of groups) if (isGone) db.run(dropped, { rowId: after.rowId })
}

function groupRow(group: LiveGroup) {
  return { id: group.rowId, sender_id: group.senderId, key: group.key, ...groupColumns(group) }
}

function groupColumns({ members, deliveredAt, longestGap, gaps }: LiveGroup) {
  return { members, delivered_at: deliveredAt, longest_gap: longestGap, gaps }
}

const dropped = query<{ rowId: number }>()((sql, hole) => sql.deleteFrom('groups').where('id', '=', hole('rowId')))
