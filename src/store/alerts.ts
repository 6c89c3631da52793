/** Alerts. An alert is a condition of a service, reported by one or more events. */
import { type Selection, sql } from 'kysely'
import type { Signal } from '../domain/alert/alert.ts'
import { BUDGETS } from '../domain/budgets.ts'
import { type Listed, offsetOf, type Page } from '../domain/pagination.ts'
import type { FiringFilter } from '../engine/state/firing.ts'
import { linksColumn, readRules } from './alert-texts.ts'
import { readHistory } from './history/alert-counts.ts'
import { rowsWithin } from './read.ts'
import { type Owner, ownerOf } from './service/services.ts'
import type { Db } from './sqlite/open.ts'
import { listed, query, shortTexts } from './sqlite/query.ts'
import type { Schema } from './sqlite/schema/schema.ts'
import { uuidFromBytes, uuidFromHex, uuidOrNone } from './sqlite/uuid.ts'

/** Times are Unix times in milliseconds. */
export type AlertRecord = Pick<
  Signal,
  | 'source'
  | 'name'
  | 'severity'
  | 'summary'
  | 'labels'
  | 'annotations'
  | 'fingerprint'
  | 'startsAt'
  | 'endsAt'
  | 'links'
  | 'rules'
> & {
  readonly id: string
  readonly serviceId: string
  readonly status: AlertRow['status']
  readonly resolution: AlertRow['resolution']
  readonly lastSeenAt: number
  readonly occurrences: number
  readonly incidentId: string | null
  /** The silences that apply to the alert, or that applied when it ended. */
  readonly silencedBy: readonly string[]
}

/** Undefined fields are ignored. `from` and `to` limit the start time: from ≤ startsAt < to. */
export type AlertSpan = Pick<FiringFilter, 'serviceId' | 'from' | 'to'>

/** Lists one page of alerts, latest start first, with the exact total. A long history does not slow down this query. */
export function listAlerts(db: Db, organizationId: number, span: AlertSpan, page: Page): Listed<AlertRecord> {
  const { from = 0, to } = span
  const owner = ownerOf(db, organizationId, span.serviceId)
  if (!owner) return { items: [], total: 0 }
  const history = readHistory(db, owner)
  const later = to === undefined ? 0 : history.since(to)
  const total = (from === 0 ? history.total : history.since(from)) - later
  const limit = Math.min(page.limit, total - offsetOf(page))
  if (limit <= 0) return { items: [], total }
  const { before, skip } = history.seek(later + offsetOf(page))
  return { items: newestOf(db, owner, { before, skip, limit }, page), total }
}

/** Returns the alerts with these row ids, in the same order. @throws IncmonError see `rowsWithin` */
export function listAlertsByRowId(db: Db, rowIds: readonly number[], page: Partial<Page> = {}): AlertRecord[] {
  const query = page.most === undefined ? byRowIds.short : byRowIds.whole
  const rows = rowsWithin(page, db.each(query, { ids: JSON.stringify(rowIds) }))
  const byId = new Map(rows.map(({ rowId, ...row }) => [rowId, toAlertRecord(row)]))
  return rowIds.flatMap((rowId) => byId.get(rowId) ?? [])
}

/** Ends before a list has too much text. */
export const SOME = { most: BUDGETS['list-text'].value, isCut: true } as const

/** Lists up to `limit` of a service's newest alerts. */
export function listRecentAlerts(db: Db, organizationId: number, serviceId: string, limit: number): AlertRecord[] {
  const owner = ownerOf(db, organizationId, serviceId)
  const part = { before: Number.MAX_SAFE_INTEGER, skip: 0, limit }
  return owner ? newestOf(db, owner, part, SOME) : []
}

/** Finds an alert by UUID. Returns undefined if the organization has no such alert or the UUID is malformed. */
export function findAlert(db: Db, organizationId: number, id: string): AlertRecord | undefined {
  const alerts = db.sql.selectFrom('alerts').select(alertColumns).where('organization_id', '=', organizationId)
  const row = db.first(alerts.where('uuid', '=', uuidOrNone(id)))
  return row ? toAlertRecord(row) : undefined
}

const serviceUuid = sql<Buffer>`(SELECT uuid FROM services WHERE services.id = alerts.service_id)`.as('service')

