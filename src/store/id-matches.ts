/** Finds records in all organizations by number or partial UUID, and finds the newest UUID. */
import { findIncident, findIncidentByNumber } from './incident/incidents.ts'
import { listOrganizations } from './organizations.ts'
import type { Db } from './sqlite/open.ts'
import { uuidFromBytes } from './sqlite/uuid.ts'

type Table = 'incidents' | 'alerts' | 'silences'

/** `number`: null for records without a number. */
export type IdMatch = {
  readonly id: string
  readonly number: number | null
  readonly organization: { readonly id: string; readonly name: string }
}

/** An incident number. A longer number is treated as part of a UUID. */
const NUMBER = /^\d{1,7}$/
const PART = /^[0-9a-f]{8}[0-9a-f-]{0,28}$/
const DIGITS = 32
/** No index supports a search for the end of a UUID, so only this many of the newest records are searched. */
const NEWEST = 20_000
/** The maximum number of matches to return. Commands list the matches if there are several. */
const MAX_MATCHES = 5

/**
 * Finds the records that have this number, or whose UUID starts with these characters. If no record matches, finds the
 * newest records whose UUID ends with these characters. A UUID starts with its creation time, so records from the same
 * minute share the first 8 characters.
 * @param word an incident number, or at least 8 characters of a UUID; anything else matches nothing
 */
export function findIdMatches(db: Db, table: Table, word: string): IdMatch[] {
  if (table === 'incidents' && NUMBER.test(word)) return matchNumber(db, Number(word))
  const part = word.toLowerCase()
  const digits = part.replaceAll('-', '')
  if (!PART.test(part) || digits.length > DIGITS) return []
  const rows = rowsByStart(db, table, digits)
  return matches(db, table, rows.length > 0 ? rows : rowsByEnd(db, table, digits))
}

/** Each organization numbers its incidents from 1, so several incidents can have the same number. */
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

/** Returns the highest UUID among the newest events, alerts and incidents, or null if there are no records. */
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
