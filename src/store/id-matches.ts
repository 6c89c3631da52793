/** Finds records by their number or by a part of their UUID, in all organizations, and the newest UUID. */
import { findIncident, findIncidentByNumber } from './incident/incidents.ts'
import { listOrganizations } from './organizations.ts'
import type { Db } from './sqlite/open.ts'
import { uuidFromBytes } from './sqlite/uuid.ts'

type Table = 'incidents' | 'alerts' | 'silences'

/** `number` is null for records without a number. */
export type IdMatch = {
  readonly id: string
  readonly number: number | null
  readonly organization: { readonly id: string; readonly name: string }
}

/** The number of a record. A longer number is treated as a part of a UUID. */
const NUMBER = /^\d{1,7}$/
const PART = /^[0-9a-f]{8}[0-9a-f-]{0,28}$/
const DIGITS = 32
/** No index finds the end of a UUID, so only the newest records are searched for it. */
const NEWEST = 20_000
/** The maximum number of matches to return. A command lists them if there are several. */
const MAX_MATCHES = 5

/**
 * Returns the records with this number, or whose UUID begins with these characters, otherwise the newest records whose
 * UUID ends with them. The first 8 characters of a UUID are its time, so records of the same minute share them.
 * @param word the number of an incident, or at least 8 characters of a UUID; anything else matches nothing
 */
export function findIdMatches(db: Db, table: Table, word: string): IdMatch[] {
  if (table === 'incidents' && NUMBER.test(word)) return matchNumber(db, Number(word))
  const part = word.toLowerCase()
  const digits = part.replaceAll('-', '')
  if (!PART.test(part) || digits.length > DIGITS) return []
  const rows = rowsByStart(db, table, digits)
  return matches(db, table, rows.length > 0 ? rows : rowsByEnd(db, table, digits))
}

/** Each organization has its own numbers, so several incidents may have the same number. */
function matchNumber(db: Db, number: number): IdMatch[] {
  return listOrganizations(db).flatMap(({ rowId, id, name }) => {
    const incident = findIncidentByNumber(db, rowId, number)
    return incident ? [{ id: incident.id, number, organization: { id, name } }] : []
  })
}

type Row = { readonly uuid: Buffer; readonly organization_id: number }

function rowsByStart(db: Db, table: Table, digits: string): Row[] {
  const [first, last] = ['0', 'f'].map((digit) => Buffer.from(digits.padEnd(DIGITS, digit), 'hex'))
  if (!first || !last) return []
  const query = db.sql.selectFrom(table).select(['uuid', 'organization_id'])
  return db.all(query.where('uuid', '>=', first).where('uuid', '<=', last).orderBy('uuid').limit(MAX_MATCHES))
}

function rowsByEnd(db: Db, table: Table, digits: string): Row[] {
  const newest = db.first(db.sql.selectFrom(table).select((eb) => eb.fn.max('id').as('id')))?.id ?? 0
  const query = db.sql
    .selectFrom(table)
    .select(['uuid', 'organization_id'])
    .where('id', '>', newest - NEWEST)
  return db
    .all(query)
    .filter(({ uuid }) => uuid.toString('hex').endsWith(digits))
    .slice(0, MAX_MATCHES)
}

function matches(db: Db, table: Table, rows: readonly Row[]): IdMatch[] {
  const organizations = new Map(listOrganizations(db).map(({ rowId, id, name }) => [rowId, { id, name }]))
  return rows.flatMap(({ uuid, organization_id: rowId }) => {
    const [id, organization] = [uuidFromBytes(uuid), organizations.get(rowId)]
    const number = table === 'incidents' ? (findIncident(db, rowId, id)?.number ?? null) : null
    return organization ? [{ id, number, organization }] : []
  })
}

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
