/** Finds expired events by time of receipt. */
import { sql } from 'kysely'
import type { Source } from '../../domain/event/event.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, query } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import type { NextRows } from './pruning.ts'

export type ExpiredEvent = {
  readonly id: number
  /** `event/<uuid>` */
  readonly ref: string
  readonly serviceId: number | null
  readonly alertId: number | null
  readonly source: Source
  readonly kind: string
  readonly at: number
  readonly receivedAt: number
}

const byReceipt = query<NextRows>()((builder, hole) =>
  select(builder)
    .where('organization_id', '=', hole('organizationId'))
    .where('received_at', '<=', hole('until'))
    .where(sql<boolean>`(received_at, id) > (${hole('at')}, ${hole('id')})`)
    .orderBy('received_at')
    .orderBy('id')
    .limit(hole('limit')),
)

/** Returns the next events by time of receipt. */
export function listEventsByReceipt(db: Db, next: NextRows): ExpiredEvent[] {
  return db.all(byReceipt, next).map(toEvent)
}

/** Returns the events of the alerts with these row ids. */
export function listEventsOfAlerts(db: Db, ids: readonly number[]): ExpiredEvent[] {
  return db.all(select(db.sql).where('alert_id', 'in', listed(JSON.stringify(ids)))).map(toEvent)
}

/** The size of a row in bytes, including its entries in a dozen indexes, but without its text columns. */
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
    .select(['source', 'kind', 'at', 'received_at as receivedAt'])
}

type ExpiredEventRow = Omit<ExpiredEvent, 'ref'> & { readonly uuid: Buffer }

function toEvent({ uuid, ...event }: ExpiredEventRow): ExpiredEvent {
  return { ...event, ref: `event/${uuidFromBytes(uuid)}` }
}
