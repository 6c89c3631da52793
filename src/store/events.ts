/** Events: accepted webhook items and their payloads. */

import { hash } from 'node:crypto'
import { type Selection, sql } from 'kysely'
import type { Source, StoredEvent } from '../domain/event/event.ts'
import type { Listed, Page } from '../domain/pagination.ts'
import { pageInChunks } from './history/alert-search.ts'
import { payloadOf } from './payloads.ts'
import { countOf, type TimeFilter } from './read.ts'
import { ownerOf } from './service/services.ts'
import type { Db } from './sqlite/open.ts'
import type { Schema } from './sqlite/schema/schema.ts'
import { uuidFromBytes, uuidOrNone } from './sqlite/uuid.ts'

/** Times are Unix times in milliseconds. `at`: the sender's time. */
export type EventRecord = Pick<
  StoredEvent,
  'id' | 'source' | 'kind' | 'name' | 'object' | 'severity' | 'text' | 'at' | 'receivedAt'
> & { readonly serviceId: string | null; readonly alertId: string | null }

/** Undefined fields are ignored. `from` and `to` limit the time: from ≤ at < to. */
type EventFilter = TimeFilter & { readonly serviceId?: string | undefined; readonly source?: Source | undefined }

/** Lists one page of events that match the filter, newest first. */
export function listEvents(db: Db, organizationId: number, filter: EventFilter, page: Page): Listed<EventRecord> {
  const owner = ownerOf(db, organizationId, filter.serviceId)
  if (!owner) return { items: [], total: 0 }
  const query = db.sql.selectFrom('events').where(owner.column, '=', owner.rowId)
  const newest = query.orderBy('at', 'desc').orderBy('id', 'desc')
  const matching = (all: typeof query, from: number, before: number) => {
    const left = all.where('at', '>=', from).where('at', '<', before)
    return filter.source ? left.where('source', '=', filter.source) : left
  }
  const searched = {
    timeBehind: (before: number, newer: number) =>
      db.first(newest.where('at', '<', before).select('at').limit(1).offset(newer))?.at,
    count: (from: number, before: number) => countOf(db, matching(query, from, before)),
    rows: (from: number, before: number, limit: number, skip: number) =>
      db.all(matching(newest, from, before).select(columns).limit(limit).offset(skip)).map(toRecord),
  }
  return pageInChunks(searched, filter, page)
}

/** Lists up to `limit` of an alert's newest events. */
export function listEventsOfAlert(db: Db, organizationId: number, alertId: string, limit: number): EventRecord[] {
  const uuid = uuidOrNone(alertId)
  const query = ofOrganization(db, organizationId)
    .where('alert_id', '=', (eb) =>
      eb.selectFrom('alerts').select('id').where('uuid', '=', uuid).where('organization_id', '=', organizationId),
    )
    .select(columns)
  return db.all(query.orderBy('at', 'desc').orderBy('id', 'desc').limit(limit)).map(toRecord)
}

/** Finds an event and its payload by UUID. Returns undefined if the organization has no such event. */
export function findEvent(
  db: Db,
  organizationId: number,
  id: string,
): (EventRecord & { readonly payload: unknown }) | undefined {
  const row = db.first(
    ofOrganization(db, organizationId)
      .where('uuid', '=', uuidOrNone(id))
      .select([...columns, payloadOf().as('payload')]),
  )
  return row && { ...toRecord(row), payload: JSON.parse(row.payload ?? 'null') }
}

function ofOrganization(db: Db, organizationId: number) {
  return db.sql.selectFrom('events').where('organization_id', '=', organizationId)
}

// SQLite runs these subqueries only for rows on the page. Joins would also run for rows skipped by OFFSET.
const columns = [
  ...(['uuid', 'source', 'kind', 'name', 'object', 'severity', 'text', 'at', 'received_at as receivedAt'] as const),
  sql<Buffer | null>`(SELECT uuid FROM services WHERE services.id = events.service_id)`.as('service'),
  sql<Buffer | null>`(SELECT uuid FROM alerts WHERE alerts.id = events.alert_id)`.as('alert'),
] as const

type EventRow = Selection<Schema, 'events', (typeof columns)[number]>

function toRecord({ uuid, service, alert, ...row }: EventRow): EventRecord {
  return {
    ...row,
    id: uuidFromBytes(uuid),
    serviceId: service && uuidFromBytes(service),
    alertId: alert && uuidFromBytes(alert),
  }
}

/** Returns 48 bits of a payload's SHA-256, used to compare payloads. */
export function payloadHash(body: string): number {
  return Number.parseInt(hash('sha256', body, 'hex').slice(0, 12), 16)
}
