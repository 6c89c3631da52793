/**
 * The payloads of events. Payloads that are saved together are compressed into one row, because those of one request
 * hardly differ: together they take a tenth of the space. A few payloads are not compressed, because each would take as
 * long as many.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { type RawBuilder, sql } from 'kysely'
import type { StoredEvent } from '../domain/event/event.ts'
import type { Db } from './sqlite/open.ts'
import { insertRows, listed } from './sqlite/query.ts'

/** An event's payload as JSON, with the event's row id. */
type Payload = Readonly<Pick<StoredEvent, 'rowId' | 'body'>>

/** The fewest payloads that are compressed together. */
const FEWEST = 8
/** The most characters that are compressed together, because reading one payload decompresses all of them. */
const LONGEST = 16_384

/** Saves the payloads of new events, in ascending order of their row ids. */
export function savePayloads(db: Db, payloads: readonly Payload[]): void {
  const batches: Payload[][] = []
  let room = -1
  for (const payload of payloads) {
    room -= payload.body.length
    if (room < 0) {
      batches.push([])
      room = LONGEST - payload.body.length
    }
    batches.at(-1)?.push(payload)
  }
  insertRows(db, 'payloads', batches.flatMap(rowsOf), (row) => row)
}

function rowsOf(batch: readonly Payload[]): { readonly event_id: number; readonly body: string | Buffer }[] {
  const [first] = batch
  if (first && batch.length >= FEWEST) return [{ event_id: first.rowId, body: compressed(batch) }]
  return batch.map(({ rowId, body }) => ({ event_id: rowId, body }))
}

/** A window of 8 kB: zlib clears its window for each batch, and with the usual 32 kB this would take longer than the rest. */
const FAST = { level: 1, windowBits: 13, memLevel: 5 }

/** One line for each payload. JSON without indentation has no line breaks. */
function compressed(payloads: readonly Payload[]): Buffer {
  return deflateRawSync(payloads.map(({ rowId, body }) => `${rowId} ${body}`).join('\n'), FAST)
}

function decompressed(row: Buffer): Payload[] {
  return inflateRawSync(row)
    .toString()
    .split('\n')
    .map((line) => {
      const space = line.indexOf(' ')
      return { rowId: Number(line.slice(0, space)), body: line.slice(space + 1) }
    })
}

/** The payload of the event `events.id`, for any query on `events`; null if there is none. */
export function payloadOf(event = 'events.id'): RawBuilder<string | null> {
  const id = sql.ref(event)
  return sql`payload(${id}, (
    SELECT CASE WHEN event_id = ${id} OR typeof(body) = 'blob' THEN body END
      FROM payloads WHERE event_id <= ${id} ORDER BY event_id DESC LIMIT 1
  ))`
}

/** The SQL function `payload`: returns the payload of an event from the row that holds it. */
export function payloadIn(eventId: number, row: string | Buffer | null): string | null {
  if (!Buffer.isBuffer(row)) return row
  return decompressed(row).find(({ rowId }) => rowId === eventId)?.body ?? null
}

/** Deletes events and their payloads. Returns the number of deleted events. */
export function deleteEvents(db: Db, ids: readonly number[]): number {
  deletePayloads(db, ids)
  return db.run(db.sql.deleteFrom('events').where('id', 'in', listed(JSON.stringify(ids))))
}

/** Deletes the payloads of events. Must be called in the transaction that deletes the events. */
export function deletePayloads(db: Db, eventIds: readonly number[]): void {
  const gone = new Set(eventIds)
  const newest = sql<number>`(
    SELECT (SELECT max(event_id) FROM payloads WHERE event_id <= value) FROM ${listed(JSON.stringify(eventIds))}
  )`
  const holding = db.sql.selectFrom('payloads').select(['event_id as id', 'body']).where('event_id', 'in', newest)
  const empty: number[] = []
  for (const { id, body } of db.all(holding)) {
    const held = typeof body === 'string' ? [{ rowId: id, body }] : decompressed(body)
    const kept = held.filter(({ rowId }) => !gone.has(rowId))
    if (kept.length === 0) empty.push(id)
    else if (kept.length < held.length) {
      db.run(db.sql.updateTable('payloads').set('body', compressed(kept)).where('event_id', '=', id))
    }
  }
  db.run(db.sql.deleteFrom('payloads').where('event_id', 'in', listed(JSON.stringify(empty))))
}
