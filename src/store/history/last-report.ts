/** Finds when the alerts that fire were last received, and how their sender delivers. */
import type { Delivery } from '../../domain/notification/alert-texts.ts'
import type { LastReport } from '../../domain/notification/schedule.ts'
import { isKnown } from '../../domain/sender/delivery-interval.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidOrNone } from '../sqlite/uuid.ts'

type DeliveryRow = {
  readonly ownGap: number | null
  readonly ownGaps: number | null
  readonly senderGap: number | null
  readonly senderGaps: number | null
  readonly reportsEnds: number | null
  /** When the alert ends unless it is repeated; null if unknown. From Alertmanager: an end that does not count yet. */
  readonly expiresAt: number | null
}

/** Returns how an alert is delivered, from the row of its group and its sender; their columns are null if unknown. */
export function toDelivery({ ownGap, ownGaps, senderGap, senderGaps, reportsEnds, expiresAt }: DeliveryRow): Delivery {
  if (ownGaps !== null && expiresAt !== null) return { interval: null, reportsEnds: false, isRepeated: true }
  const interval = isKnown({ gaps: ownGaps ?? 0 }) ? ownGap : isKnown({ gaps: senderGaps ?? 0 }) ? senderGap : null
  return { interval, reportsEnds: reportsEnds === 1, isRepeated: ownGaps !== null }
}

/**
 * Finds the last report of an alert that fires, or of any alert that fires in an incident.
 * @param of the UUID of the alert, or the row id of an incident of the organization
 */
export function findLastReport(db: Db, organizationId: number, of: string | number): LastReport | undefined {
  const firing = db.sql
    .selectFrom('alerts')
    .leftJoin('groups', 'groups.id', 'alerts.group_id')
    .leftJoin('senders', 'senders.id', 'groups.sender_id')
    // SQLite takes the other columns from the row with the maximum.
    .select((alert) => alert.fn.max('alerts.received_at').as('receivedAt'))
    .select(['alerts.source', 'groups.longest_gap as ownGap'])
    .select(['groups.gaps as ownGaps', 'senders.longest_gap as senderGap', 'senders.gaps as senderGaps'])
    .select(['reports_ends as reportsEnds', 'alerts.expires_at as expiresAt', 'senders.last_event_at as heardAt'])
    .where('ends_at', 'is', null)
    .where('alerts.source', '!=', 'ci')
  const own =
    typeof of === 'number'
      ? firing.where('incident_id', '=', of)
      : firing.where('alerts.organization_id', '=', organizationId).where('alerts.uuid', '=', uuidOrNone(of))
  const row = db.first(own)
  if (!row || row.receivedAt === null) return undefined
  return { source: row.source, receivedAt: row.receivedAt, heardAt: row.heardAt, delivery: toDelivery(row) }
}
