/** Correlations: suspected links between a change and an alert of the same service. */

import { type Selectable, type Selection, sql } from 'kysely'
import { groupKey } from '../../domain/alert/groups.ts'
import type { Listed, Page } from '../../domain/pagination.ts'
import { readPage, type TimeFilter } from '../read.ts'
import { ownerOf } from '../service/services.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import type { Schema } from '../sqlite/schema/schema.ts'
import { uuidBytes, uuidFromBytes, uuidOrNone } from '../sqlite/uuid.ts'

type Link = Selectable<Schema['correlations']>

/** `score` is between 0 and 1. `createdAt` is a Unix time in milliseconds. */
export type CorrelationRecord = {
  readonly id: string
  readonly serviceId: string
  readonly change: { readonly kind: Link['change_kind']; readonly ref: string; readonly eventId: string }
  readonly evidence: { readonly alertId: string; readonly eventId: string; readonly count: number }
  readonly score: number
  readonly band: Link['band']
  readonly reasons: readonly { readonly code: string; readonly text: string }[]
  readonly lagSeconds: number
  readonly verdict: Link['verdict']
  /** Who gave the verdict; null if there is none or if it was not recorded. */
  readonly verdictBy: string | null
  readonly createdAt: number
}

/** A user's verdict, or its removal. `by`: the name of the token or user. */
export type Verdict = { readonly verdict: Link['verdict']; readonly by: string }

/** Undefined fields are ignored. `from` and `to` limit the time of creation: from ≤ createdAt < to. */
type CorrelationFilter = TimeFilter & {
  readonly serviceId?: string | undefined
  readonly minScore?: number | undefined
}

/** Lists one page of links that match the filter, newest first. */
export function listCorrelations(
  db: Db,
  organizationId: number,
  filter: CorrelationFilter,
  page: Page,
): Listed<CorrelationRecord> {
  const query = filtered(db, organizationId, filter)
  if (!query) return { items: [], total: 0 }
  const rows = query.select(columns).orderBy('created_at', 'desc').orderBy('id', 'desc')
  return readPage(db, query, rows, page, toRecord)
}

/** Lists the `limit` strongest links of an incident's alerts, strongest first. */
export function listCorrelationsOfIncident(
  db: Db,
  organizationId: number,
  incidentRowId: number,
  limit: number,
): CorrelationRecord[] {
  // An alert storm can create thousands of links. The query reads only the strongest links in full. The unary plus keeps
  // SQLite from scanning all of the organization's alerts.
  const strongest = db.sql
    .selectFrom('alerts')
    .innerJoin('correlations as own', 'own.alert_id', 'alerts.id')
    .select('own.id')
    .where('alerts.incident_id', '=', incidentRowId)
    .where(sql`+alerts.organization_id`, '=', organizationId)
    .orderBy('own.score', 'desc')
    .orderBy('own.id')
    .limit(limit)
  const links = db.sql.selectFrom('correlations').select(columns).where('id', 'in', strongest)
  return db.all(links.orderBy('score', 'desc').orderBy('id')).map(toRecord)
}

/** Lists an alert's links, strongest first. */
export function listCorrelationsOfAlert(db: Db, organizationId: number, alertId: string): CorrelationRecord[] {
  const alert = db.sql.selectFrom('alerts').select('id').where('uuid', '=', uuidOrNone(alertId))
  const links = db.sql.selectFrom('correlations').select(columns).where('alert_id', '=', alert)
  const rows = db.all(links.where(sql`+organization_id`, '=', organizationId))
  return rows.map(toRecord).sort((a, b) => b.score - a.score)
}

/**
 * The strongest of `count` links between a change and similar alerts. `createdAt`: when the first of these links was
 * created. `symptomAt`: when the first of these alerts started. `group`: the key of these alerts.
 */
export type BestLink = CorrelationRecord & {
  readonly count: number
  readonly symptomAt: number
  readonly group: string
}

/**
 * Lists the best link for each combination of change, verdict and group of similar alerts in an incident, strongest
 * first.
 */
export function listBestLinksOfIncident(db: Db, organizationId: number, incidentRowId: number): BestLink[] {
  return db
    .all(bestOfIncident, { organizationId, incidentRowId })
    .map(({ count, firstAt, symptomAt, owner, source, name, severity, ...row }) => {
      const group = groupKey({ serviceId: uuidFromBytes(owner), source, name, severity })
      return { ...toRecord(row), createdAt: firstAt, count, symptomAt, group }
    })
}

/** More links of an organization are not counted. */
const MAX_COUNTED = 5_000

/**
 * Counts the links that were created since `from` and not rejected, by the reference of their pipeline. `areAll` is false
 * if there are more links.
 */
export function countLinks(db: Db, organizationId: number, from: number) {
  const rows = db.all(newest, { organizationId, from })
  const counts = new Map<string, number>()
  for (const { ref, verdict } of rows) if (verdict !== 'rejected') counts.set(ref, (counts.get(ref) ?? 0) + 1)
  return { counts, areAll: rows.length < MAX_COUNTED }
}

const newest = query<{ organizationId: number; from: number }>()((builder, hole) =>
  builder
    .selectFrom('correlations')
    .select(['change_ref as ref', 'verdict'])
    .where('organization_id', '=', hole('organizationId'))
    .where('created_at', '>=', hole('from'))
    .orderBy('created_at', 'desc')
    .limit(MAX_COUNTED),
)

