/** Finds expired events by their own time. An event that arrived long after it happened may not have expired yet. */
import { sql } from 'kysely'
import type { StoredEvent } from '../../domain/event/event.ts'
import { type Cutoffs, isIncidentDue } from '../../domain/retention.ts'
import { hasPostmortem } from '../incident/incidents.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, query } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import { deleteRows, type NextRows } from './pruning.ts'

export type ExpiredEvent = Pick<
  StoredEvent,
  'serviceId' | 'alertId' | 'source' | 'kind' | 'name' | 'at' | 'receivedAt'
> & {
  readonly id: number
  /** `event/<uuid>` */
  readonly ref: string
}

const eventsByAge = query<NextRows>()((builder, hole) =>
  select(builder)
    .where('organization_id', '=', hole('organizationId'))
    .where('at', '<=', hole('until'))
    .where(sql<boolean>`(at, id) > (${hole('at')}, ${hole('id')})`)
    .orderBy('at')
    .orderBy('id')
    .limit(hole('limit')),
)

/** Returns the next events by their own time. */
export function listEventsByAge(db: Db, next: NextRows): ExpiredEvent[] {
  return db.all(eventsByAge, next).map(toEvent)
}

/** Returns the events of the alerts with these row ids. */
export function listEventsOfAlerts(db: Db, ids: readonly number[]): ExpiredEvent[] {
  return db.all(select(db.sql).where('alert_id', 'in', listed(JSON.stringify(ids)))).map(toEvent)
}

/** The size of a row in bytes, including its entries in the indexes, but without its text columns. */
const ROW = 300

/** Estimates how many bytes a deletion of the events would free: rows, index entries and payloads. */
export function findBytes(db: Db, ids: readonly number[]): number {
  const bytes = sql<number>`coalesce(sum(${sql.lit(ROW)} + length(text) + length(name) + length(object) + coalesce((
    SELECT length(body) FROM payloads WHERE event_id = events.id
  ), 0)), 0)`
  const events = db.sql.selectFrom('events').where('id', 'in', listed(JSON.stringify(ids)))
  return db.first(events.select(bytes.as('bytes')))?.bytes ?? 0
}

function select(builder: Db['sql']) {
  return builder
    .selectFrom('events')
    .select(['id', 'uuid', 'service_id as serviceId', 'alert_id as alertId'])
    .select(['source', 'kind', 'name', 'at', 'received_at as receivedAt'])
}

function toEvent({ uuid, ...event }: Omit<ExpiredEvent, 'ref'> & { readonly uuid: Buffer }): ExpiredEvent {
  return { ...event, ref: `event/${uuidFromBytes(uuid)}` }
}

// Finds expired alerts and the events that these alerts reference. Deletes expired alerts.

/** The columns needed for an `AgedIncident`, for any query on `incidents`. Booleans are 0 or 1. */
export const AGED_COLUMNS = [
  ...(['incidents.status', 'incidents.created_at as createdAt', 'incidents.started_at as startedAt'] as const),
  ...(['incidents.resolved_at as resolvedAt', 'incidents.touched_at as touchedAt'] as const),
  hasPostmortem,
  sql<0 | 1>`EXISTS (
    SELECT 1 FROM alerts AS live WHERE live.incident_id = incidents.id AND live.settled_at IS NULL
  )`.as('hasLiveAlert'),
] as const

/** Converts a row with the columns in `AGED_COLUMNS`. */
export function toAged<Row extends Readonly<Record<Flag, 0 | 1>>>(
  row: Row,
): Omit<Row, Flag> & Readonly<Record<Flag, boolean>> {
  return { ...row, hasPostmortem: row.hasPostmortem === 1, hasLiveAlert: row.hasLiveAlert === 1 }
}
type Flag = 'hasPostmortem' | 'hasLiveAlert'

export type ExpiredAlert = {
  readonly id: number
  /** `alert/<uuid>` */
  readonly ref: string
  readonly settledAt: number
  readonly startsAt: number
  readonly lastSeenAt: number
  /** Whether the alert belongs to a retained incident. */
  readonly isOfIncident: boolean
}

const byAge = query<NextRows>()((builder, hole) =>
  builder
    .selectFrom('alerts')
    .leftJoin('incidents', 'incidents.id', 'alerts.incident_id')
    .select(['alerts.id', 'alerts.uuid', 'alerts.settled_at as settledAt', 'starts_at as startsAt'])
    .select(['last_seen_at as lastSeenAt', ...AGED_COLUMNS])
    .where('alerts.organization_id', '=', hole('organizationId'))
    .where('settled_at', 'is not', null)
    .where('settled_at', '<=', hole('until'))
    .where(sql<boolean>`(settled_at, alerts.id) > (${hole('at')}, ${hole('id')})`)
    .orderBy('settled_at')
    .orderBy('alerts.id')
    .limit(hole('limit')),
)

/** Returns the next alerts by the time when they settled. */
export function listAlertsByAge(db: Db, next: NextRows, cutoffs: Cutoffs): ExpiredAlert[] {
  return db.all(byAge, next).map((row) => {
    const { id, uuid, settledAt, startsAt, lastSeenAt, status, createdAt, startedAt } = row
    const incident = status && createdAt && startedAt ? toAged({ ...row, status, createdAt, startedAt }) : null
    const isOfIncident = incident !== null && !isIncidentDue(incident, cutoffs)
    return { id, ref: `alert/${uuidFromBytes(uuid)}`, settledAt: settledAt ?? 0, startsAt, lastSeenAt, isOfIncident }
  })
}

/**
 * Deletes alerts and their links, and removes the references to these alerts from events. Returns the number of deleted
 * alerts.
 */
export function deleteAlerts(db: Db, ids: readonly number[]): number {
  const alerts = listed(JSON.stringify(ids))
  db.run(db.sql.deleteFrom('correlations').where('alert_id', 'in', alerts))
  db.run(db.sql.updateTable('events').set({ alert_id: null }).where('alert_id', 'in', alerts))
  return deleteRows(db, 'alerts', ids)
}
