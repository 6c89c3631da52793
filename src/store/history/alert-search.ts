/** Searches alerts by status, severity, source and words. */
import { type ExpressionBuilder, sql } from 'kysely'
import { SOURCES } from '../../domain/event/event.ts'
import { type Listed, offsetOf, type Page } from '../../domain/pagination.ts'
import { SEVERITIES } from '../../domain/severity.ts'
import type { FiringFilter } from '../../engine/state/firing.ts'
import { type AlertRecord, columnsFor, listAlertsByRowId, SOME, toAlertRecord } from '../alerts.ts'
import { countOf, rowsWithin, type TimeFilter } from '../read.ts'
import { findServiceRowId, type Owner, ownerOf } from '../service/services.ts'
import type { Db } from '../sqlite/open.ts'
import type { Schema } from '../sqlite/schema/schema.ts'
import { uuidFromBytes, uuidOrNone } from '../sqlite/uuid.ts'
import { readHistory } from './alert-counts.ts'

/** Undefined fields are ignored. A resolved alert counts as silenced if it was silenced when it ended. */
export type AlertFilter = FiringFilter & { readonly status?: AlertRecord['status'] | undefined }

const MAX_WORDS = 8
/** The maximum number of alerts among which to find conditions. */
const MAX_READ = 1_000

/**
 * Returns one page of matching alerts, latest start first. A search for words, or for a severity or source within one
 * service, scans all alerts in the period. All other searches use stored counts.
 */
export function listMatchingAlerts(
  db: Db,
  organizationId: number,
  filter: AlertFilter,
  page: Page,
): Listed<AlertRecord> {
  const owner = ownerOf(db, organizationId, filter.serviceId)
  if (!owner) return { items: [], total: 0 }
  const all = ofHistory(db, owner)
  const count = counterOf(db, owner, filter)
  const matching = (from: number, before: number) => narrowed(all, { ...filter, from, to: before })
  const searched = {
    timeBehind: (before: number, newer: number) =>
      db.first(
        newest(all.where('starts_at', '<', before))
          .select('starts_at')
          .limit(1)
          .offset(newer),
      )?.starts_at,
    count: count ?? ((from: number, before: number) => countOf(db, matching(from, before))),
    rows: (from: number, before: number, limit: number, skip: number) =>
      rowsWithin(page, db.each(newest(matching(from, before)).select(columnsFor(page)).limit(limit).offset(skip))).map(
        toAlertRecord,
      ),
    total: count?.(filter.from ?? 0, filter.to ?? Number.MAX_SAFE_INTEGER),
  }
  return pageInChunks(searched, filter, page)
}

/** Returns one page of the matching alerts of an incident, latest start first. */
export function listAlertsOfIncident(
  db: Db,
  organizationId: number,
  filter: AlertFilter & { readonly incidentId: string },
  page: Page,
): Listed<AlertRecord> {
  const matching = matchingAlerts(db, organizationId, filter)
  return matching ? { items: pageOf(db, matching, page), total: countOf(db, matching) } : { items: [], total: 0 }
}

/** Selects the matching alerts of an incident, a service or an organization; null if it does not exist. */
export function matchingAlerts(
  db: Db,
  organizationId: number,
  { incidentId, ...filter }: AlertFilter & { readonly incidentId?: string | undefined },
): Alerts | null {
  if (incidentId === undefined) {
    const owner = ownerOf(db, organizationId, filter.serviceId)
    return owner ? narrowed(ofHistory(db, owner), filter) : null
  }
  const incidents = db.sql.selectFrom('incidents').select('id').where('organization_id', '=', organizationId)
  const incident = db.first(incidents.where('uuid', '=', uuidOrNone(incidentId)))
  const service = filter.serviceId === undefined ? null : findServiceRowId(db, organizationId, filter.serviceId)
  if (!incident || service === undefined) return null
  const all = db.sql.selectFrom('alerts').where('incident_id', '=', incident.id)
  return narrowed(service === null ? all : all.where(sql<number>`+service_id`, '=', service), filter)
}

