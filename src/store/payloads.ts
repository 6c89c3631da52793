/** The bodies of events as received: what a person may look at, and what tells whether a notification says anything new. */
import { hash } from 'node:crypto'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'

/** What tells bodies apart, 48 bits of their SHA-256. */
export function payloadHash(body: string): number {
  return Number.parseInt(hash('sha256', body, 'hex').slice(0, 12), 16)
}

const insert = query<{ eventId: number; body: string }>()((sql, hole) =>
  sql.insertInto('payloads').values({ event_id: hole('eventId'), body: hole('body') }),
)
const ofEvent = query<{ eventId: number }>()((sql, hole) =>
  sql.selectFrom('payloads').select('body').where('event_id', '=', hole('eventId')),
)

/** Stores the body of an event, which is JSON. */
export function insertPayload(db: Db, eventId: number, body: string): void {
  db.run(insert, { eventId, body })
}

/** The hash of the body of an event; null where there is no such event. */
export function findPayloadHash(db: Db, eventId: number): number | null {
  const row = db.first(ofEvent, { eventId })
  return row ? payloadHash(row.body) : null
}
