import type { Alert, AlertTexts } from '../../domain/alert/alert.ts'
import type { Evidence } from '../../domain/alert/evidence.ts'
import type { LiveAlert } from '../../domain/alert/live-alert.ts'
import { cacheLast } from '../../domain/memoize.ts'
import type { RowChange } from '../../engine/state/journal.ts'
import { storedRules, textColumnsOf } from '../alert-texts.ts'
import { countAlerts } from '../history/alert-counts.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, updateRow } from '../sqlite/query.ts'
import { uuidBytes } from '../sqlite/uuid.ts'

/** Values by the alert's row id. */
type ById<Value> = ReadonlyMap<number, Value>

/**
 * Inserts and counts new alerts, and saves changed alerts.
 * @param texts the texts that changed
 * @param settled when alerts left the live state
 */
export function saveAlerts(
  db: Db,
  alerts: readonly RowChange<LiveAlert>[],
  texts: ById<AlertTexts>,
  settled: ById<number>,
): void {
  const made = alerts.filter(({ before }) => before === null)
  insertRows(db, 'alerts', made, ({ after }) => rowOf(after, texts.get(after.rowId), settled.get(after.rowId) ?? null))
  countAlerts(
    db,
    made.map(({ after }) => ({
      organizationId: after.organizationId,
      serviceId: after.serviceId,
      startsAt: after.alert.startsAt,
    })),
  )
  for (const { before, after } of alerts) {
    if (before === null) continue
    const own = texts.get(after.rowId)
    const row = Object.assign(columnsOf(after, settled.get(after.rowId) ?? null), own && textColumnsOf(own))
    updateRow(db, 'alerts', after.rowId, row, columnsOf(before, null))
  }
}

function rowOf(after: LiveAlert, texts: AlertTexts | undefined, settledAt: number | null) {
  if (!texts) throw new Error(`the new alert ${after.id} has no texts`)
  const fixed = { id: after.rowId, uuid: uuidBytes(after.id), labels: JSON.stringify(texts.labels) }
  // A spread would be slower, because V8 copies the object repeatedly when fields are added to it.
  return Object.assign(columnsOf(after, settledAt), fixed, textColumnsOf(texts))
}

/** Returns the columns that can change, except the texts, which are not in the live state. */
function columnsOf(live: LiveAlert, settledAt: number | null) {
  const { alert, lastEvent } = live
  return {
    organization_id: live.organizationId,
    service_id: live.serviceId,
    incident_id: live.incidentId,
    source: alert.source,
    name: alert.name,
    severity: alert.severity,
    said: alert.said,
    status: alert.status,
    resolution: alert.resolution,
    summary: alert.summary,
    fingerprint: alert.fingerprint,
    failure: alert.failure,
    node: alert.node,
    rules: rulesText(alert.rules),
    evidence: evidenceText(alert.evidence),
    starts_at: alert.startsAt,
    ends_at: alert.endsAt,
    last_seen_at: alert.lastSeenAt,
    occurrences: alert.occurrences,
    cluster: live.cluster,
    logical_key: alert.logicalKey,
    group_id: live.groupId,
    received_at: alert.receivedAt,
    end_received_at: alert.endedAt,
    expires_at: alert.expiresAt,
    last_event_id: lastEvent?.rowId ?? null,
    last_event_hash: lastEvent?.hash ?? 0,
    settled_at: settledAt,
  }
}

/** Most alerts have no evidence: the empty text. */
const evidenceText: (evidence: Evidence) => string = cacheLast((evidence) =>
  Object.values(evidence).every((marks) => marks.length === 0) ? '' : JSON.stringify(evidence),
)
const rulesText: (rules: Alert['rules']) => string = cacheLast(storedRules)