/** Lists the newest `limit` alerts of an incident, or fewer if they have much text. */
export function listNewestOfIncident(db: Db, incidentRowId: number, limit: number): AlertRecord[] {
  return pageOf(db, db.sql.selectFrom('alerts').where('incident_id', '=', incidentRowId), { page: 1, limit, ...SOME })
}

/** An alert storm has thousands of alerts. Only the alerts on the page are read in full. */
function pageOf(db: Db, alerts: Alerts, page: Page): AlertRecord[] {
  const ids = db.all(newest(alerts).select('id').limit(page.limit).offset(offsetOf(page)))
  const rowIds = ids.map(({ id }) => id)
  return listAlertsByRowId(db, rowIds, page)
}

type Counter = (from: number, before: number) => number

/** Returns a function that counts the matching alerts without a scan, or null if the filter requires a scan. */
function counterOf(db: Db, owner: Owner, filter: AlertFilter): Counter | null {
  const { status, severity, source, name, q = '', silenced } = filter
  if (wordsOf(q).length > 0 || status === 'firing' || silenced !== undefined || name !== undefined) return null
  const ofKind = severity !== undefined || source !== undefined
  if (ofKind && owner.column === 'service_id') return null
  const count = ofKind ? kindCounter(db, owner, filter) : historyCounter(db, owner)
  return status === 'resolved' ? withoutFiring(db, owner, filter, count) : count
}

function historyCounter(db: Db, owner: Owner): Counter {
  const history = readHistory(db, owner)
  return (from, before) => history.since(from) - history.since(before)
}

/**
 * Uses the `alerts_by_kind` index to count alerts. The query has a value for every index column before the time, so
 * that SQLite scans only the period.
 */
function kindCounter(db: Db, { organizationId }: Owner, { severity, source }: AlertFilter): Counter {
  const kinds = db.sql
    .selectFrom('alerts')
    .where('organization_id', '=', organizationId)
    .where('severity', 'in', severity ? [severity] : SEVERITIES)
    .where('source', 'in', source ? [source] : SOURCES)
  return (from, before) => countOf(db, kinds.where('starts_at', '>=', from).where('starts_at', '<', before))
}

/** Counts resolved alerts by subtracting the firing alerts, which are few, from the total. */
function withoutFiring(db: Db, owner: Owner, { severity, source }: AlertFilter, count: Counter): Counter {
  const live = ofHistory(db, owner).where('settled_at', 'is', null)
  const firing = narrowed(live, { status: 'firing', severity, source })
  const starts = db.all(firing.select('starts_at'))
  return (from, before) => count(from, before) - starts.filter(({ starts_at: at }) => from <= at && at < before).length
}

function ofHistory(db: Db, { column, rowId }: Owner) {
  return db.sql.selectFrom('alerts').where(column, '=', rowId)
}

/**
 * Lists firing alerts with all words of `q` in the name, the summary and the values of the labels, at most one for each
 * service and name.
 */
export function listConditions(db: Db, organizationId: number, q: string, limit: number) {
  const words = wordsOf(q)
  if (words.length === 0) return []
  let alerts = db.sql
    .selectFrom('alerts')
    .select(['service_id', 'name', 'severity', 'summary', 'uuid'])
    .select(sql<Buffer>`(SELECT uuid FROM services WHERE services.id = alerts.service_id)`.as('service'))
    .where('organization_id', '=', organizationId)
    .where('settled_at', 'is', null)
    .where('status', '=', 'firing')
  for (const word of words) {
    alerts = alerts.where(
      sql<boolean>`name || ' ' || summary || ' ' || coalesce((SELECT group_concat(value, ' ') FROM json_each(labels)), '')
        LIKE ${`%${escaped(word)}%`} ESCAPE '\\'`,
    )
  }
  const found = Map.groupBy(db.all(alerts.limit(MAX_READ)), ({ service_id, name }) => `${service_id} ${name}`)
  return [...found.values()].slice(0, limit).flatMap((of) =>
    of.slice(0, 1).map(({ uuid, service, ...alert }) => ({
      ...{ ...alert, id: uuidFromBytes(uuid), serviceId: uuidFromBytes(service), firing: 1 },
    })),
  )
}

