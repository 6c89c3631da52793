/** The newest UUID of a database. New UUIDs of a process must be greater. */
import type { Db } from './sqlite/open.ts'
import { uuidFromBytes } from './sqlite/uuid.ts'

const TABLES = ['events', 'alerts', 'incidents'] as const

/** Returns the greatest UUID of the newest event, alert and incident, or null if there is none. */
export function findNewestUuid(db: Db): string | null {
  const uuids = TABLES.flatMap((table) => {
    const row = db.first(
      db.sql
        .selectFrom(table)
        .select('uuid')
        .where('id', '=', (eb) => eb.selectFrom(table).select((all) => all.fn.max('id').as('newest'))),
    )
    return row ? [uuidFromBytes(row.uuid)] : []
  })
  return uuids.sort().at(-1) ?? null
}
