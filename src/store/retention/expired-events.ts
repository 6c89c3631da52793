/** Finds expired events by time of receipt, by time around an incident, or by reference, and deletes events. */
import { sql } from 'kysely'
import type { Source } from '../../domain/event/event.ts'
import type { Cursor } from '../../domain/retention.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, query } from '../sqlite/query.ts'
import { uuidFromBytes, uuidToBytes } from '../sqlite/uuid.ts'

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

type Behind = { organizationId: number; at: number; id: number; until: number; limit: number }

/** Selects the rows after a cursor, sorted by a column. */
const behind = (column: 'received_at' | 'at') =>
  query<Behind>()((builder, hole) =>
    select(builder)
      .where('organization_id', '=', hole('organizationId'))
      .where(column, '<=', hole('until'))
      .where(sql<boolean>`(${sql.ref(column)}, id) > (${hole('at')}, ${hole('id')})`)
      .orderBy(column)
      .orderBy('id')
      .limit(hole('limit')),
  )
const byReceipt = behind('received_at')
const byTime = behind('at')

/** Returns an organization's next events after a cursor that were received at or before `until`, oldest first. */
export function listEventsByReceipt(
  db: Db,
  organizationId: number,
  after: Cursor,
  until: number,
  limit: number,
): ExpiredEvent[] {
  return db.all(byReceipt, { organizationId, ...after, until, limit }).map(toEvent)
}

/** Returns an organization's next events after a cursor whose own time is at or before `until`, oldest first. */
export function listEventsByTime(
  db: Db,
  organizationId: number,
  after: Cursor,
  until: number,
  limit: number,
): ExpiredEvent[] {
  return db.all(byTime, { organizationId, ...after, until, limit }).map(toEvent)
}

const byKeys = query<{ ids: string }>()((builder, hole) => select(builder).where('id', 'in', listed(hole('ids'))))

export function listEventsByKey(db: Db, ids: readonly number[]): ExpiredEvent[] {
  return db.all(byKeys, { ids: JSON.stringify(ids) }).map(toEvent)
}

const byUuid = query<{ uuid: Buffer }>()((builder, hole) => select(builder).where('uuid', '=', hole('uuid')))

/** Returns the event for a reference (`event/<uuid>`), or an empty array for other references and deleted events. */
export function listEventsByRef(db: Db, ref: string): ExpiredEvent[] {
  const uuid = ref.startsWith('event/') ? uuidToBytes(ref.slice('event/'.length)) : null
  return uuid ? db.all(byUuid, { uuid }).map(toEvent) : []
}

const byAlerts = query<{ ids: string }>()((builder, hole) =>
  select(builder).where('alert_id', 'in', listed(hole('ids'))),
)

export function listEventsOfAlerts(db: Db, ids: readonly number[]): ExpiredEvent[] {
  return db.all(byAlerts, { ids: JSON.stringify(ids) }).map(toEvent)
}

/** Deletes unreferenced events and their payloads. Returns the number of deleted events. */
export function deleteEvents(db: Db, ids: readonly number[]): number {
  return db.run(drop, { ids: JSON.stringify(ids) })
}

const drop = query<{ ids: string }>()((builder, hole) =>
  builder.deleteFrom('events').where('id', 'in', listed(hole('ids'))),
)

/** Estimates how many bytes a deletion of the events would free: rows, index entries and payloads. */
export function findBytes(db: Db, ids: readonly number[]): number {
  return db.first(bytes, { ids: JSON.stringify(ids) })?.bytes ?? 0
}

/** The size of a row in bytes, including its entries in a dozen indexes, but without its text columns. */
const ROW = 300
const bytes = query<{ ids: string }>()((builder, hole) =>
  builder
    .selectFrom('events')
    .select(
      sql<number>`coalesce(sum(${sql.lit(ROW)} + length(text) + length(name) + length(object) + coalesce((
        SELECT length(body) FROM payloads WHERE event_id = events.id
      ), 0)), 0)`.as('bytes'),
    )
    .where('id', 'in', listed(hole('ids'))),
)

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