/** Finds a link by UUID. Returns undefined if the organization has no such link or the UUID is malformed. */
export function findCorrelation(db: Db, organizationId: number, id: string): CorrelationRecord | undefined {
  const links = db.sql.selectFrom('correlations').select(columns).where('organization_id', '=', organizationId)
  const row = db.first(links.where('uuid', '=', uuidOrNone(id)))
  return row ? toRecord(row) : undefined
}

/** Stores a user's verdict on all links between a change and an incident's alerts. Returns the number of links. */
export function updateVerdictsOfIncident(
  db: Db,
  incidentRowId: number,
  { kind, ref }: { readonly kind: string; readonly ref: string },
  verdict: Verdict,
): number {
  const alerts = db.sql.selectFrom('alerts').select('id').where('incident_id', '=', incidentRowId)
  const links = db.sql.updateTable('correlations').set(columnsOf(verdict)).where('alert_id', 'in', alerts)
  return db.run(links.where(sql<string>`change_kind`, '=', kind).where('change_ref', '=', ref))
}

/** Stores a user's verdict on a link. */
export function updateVerdict(db: Db, organizationId: number, id: string, verdict: Verdict): void {
  const links = db.sql.updateTable('correlations').set(columnsOf(verdict)).where('organization_id', '=', organizationId)
  db.run(links.where('uuid', '=', uuidBytes(id)))
}

function columnsOf({ verdict, by }: Verdict) {
  return { verdict, verdict_by: verdict === null ? null : by }
}

/** Returns null if the service does not exist. */
function filtered(db: Db, organizationId: number, filter: CorrelationFilter) {
  const owner = ownerOf(db, organizationId, filter.serviceId)
  if (!owner) return null
  let query = db.sql.selectFrom('correlations').where(owner.column, '=', owner.rowId)
  if (filter.minScore !== undefined) query = query.where('score', '>=', filter.minScore)
  if (filter.from !== undefined) query = query.where('created_at', '>=', filter.from)
  if (filter.to !== undefined) query = query.where('created_at', '<', filter.to)
  return query
}

const service = sql<Buffer>`(SELECT uuid FROM services WHERE services.id = correlations.service_id)`.as('service')
const alert = sql<Buffer>`(SELECT uuid FROM alerts AS linked WHERE linked.id = correlations.alert_id)`.as('alert')
const changeEvent = sql<Buffer>`(SELECT uuid FROM events WHERE events.id = correlations.change_event_id)`.as(
  'changeEvent',
)
const evidenceEvent = sql<Buffer>`(SELECT uuid FROM events WHERE events.id = correlations.evidence_event_id)`.as(
  'evidenceEvent',
)

const columns = [
  ...(['uuid', 'change_kind as kind', 'change_ref as ref', 'evidence_count as evidenceCount', 'score'] as const),
  ...(['band', 'reasons', 'lag_seconds as lagSeconds', 'verdict', 'verdict_by as verdictBy'] as const),
  ...(['created_at as createdAt', service, alert, changeEvent, evidenceEvent] as const),
] as const

// With max(), SQLite takes the id from the row with the highest score. A storm has thousands of links, so only the best
// ones are read in full.
const bestOfIncident = query<{ organizationId: number; incidentRowId: number }>()((builder, hole) =>
  builder
    .selectFrom(
      builder
        .selectFrom('alerts')
        .innerJoin('correlations as own', 'own.alert_id', 'alerts.id')
        .select(['own.id', 'alerts.service_id as ownerId', 'alerts.source', 'alerts.name', 'alerts.severity'])
        .select((eb) => [
          eb.fn.countAll<number>().as('count'),
          eb.fn.min<number>('own.created_at').as('firstAt'),
          eb.fn.min<number>('alerts.starts_at').as('symptomAt'),
          eb.fn.max<number>('own.score').as('best'),
        ])
        .where('alerts.incident_id', '=', hole('incidentRowId'))
        .where(sql`+alerts.organization_id`, '=', hole('organizationId'))
        .groupBy(['own.change_kind', 'own.change_ref', 'own.verdict', 'alerts.service_id', 'alerts.source'])
        .groupBy(['alerts.name', 'alerts.severity'])
        .as('bests'),
    )
    .innerJoin('correlations', 'correlations.id', 'bests.id')
    .select([...columns, 'source', 'name', 'severity', 'count', 'firstAt', 'symptomAt'])
    .select(sql<Buffer>`(SELECT uuid FROM services WHERE services.id = bests.ownerId)`.as('owner'))
    .orderBy('best', 'desc')
    .orderBy('bests.id'),
)

type CorrelationRow = Selection<Schema, 'correlations', (typeof columns)[number]>

function toRecord(row: CorrelationRow): CorrelationRecord {
  const { uuid, service, alert, kind, ref, changeEvent, evidenceEvent, evidenceCount, reasons, ...rest } = row
  return {
    ...rest,
    id: uuidFromBytes(uuid),
    serviceId: uuidFromBytes(service),
    change: { kind, ref, eventId: uuidFromBytes(changeEvent) },
    evidence: { alertId: uuidFromBytes(alert), eventId: uuidFromBytes(evidenceEvent), count: evidenceCount },
    reasons: JSON.parse(reasons),
  }
}
