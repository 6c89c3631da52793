import type { StoredEvent } from '../../domain/event/stored-event.ts'
import { savePayloads } from '../payloads.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows } from '../sqlite/query.ts'
import { uuidBytes } from '../sqlite/uuid.ts'

export function saveEvents(db: Db, events: readonly StoredEvent[]): void {
  insertRows(db, 'events', events, rowOf)
  savePayloads(db, events)
}

function rowOf(event: StoredEvent) {
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