/**
 * The UUIDs of an alert's service, incident and silences. SQLite runs these subqueries only for rows on the page. Joins
 * would also run for rows skipped by OFFSET.
 */
const alertReferences = [
  serviceUuid,
  sql<Buffer | null>`(SELECT uuid FROM incidents WHERE incidents.id = alerts.incident_id)`.as('incident'),
  sql<
    string | null
  >`(SELECT group_concat(lower(hex(uuid))) FROM silenced_alerts JOIN silences ON silences.id = silence_id WHERE alert_id = alerts.id)`.as(
    'silences',
  ),
] as const

const headColumns = [
  ...(['uuid', 'source', 'name', 'severity', 'status', 'resolution', 'summary'] as const),
  ...(['starts_at', 'ends_at', 'occurrences'] as const),
  ...alertReferences,
] as const

const whole = (column: 'labels' | 'annotations') => sql<string>`${sql.ref(`alerts.${column}`)}`.as(column)

const shortened: typeof whole = (column) => shortTexts(sql.ref<string>(`alerts.${column}`)).as(column)

/** The fields that lists and groups show. */
export const alertHeadColumns = [...headColumns, shortened('labels')] as const

const columnsWith = (text: typeof whole) =>
  [
    ...headColumns,
    ...(['rules', 'fingerprint', 'last_seen_at'] as const),
    ...[linksColumn, text('labels'), text('annotations')],
  ] as const
const alertColumns = columnsWith(whole)
const shortColumns = columnsWith(shortened)

/** Returns the fields of the records on a page. Without a limit on their text, it is shortened. */
export function columnsFor({ most }: Partial<Page>): typeof alertColumns {
  return most === undefined ? shortColumns : alertColumns
}

/**
 * Selects up to `limit` of the alerts that started earlier than `before`, newest first. Skips the first `skip` alerts.
 */
type PageOfAlerts = { readonly before: number; readonly skip: number; readonly limit: number }

function newestOf(db: Db, { column, rowId }: Owner, part: PageOfAlerts, page: Partial<Page>): AlertRecord[] {
  return rowsWithin(page, db.each(newest[column], { rowId, ...part })).map(toAlertRecord)
}

const newestBy = (column: Owner['column']) =>
  query<{ rowId: number } & PageOfAlerts>()((sql, hole) =>
    sql
      .selectFrom('alerts')
      .select(alertColumns)
      .where(column, '=', hole('rowId'))
      .where('starts_at', '<', hole('before'))
      .orderBy('starts_at', 'desc')
      .orderBy('id', 'desc')
      .limit(hole('limit'))
      .offset(hole('skip')),
  )
const newest = { organization_id: newestBy('organization_id'), service_id: newestBy('service_id') }

type AlertRow = Selection<Schema, 'alerts', (typeof alertColumns)[number]>

export function toAlertRecord(row: AlertRow): AlertRecord {
  return {
    ...toAlertHead(row),
    annotations: JSON.parse(row.annotations),
    fingerprint: row.fingerprint,
    lastSeenAt: row.last_seen_at,
    links: JSON.parse(row.links),
    rules: readRules(row.rules),
  }
}

type AlertHeadRow = Selection<Schema, 'alerts', (typeof alertHeadColumns)[number]>

export function toAlertHead(row: AlertHeadRow) {
  return {
    id: uuidFromBytes(row.uuid),
    serviceId: uuidFromBytes(row.service),
    source: row.source,
    name: row.name,
    severity: row.severity,
    status: row.status,
    resolution: row.resolution,
    summary: row.summary,
    labels: JSON.parse(row.labels) as AlertRecord['labels'],
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    occurrences: row.occurrences,
    incidentId: row.incident && uuidFromBytes(row.incident),
    silencedBy: row.silences === null ? [] : row.silences.split(',').map(uuidFromHex),
  }
}

const byRowIds = { short: byRowIdsWith({}), whole: byRowIdsWith({ most: 0 }) }

function byRowIdsWith(page: Partial<Page>) {
  return query<{ ids: string }>()((builder, hole) =>
    builder
      .selectFrom('alerts')
      .select(columnsFor(page))
      .select('id as rowId')
      .where('id', 'in', listed(hole('ids')))
      .orderBy('id', 'desc'),
  )
}
