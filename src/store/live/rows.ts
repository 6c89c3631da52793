/** Saves the rows that a batch changed or appended: services, senders, groups, incidents, alerts and events. */
import type { Alert, AlertTexts, LiveAlert } from '../../domain/alert/alert.ts'
import type { Evidence } from '../../domain/alert/evidence.ts'
import type { Fingerprint } from '../../domain/alert/fingerprints.ts'
import type { Labels, StoredEvent } from '../../domain/event/event.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { cacheLast } from '../../domain/memoize.ts'
import type { LiveGroup, LiveSender } from '../../domain/sender/sender.ts'
import type { DescribedFingerprint } from '../../engine/state/effect.ts'
import type { Changes, RowChange } from '../../engine/state/journal.ts'
import { storedRules, textColumnsOf } from '../alert-texts.ts'
import { countAlerts } from '../history/alert-counts.ts'
import { savePayloads } from '../payloads.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, query, saveChanges, updateRow } from '../sqlite/query.ts'
import { uuidBytes } from '../sqlite/uuid.ts'

/** Saves the services, senders, groups and incidents, each after the rows that it references. */
export function saveRows(db: Db, { services, senders, groups, incidents }: Changes['rows']): void {
  saveChanges(db, 'services', services, ({ id }) => ({ uuid: uuidBytes(id) }), serviceColumns)
  const senderKey = ({ organizationId: organization_id, source, cluster, receiver }: LiveSender) => {
    return { organization_id, source, cluster, receiver }
  }
  saveChanges(db, 'senders', senders, senderKey, senderColumns)
  saveChanges(db, 'groups', groups, ({ senderId, key }) => ({ sender_id: senderId, key }), groupColumns)
  const incidentKey = ({ id, previous }: LiveIncident) => {
    return { uuid: uuidBytes(id), previous: previous === null ? null : uuidBytes(previous) }
  }
  saveChanges(db, 'incidents', incidents, incidentKey, incidentColumns)
}

export function saveEvents(db: Db, events: readonly StoredEvent[]): void {
  insertRows(db, 'events', events, eventRow)
  savePayloads(db, events)
}

function serviceColumns(service: LiveService) {
  const { health } = service
  return {
    organization_id: service.organizationId,
    cluster: service.cluster,
    namespace: service.namespace,
    name: service.name,
    status: health.status,
    score: health.score,
    health: penaltiesText(health.penalties),
    healthy_since: service.healthySince,
    suppressed: service.suppressed ? (1 as const) : (0 as const),
    last_alert_at: service.lastAlertAt,
    last_event_at: service.lastEventAt,
    evaluate_at: service.evaluateAt,
    created_at: service.createdAt,
  }
}

/** Most changes to a service leave its penalties unchanged. */
const penaltiesText: (penalties: LiveService['health']['penalties']) => string = cacheLast(JSON.stringify)

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

function groupColumns({ members, deliveredAt, longestGap, gaps }: LiveGroup) {
  return { members, delivered_at: deliveredAt, longest_gap: longestGap, gaps }
}

function incidentColumns(incident: LiveIncident) {
  return {
    organization_id: incident.organizationId,
    service_id: incident.serviceId,
    origin: incident.origin,
    cause: incident.cause,
    created_at: incident.createdAt,
    title: incident.title,
    severity: incident.severity,
    status: incident.status,
    started_at: incident.startedAt,
    acknowledged_at: incident.acknowledgedAt,
    resolved_at: incident.resolvedAt,
    touched_at: incident.touchedAt,
    alert_count: incident.alertCount,
    lowest_score: incident.lowestScore,
    acknowledged_by: incident.acknowledgedBy,
    problem: problemText(incident.problem),
  }
}

/** In a storm, most changes to an incident only count its alerts. */
const problemText: (problem: LiveIncident['problem']) => string = cacheLast(JSON.stringify)

function eventRow(event: StoredEvent) {
  return {
    id: event.rowId,
    uuid: uuidBytes(event.id),
    organization_id: event.organizationId,
    service_id: event.serviceId,
    alert_id: event.alertId,
    source: event.source,
    kind: event.kind,
    name: event.name,
    object: event.object,
    severity: event.severity,
    text: event.text,
    count: event.count,
    awaited: event.awaited,
    first_seen_at: event.firstSeenAt < event.at ? event.firstSeenAt : null,
    at: event.at,
    received_at: event.receivedAt,
  }
}

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

// The fingerprints of live alerts. Most alerts have no rows, because their fingerprint is derived.

/** Saves the fingerprints that differ from those before the batch. Run after the alerts are saved. */
export function saveFingerprints(
  db: Db,
  alerts: readonly RowChange<LiveAlert>[],
  settled: ReadonlyMap<number, number>,
  described: ReadonlyMap<string, DescribedFingerprint>,
): void {
  for (const { before, after } of alerts) {
    const known = before?.fingerprints ?? null
    const list = settled.has(after.rowId) ? null : after.fingerprints
    if (known === null && list === null) continue
    const kept = new Set(list?.map(({ fingerprint }) => fingerprint))
    for (const { fingerprint } of known ?? []) {
      if (!kept.has(fingerprint)) db.run(dropFingerprint, { alertId: after.rowId, fingerprint })
    }
    for (const one of list ?? []) {
      const description = described.get(fingerprintKey(after.rowId, one.fingerprint))
      if (description || !known?.includes(one)) saveFingerprint(db, after.rowId, one, description)
    }
  }
}

export function fingerprintKey(alertId: number, fingerprint: string): string {
  return `${alertId} ${fingerprint}`
}

function saveFingerprint(db: Db, alertId: number, one: Fingerprint, description?: DescribedFingerprint): void {
  const columns = {
    severity: one.severity,
    said: one.said,
    started_at: one.startedAt,
    ended: Number(one.ended),
    seen_at: one.seenAt,
    expires_at: one.expiresAt,
    changed_at: one.changedAt,
    ...(description
      ? { labels: patchOf(labelsOf(db, alertId), description.labels), generator: description.generator }
      : {}),
  }
  db.run(
    db.sql
      .insertInto('alert_fingerprints')
      .values({ alert_id: alertId, fingerprint: one.fingerprint, ...columns })
      .onConflict((conflict) => conflict.columns(['alert_id', 'fingerprint']).doUpdateSet(columns)),
  )
}

function labelsOf(db: Db, alertId: number): Labels {
  return JSON.parse(db.first(alertLabels, { alertId })?.labels ?? '{}')
}

const alertLabels = query<{ alertId: number }>()((sql, hole) =>
  sql.selectFrom('alerts').select('labels').where('id', '=', hole('alertId')),
)
const dropFingerprint = query<{ alertId: number; fingerprint: string }>()((sql, hole) =>
  sql
    .deleteFrom('alert_fingerprints')
    .where('alert_id', '=', hole('alertId'))
    .where('fingerprint', '=', hole('fingerprint')),
)

/** Returns the changes from one set of labels to another as a JSON merge patch; null if they are equal. */
function patchOf(before: Labels, after: Labels): string | null {
  const changed = Object.entries(after).filter(([name, value]) => before[name] !== value)
  const removed = Object.keys(before).filter((name) => after[name] === undefined)
  const patch = [...changed, ...removed.map((name) => [name, null] as const)]
  return patch.length === 0 ? null : JSON.stringify(Object.fromEntries(patch))
}
