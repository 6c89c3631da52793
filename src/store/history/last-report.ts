/** Finds when the alerts that fire were last received, and how their sender delivers. */
import { sql } from 'kysely'
import { isOverSince } from '../../domain/health/health.ts'
import type { Delivery, Report } from '../../domain/notification/alert-texts.ts'
import type { LastReport } from '../../domain/notification/schedule.ts'
import { isKnown } from '../../domain/sender/delivery-interval.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, query } from '../sqlite/query.ts'
import { uuidOrNone } from '../sqlite/uuid.ts'

/** How many ends of alerts are compared with the conditions of Kubernetes. */
const MAX_ENDS = 50

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
  const interval = isKnown({ gaps: ownGaps ?? 0 }) ? ownGap : senderGaps ? senderGap : null
  const isDoubted = ownGaps !== null && expiresAt !== null
  // Prometheus repeats what it sends itself before it expires.
  const isRepeated = ownGaps !== null || expiresAt !== null
  return { interval, reportsEnds: reportsEnds === 1 && !isDoubted, isRepeated }
}

/**
 * When an alert was last received as severe as it is: for Alertmanager and Grafana, not while its sender was silent. A
 * warning that is repeated says nothing about the critical fingerprint of the same alert.
 */
export const reportedAt = sql<number>`CASE alerts.source WHEN 'cluster' THEN alerts.received_at ELSE min(
  alerts.last_seen_at,
  coalesce(
    (SELECT max(seen_at) FROM alert_fingerprints AS f WHERE alert_id = alerts.id AND ended = 0 AND f.severity = alerts.severity),
    alerts.last_seen_at
  )
) END`

/** Alerts that fire. SQLite takes all columns from the row with the maximum. */
function firing(of: Db['sql']) {
  return of
    .selectFrom('alerts')
    .leftJoin('groups', 'groups.id', 'alerts.group_id')
    .leftJoin('senders', 'senders.id', 'groups.sender_id')
    .select((alert) => alert.fn.max(reportedAt).as('receivedAt'))
    .select(['alerts.source', 'alerts.failure', 'alerts.last_seen_at as lastSeenAt', 'groups.longest_gap as ownGap'])
    .select(['groups.gaps as ownGaps', 'senders.longest_gap as senderGap', 'senders.gaps as senderGaps'])
    .select(['reports_ends as reportsEnds', 'alerts.expires_at as expiresAt', 'senders.last_event_at as heardAt'])
    .select('senders.heartbeat_at as heartbeatAt')
    .where('ends_at', 'is', null)
    .where('alerts.source', '!=', 'ci')
}

/**
 * Finds the last report of an alert that fires, or of any alert that fires in an incident.
 * @param of the UUID of the alert, or the row id of an incident of the organization
 */
export function findLastReport(db: Db, organizationId: number, of: string | number): Report | undefined {
  const own =
    typeof of === 'number'
      ? firing(db.sql).where('incident_id', '=', of)
      : firing(db.sql).where('alerts.organization_id', '=', organizationId).where('alerts.uuid', '=', uuidOrNone(of))
  const row = db.first(own)
  if (!row || row.receivedAt === null) return undefined
  return { source: row.source, receivedAt: row.receivedAt, delivery: toDelivery(row) }
}

/**
 * Lists the last reports of what is critical in an incident: one for each group of alerts, and one for each condition of
 * Kubernetes.
 * @param conditions the names of what is critical; those of other services are not compared
 */
export function listLastReports(db: Db, incidentId: number, conditions: readonly string[]): LastReport[] {
  const rows = db.all(criticalOf, { incidentId, conditions: JSON.stringify(conditions) })
  const ended = rows.some(({ source }) => source === 'cluster') ? listReportedEnds(db, incidentId) : []
  return rows.flatMap((row) => {
    const { source, receivedAt, heardAt, heartbeatAt } = row
    if (receivedAt === null) return []
    const isOverElsewhere = source === 'cluster' && isOverSince(row, ended)
    return {
      source,
      receivedAt,
      heardAt,
      hasHeartbeat: heartbeatAt !== null,
      isOverElsewhere,
      delivery: toDelivery(row),
    }
  })
}

const criticalOf = query<{ incidentId: number; conditions: string }>()((of, hole) =>
  firing(of)
    .where('alerts.incident_id', '=', hole('incidentId'))
    .where((eb) => {
      const own = eb
        .selectFrom('incidents')
        .select('incidents.service_id')
        .where('incidents.id', '=', hole('incidentId'))
      return eb.or([eb('name', 'in', listed<string>(hole('conditions'))), eb('alerts.service_id', '!=', own)])
    })
    .groupBy(['alerts.source', 'alerts.group_id'])
    .groupBy((eb) => eb.case().when('alerts.source', '=', 'cluster').then(eb.ref('alerts.id')).else(0).end()),
)

function listReportedEnds(db: Db, incidentId: number) {
  const ended = db.sql.selectFrom('alerts').select(['name', 'ends_at as endsAt']).where('incident_id', '=', incidentId)
  return db.all(
    ended
      .where('resolution', '=', 'reported')
      .where('source', 'in', ['metrics', 'dashboard'])
      .orderBy('ends_at', 'desc')
      .limit(MAX_ENDS),
  )
}
