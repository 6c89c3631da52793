/** Saves the rows that a batch changed or appended: services, senders, groups, incidents and events. */
import type { StoredEvent } from '../../domain/event/stored-event.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { cacheLast } from '../../domain/memoize.ts'
import type { LiveGroup, LiveSender } from '../../domain/sender/sender.ts'
import type { Changes } from '../../engine/state/journal.ts'
import { savePayloads } from '../payloads.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, saveChanges } from '../sqlite/query.ts'
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