type Alerts = ReturnType<typeof ofHistory>

function narrowed(all: Alerts, { from, to, status, severity, source, name, q = '', silenced }: AlertFilter): Alerts {
  let left = all
  if (silenced !== undefined) left = left.where((eb) => (silenced ? isSilenced(eb) : eb.not(isSilenced(eb))))
  if (status) left = left.where('status', '=', status)
  if (status === 'firing') left = left.where('settled_at', 'is', null)
  // The unary plus makes SQLite use the index on the start time instead of the index by kind. This avoids a sort.
  if (severity) left = left.where(sql<string>`+severity`, '=', severity)
  if (source) left = left.where(sql<string>`+source`, '=', source)
  if (name !== undefined) left = left.where('name', '=', name)
  if (from !== undefined) left = left.where('starts_at', '>=', from)
  if (to !== undefined) left = left.where('starts_at', '<', to)
  for (const word of wordsOf(q)) {
    left = left.where(sql<boolean>`name || ' ' || summary LIKE ${`%${escaped(word)}%`} ESCAPE '\\'`)
  }
  return left
}

function isSilenced(eb: ExpressionBuilder<Schema, 'alerts'>) {
  return eb.exists(
    eb.selectFrom('silenced_alerts').select('silence_id').whereRef('silenced_alerts.alert_id', '=', 'alerts.id'),
  )
}

function newest(alerts: Alerts): Alerts {
  return alerts.orderBy('starts_at', 'desc').orderBy('id', 'desc')
}

function wordsOf(q: string): string[] {
  return q.split(/\s+/).filter(Boolean).slice(0, MAX_WORDS)
}

function escaped(word: string): string {
  return word.replace(/[\\%_]/g, '\\$&')
}

/** Rows per chunk. Scanning a chunk takes about ten milliseconds. */
const CHUNK_SIZE = 20_000

/**
 * Reads the rows to scan, newest first. Each row has a time with `from` ≤ time < `before`. Times are Unix times in
 * milliseconds.
 */
export type SearchSource<Row> = {
  /** Counts back `newer` rows from `before`. Returns the time of the next row; undefined if there is none. */
  readonly timeBehind: (before: number, newer: number) => number | undefined
  readonly count: (from: number, before: number) => number
  readonly rows: (from: number, before: number, limit: number, skip: number) => readonly Row[]
  /** The total number of matching rows, if known. A known total lets the scan stop at the end of the page. */
  readonly total?: number | undefined
}

/** Returns one page of matching rows and their total. `chunkSize`: the number of rows per chunk. */
export function pageInChunks<Row>(
  searched: SearchSource<Row>,
  span: TimeFilter,
  page: Page,
  chunkSize = CHUNK_SIZE,
): Listed<Row> {
  const { from: end = 0, to = Number.MAX_SAFE_INTEGER } = span
  const items: Row[] = []
  let seen = 0
  const isDone = () => searched.total !== undefined && (items.length === page.limit || seen >= searched.total)
  for (let before = to; before > end && !isDone(); ) {
    const from = Math.max(end, searched.timeBehind(before, chunkSize) ?? end)
    const found = searched.count(from, before)
    const skip = Math.max(0, offsetOf(page) - seen)
    if (skip < found && items.length < page.limit) {
      items.push(...searched.rows(from, before, page.limit - items.length, skip))
    }
    seen += found
    before = from
  }
  return { items, total: searched.total ?? seen }
}
