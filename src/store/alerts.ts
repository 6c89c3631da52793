/** Alerts. An alert is a condition of a service, reported by one or more events. */
import { type Selectable, sql } from 'kysely'
import type { Signal } from '../domain/alert/alert.ts'
import { type Listed, offsetOf, type Page } from '../domain/pagination.ts'
import { type AlertOwner, readHistory } from './history/alert-counts.ts'
import { findServiceRowId } from './service/services.ts'
import type { Db } from './sqlite/open.ts'
import { listed, query } from './sqlite/query.ts'
import type { Schema } from './sqlite/schema/schema.ts'
import { uuidFromBytes, uuidFromHex, uuidToBytes } from './sqlite/uuid.ts'

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
export type AlertSpan = {
  readonly serviceId?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** Lists one page of alerts, latest start first, with the exact total. A long history does not slow down this query. */
export function listAlerts(db: Db, organizationId: number, span: AlertSpan, page: Page): Listed<AlertRecord> {
  const { from = 0, to } = span
  const whose = alertOwnerOf(db, organizationId, span)
  if (!whose) return { items: [], total: 0 }
  const history = readHistory(db, whose)
  const later = to === undefined ? 0 : history.since(to)
  const total = (from === 0 ? history.total : history.since(from)) - later
  const limit = Math.min(page.limit, total - offsetOf(page))
  if (limit <= 0) return { items: [], total }
  const { before, skip } = history.seek(later + offsetOf(page))
  return { items: newestOf(db, whose, { before, skip, limit }), total }
}

/** Returns the alerts with these row ids, in the same order. */
export function listAlertsByRowId(db: Db, rowIds: readonly number[]): AlertRecord[] {
  const rows = db.all(byRowIds, { ids: JSON.stringify(rowIds) })
  const byId = new Map(rows.map(({ rowId, ...row }) => [rowId, toAlertRecord(row)]))
  return rowIds.flatMap((rowId) => byId.get(rowId) ?? [])
}

/** Lists up to `limit` of a service's newest alerts. */
export function listRecentAlerts(db: Db, organizationId: number, serviceId: string, limit: number): AlertRecord[] {
  const rowId = findServiceRowId(db, organizationId, serviceId)
  if (rowId === undefined) return []
  return newestOf(db, { organizationId, serviceId: rowId }, { before: Number.MAX_SAFE_INTEGER, skip: 0, limit })
}

/** Finds an alert by UUID. Returns undefined if the organization has no such alert or the UUID is malformed. */
export function findAlert(db: Db, organizationId: number, id: string): AlertRecord | undefined {
  const bytes = uuidToBytes(id)
  const row = bytes && db.first(ofOrganization(db, organizationId).where('uuid', '=', bytes).select(alertColumns))
  return row ? toAlertRecord(row) : undefined
}

function ofOrganization(db: Db, organizationId: number) {
  return db.sql.selectFrom('alerts').where('organization_id', '=', organizationId)
}

/** Returns null if the service does not exist. */
export function alertOwnerOf(db: Db, organizationId: number, { serviceId }: AlertSpan): AlertOwner | null {
  if (serviceId === undefined) return { organizationId, serviceId: null }
  const rowId = findServiceRowId(db, organizationId, serviceId)
  return rowId === undefined ? null : { organizationId, serviceId: rowId }
}

// SQLite runs these subqueries only for rows on the page. Joins would also run for rows skipped by OFFSET.
export const alertColumns = [
  'uuid',
  'source',
  'name',
  'severity',
  'status',
  'resolution',
  'summary',
  'labels',
  'annotations',
  'links',
  'rules',
  'fingerprint',
  'starts_at',
  'ends_at',
  'last_seen_at',
  'occurrences',
  sql<Buffer>`(SELECT uuid FROM services WHERE services.id = alerts.service_id)`.as('service'),
  sql<Buffer | null>`(SELECT uuid FROM incidents WHERE incidents.id = alerts.incident_id)`.as('incident'),
  sql<
    string | null
  >`(SELECT group_concat(lower(hex(uuid))) FROM silenced_alerts JOIN silences ON silences.id = silence_id WHERE alert_id = alerts.id)`.as(
    'silences',
  ),
] as const

/**
 * Selects up to `limit` of the alerts that started earlier than `before`, newest first. Skips the first `skip` alerts.
 */
type PageOfAlerts = { readonly before: number; readonly skip: number; readonly limit: number }

function newestOf(db: Db, { organizationId, serviceId }: AlertOwner, page: PageOfAlerts): AlertRecord[] {
  const rows =
    serviceId === null
      ? db.all(newestOfOrganization, { whose: organizationId, ...page })
      : db.all(newestOfService, { whose: serviceId, ...page })
  return rows.map(toAlertRecord)
}

const newest = (column: 'organization_id' | 'service_id') =>
  query<{ whose: number } & PageOfAlerts>()((sql, hole) =>
    sql
      .selectFrom('alerts')
      .select(alertColumns)
      .where(column, '=', hole('whose'))
      .where('starts_at', '<', hole('before'))
      .orderBy('starts_at', 'desc')
      .orderBy('id', 'desc')
      .limit(hole('limit'))
      .offset(hole('skip')),
  )
const newestOfOrganization = newest('organization_id')
const newestOfService = newest('service_id')

type AlertRow = Pick<Selectable<Schema['alerts']>, Extract<(typeof alertColumns)[number], string>> & {
  service: Buffer
  incident: Buffer | null
  silences: string | null
}

export function toAlertRecord(row: AlertRow): AlertRecord {
  return {
    id: uuidFromBytes(row.uuid),
    serviceId: uuidFromBytes(row.service),
    source: row.source,
    name: row.name,
    severity: row.severity,
    status: row.status,
    resolution: row.resolution,
    summary: row.summary,
    labels: JSON.parse(row.labels),
    annotations: JSON.parse(row.annotations),
    fingerprint: row.fingerprint,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    lastSeenAt: row.last_seen_at,
    occurrences: row.occurrences,
    incidentId: row.incident && uuidFromBytes(row.incident),
    links: JSON.parse(row.links),
    silencedBy: row.silences === null ? [] : row.silences.split(',').map(uuidFromHex),
    rules: JSON.parse(row.rules),
  }
}

const byRowIds = query<{ ids: string }>()((builder, hole) =>
  builder
    .selectFrom('alerts')
    .select(alertColumns)
    .select('id as rowId')
    .where('id', 'in', listed(hole('ids'))),
)
