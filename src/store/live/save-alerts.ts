import { type Alert, isMereRepeat } from '../../domain/alert/alert.ts'
import type { Evidence } from '../../domain/alert/evidence.ts'
import { cacheLast } from '../../domain/memoize.ts'
import type { AlertTexts, LiveAlert } from '../../domain/state/live.ts'
import { countAlerts } from '../history/alert-counts.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, query } from '../sqlite/query.ts'
import { uuidBytes } from '../sqlite/uuid.ts'

/** The net change of an alert in a batch. `before`: null if the alert is new. `texts`: null if unchanged. */
export type SavedAlert = {
  readonly before: LiveAlert | null
  readonly after: LiveAlert
  readonly texts: AlertTexts | null
  /** Not null if the alert leaves the live state. */
  readonly settledAt: number | null
}

/** Inserts new alerts, updates their count, and saves changed alerts. */
export function saveAlerts(db: Db, alerts: readonly SavedAlert[]): void {
  const made = alerts.filter(({ before }) => before === null)
  insertRows(db, 'alerts', made.map(insertable))
  countAlerts(
    db,
    made.map(({ after }) => ({
      organizationId: after.organizationId,
      serviceId: after.serviceId,
      startsAt: after.alert.startsAt,
    })),
  )
  for (const saved of alerts) if (saved.before) updateAlert(db, saved, saved.before)
}

function insertable({ after, texts, settledAt }: SavedAlert) {
  const { alert, lastEvent } = after
  return {
    id: after.rowId,
    uuid: uuidBytes(after.id),
    organization_id: after.organizationId,
    service_id: after.serviceId,
    incident_id: after.incidentId,
    source: alert.source,
    name: alert.name,
    severity: alert.severity,
    said: alert.said,
    status: alert.status,
    resolution: alert.resolution,
    summary: alert.summary,
    labels: JSON.stringify(texts?.labels ?? {}),
    annotations: JSON.stringify(texts?.annotations ?? {}),
    links: JSON.stringify(texts?.links ?? {}),
    fingerprint: alert.fingerprint,
    failure: alert.failure,
    node: alert.node,
    rules: rulesText(alert.rules),
    evidence: evidenceText(alert.evidence),
    starts_at: alert.startsAt,
    ends_at: alert.endsAt,
    last_seen_at: alert.lastSeenAt,
    occurrences: alert.occurrences,
    cluster: after.cluster,
    logical_key: alert.logicalKey,
    fingerprints: fingerprintsText(after),
    group_id: after.groupId,
    received_at: alert.receivedAt,
    end_received_at: alert.endedAt,
    last_event_id: lastEvent?.rowId ?? null,
    last_event_hash: lastEvent?.hash ?? 0,
    settled_at: settledAt,
  }
}

/** Most alerts have no evidence and share this text. */
const evidenceText: (evidence: Evidence) => string = cacheLast(JSON.stringify)
const rulesText: (rules: Alert['rules']) => string = cacheLast(JSON.stringify)

/** Returns null as long as the alert has only its first fingerprint and the fingerprint's state can be derived. */
function fingerprintsText({ fingerprints, alert }: LiveAlert): string | null {
  const [only, ...more] = fingerprints
  const isPlain =
    more.length === 0 &&
    only?.fingerprint === alert.fingerprint &&
    only.startedAt === alert.startsAt &&
    only.ended === (alert.status === 'resolved')
  if (isPlain) return null
  return JSON.stringify(fingerprints.map(({ fingerprint, startedAt, ended }) => [fingerprint, startedAt, ended]))
}

function updateAlert(db: Db, { after, texts, settledAt }: SavedAlert, before: LiveAlert): void {
  const { rowId, alert } = after
  const { lastSeenAt, occurrences, receivedAt } = alert
  if (texts === null && settledAt === null && isRepeat(before, after)) {
    db.run(repeat, { rowId, lastSeenAt, occurrences, receivedAt })
    return
  }
  const { severity, said, status, resolution, summary, node, startsAt, endsAt, endedAt } = alert
  db.run(change, {
    ...{ rowId, severity, said, status, resolution, summary, node, startsAt, endsAt, endedAt },
    ...{ lastSeenAt, occurrences, receivedAt, settledAt },
    serviceId: after.serviceId,
    incidentId: after.incidentId,
    groupId: after.groupId,
    fingerprints: fingerprintsText(after),
    evidence: evidenceText(alert.evidence),
    lastEventId: after.lastEvent?.rowId ?? null,
    lastEventHash: after.lastEvent?.hash ?? 0,
  })
  if (texts) {
    const [annotations, links] = [JSON.stringify(texts.annotations), JSON.stringify(texts.links)]
    db.run(changeTexts, { rowId, annotations, links })
  }
}

/** Returns whether only the count and the last-seen time changed. */
function isRepeat(before: LiveAlert, after: LiveAlert): boolean {
  return (
    before.serviceId === after.serviceId &&
    before.incidentId === after.incidentId &&
    before.groupId === after.groupId &&
    before.lastEvent === after.lastEvent &&
    before.alert.endedAt === after.alert.endedAt &&
    fingerprintsText(before) === fingerprintsText(after) &&
    isMereRepeat(before.alert, after.alert)
  )
}

const repeat = query<{ rowId: number; lastSeenAt: number; occurrences: number; receivedAt: number }>()((sql, hole) =>
  sql
    .updateTable('alerts')
    .set({ last_seen_at: hole('lastSeenAt'), occurrences: hole('occurrences'), received_at: hole('receivedAt') })
    .where('id', '=', hole('rowId')),
)

type Changed = {
  rowId: number
  serviceId: number
  incidentId: number | null
  severity: Alert['severity']
  said: string | null
  status: Alert['status']
  resolution: Alert['resolution']
  summary: string
  node: string | null
  evidence: string
  startsAt: number
  endsAt: number | null
  lastSeenAt: number
  occurrences: number
  fingerprints: string | null
  groupId: number | null
  receivedAt: number
  endedAt: number | null
  lastEventId: number | null
  lastEventHash: number
  settledAt: number | null
}

const change = query<Changed>()((sql, hole) =>
  sql
    .updateTable('alerts')
    .set({
      service_id: hole('serviceId'),
      incident_id: hole('incidentId'),
      severity: hole('severity'),
      said: hole('said'),
      status: hole('status'),
      resolution: hole('resolution'),
      summary: hole('summary'),
      node: hole('node'),
      evidence: hole('evidence'),
      starts_at: hole('startsAt'),
      ends_at: hole('endsAt'),
      last_seen_at: hole('lastSeenAt'),
      occurrences: hole('occurrences'),
      fingerprints: hole('fingerprints'),
      group_id: hole('groupId'),
      received_at: hole('receivedAt'),
      end_received_at: hole('endedAt'),
      last_event_id: hole('lastEventId'),
      last_event_hash: hole('lastEventHash'),
      settled_at: hole('settledAt'),
    })
    .where('id', '=', hole('rowId')),
)
const changeTexts = query<{ rowId: number; annotations: string; links: string }>()((sql, hole) =>
  sql
    .updateTable('alerts')
    .set({ annotations: hole('annotations'), links: hole('links') })
    .where('id', '=', hole('rowId')),
)
