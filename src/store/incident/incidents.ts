import { type Selection, sql } from 'kysely'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { reportedAtOf } from '../../domain/incident/problem.ts'
import type { Listed, Page } from '../../domain/pagination.ts'
import { SEVERITIES, type Severity } from '../../domain/severity.ts'
import { MINUTE } from '../../domain/units.ts'
import { readPage, type TimeFilter } from '../read.ts'
import { ownerOf } from '../service/services.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, query } from '../sqlite/query.ts'
import type { Schema } from '../sqlite/schema/schema.ts'
import { uuidBytes, uuidFromBytes, uuidOrNone } from '../sqlite/uuid.ts'
import { listSuppressedIncidents, toProblem } from './live-incidents.ts'

/** Times are Unix times in milliseconds. `rowId` is never exposed to clients. */
export type IncidentRecord = Omit<
  LiveIncident,
  'organizationId' | 'serviceId' | 'cause' | 'touchedAt' | 'lowestScore'
> & {
  /** Each new incident of an organization gets the next number. */
  readonly number: number
  readonly serviceId: string
  readonly firingAlerts: number
  /** When the last alert ended; null while an alert is firing, or if the incident has no alerts. */
  readonly recoveredAt: number | null
  /** When the problem was last reported if nothing but Kubernetes, long before the resolution, did; else null. */
  readonly reportedAt: number | null
  readonly hasPostmortem: boolean
}

/** Undefined fields are ignored. `from` and `to` limit the time of creation: from ≤ createdAt < to. */
type IncidentFilter = TimeFilter & {
  readonly serviceId?: string | undefined
  readonly status?: IncidentRecord['status'] | undefined
  readonly severity?: Severity | undefined
}

/** Lists one page of incidents that match the filter, newest first. */
export function listIncidents(
  db: Db,
  organizationId: number,
  filter: IncidentFilter,
  page: Page,
): Listed<IncidentRecord> {
  const found = filtered(db, organizationId, filter)
  if (!found) return { items: [], total: 0 }
  const rows = found.select(columns).orderBy('created_at', 'desc').orderBy('id', 'desc')
  return readPage(db, found, rows, page, toRecord)
}

/** Lists a service's unresolved incidents, newest first. */
export function listOpenIncidents(db: Db, organizationId: number, serviceId: string): IncidentRecord[] {
  const found = filtered(db, organizationId, { serviceId })
  if (!found) return []
  const rows = found.where('status', '!=', 'resolved').select(columns)
  return db.all(rows.orderBy('created_at', 'desc').orderBy('id', 'desc')).map(toRecord)
}

/** Lists up to `limit` unresolved incidents, oldest first. `services` is the number of services of the live alerts. */
export function listUnresolvedIncidents(
  db: Db,
  organizationId: number,
  limit: number,
): (IncidentRecord & { readonly services: number })[] {
  const unresolved = ofOrganization(db, organizationId).where('resolved_at', 'is', null)
  const services = sql<number>`(
    SELECT count(DISTINCT service_id) FROM alerts WHERE incident_id = incidents.id AND settled_at IS NULL
  )`
  const rows = unresolved
    .select([...columns, services.as('services')])
    .orderBy('created_at')
    .orderBy('id')
  return db.all(rows.limit(limit)).map((row) => ({ ...toRecord(row), services: row.services }))
}
export function findOpenIncidentCounts(db: Db, organizationId: number): Record<Severity, number> {
  // resolved_at is null for unresolved incidents and is indexed, so no resolved incident is read.
  const open = ofOrganization(db, organizationId).where('resolved_at', 'is', null)
  const counted = open.select(['severity', (eb) => eb.fn.countAll<number>().as('count')]).groupBy('severity')
  const counts = new Map(db.all(counted).map(({ severity, count }) => [severity, count]))
  return Object.fromEntries(SEVERITIES.map((one) => [one, counts.get(one) ?? 0])) as Record<Severity, number>
}

/** Finds an incident by UUID. Returns undefined if the organization has no such incident or the UUID is malformed. */
export function findIncident(db: Db, organizationId: number, id: string): IncidentRecord | undefined {
  const row = db.first(ofOrganization(db, organizationId).where('uuid', '=', uuidOrNone(id)).select(columns))
  return row ? toRecord(row) : undefined
}

/** Finds an incident by number. Returns undefined if the organization has no such incident. */
export function findIncidentByNumber(db: Db, organizationId: number, number: number): IncidentRecord | undefined {
  const row = db.first(ofOrganization(db, organizationId).where('number', '=', number).select(columns))
  return row && toRecord(row)
}

/** Finds the incident into which a resolved one was merged while its problem went on; undefined if there is none. */
export function findMergedInto(
  db: Db,
  organizationId: number,
  { rowId, resolvedAt }: Pick<IncidentRecord, 'rowId' | 'resolvedAt'>,
): IncidentRecord | undefined {
  const later = ofOrganization(db, organizationId).where((eb) =>
    eb.or([eb('resolved_at', 'is', null), eb('resolved_at', '>=', resolvedAt)]),
  )
  const row = db.first(later.select(columns).where(sql.val(rowId), 'in', listed(sql`problem -> '$.merged'`)))
  return row && toRecord(row)
}

export function findIncidentIds(db: Db, organizationId: number, numbers: readonly number[]): string[] {
  const rows = ofOrganization(db, organizationId).where('number', 'in', listed(JSON.stringify(numbers)))
  return db.all(rows.select('uuid')).map(({ uuid }) => uuidFromBytes(uuid))
}

/** An incident that a user resolved while its alerts were firing. `actor`: who resolved it. */
export type ResolvedEarly = { readonly incident: IncidentRecord; readonly actor: string | null }

/** Lists the last resolved incident of each suppressed service, except incidents whose alerts have all ended. */
export function listResolvedEarly(db: Db, organizationId: number, limit: number): ResolvedEarly[] {
  return listSuppressedIncidents(db, organizationId, limit).flatMap(({ id, rowId }) => {
    const incident = findIncident(db, organizationId, id)
    if (incident?.status !== 'resolved' || incident.firingAlerts === 0) return []
    const moves = db.sql.selectFrom('timeline').where('incident_id', '=', rowId).where('kind', '=', 'status')
    const last = db.first(moves.select('actor').orderBy('at', 'desc').orderBy('id', 'desc').limit(1))
    return [{ incident, actor: last?.actor ?? null }]
  })
}

/** Counts how often an incident was reopened. */
export function countReopenings(db: Db, id: string): number {
  return db.first(reopenings, { uuid: uuidBytes(id) })?.count ?? 0
}

const reopenings = query<{ uuid: Buffer }>()((sql, hole) =>
  sql
    .selectFrom('incidents')
    .innerJoin('timeline', 'timeline.incident_id', 'incidents.id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('incidents.uuid', '=', hole('uuid'))
    .where('timeline.kind', '=', 'reopened'),
)

function ofOrganization(db: Db, organizationId: number) {
  return db.sql.selectFrom('incidents').where('organization_id', '=', organizationId)
}

/** Returns null if the service does not exist. */
function filtered(db: Db, organizationId: number, filter: IncidentFilter) {
  const owner = ownerOf(db, organizationId, filter.serviceId)
  if (!owner) return null
  let found = db.sql.selectFrom('incidents').where(owner.column, '=', owner.rowId)
  if (filter.status) found = found.where('status', '=', filter.status)
  if (filter.severity) found = found.where('severity', '=', filter.severity)
  if (filter.from !== undefined) found = found.where('created_at', '>=', filter.from)
  if (filter.to !== undefined) found = found.where('created_at', '<', filter.to)
  return found
}

/** Whether an incident has a postmortem: 0 or 1. An incident that was reopened has several. */
export const hasPostmortem = sql<0 | 1>`EXISTS (
  SELECT 1 FROM postmortems WHERE postmortems.incident_id = incidents.id
)`.as('hasPostmortem')

/** Counts an incident's firing alerts. Excludes failed pipelines, which stay firing until the next success. */
export const firingAlerts = sql<number>`(
  SELECT count(*) FROM alerts WHERE incident_id = incidents.id AND ends_at IS NULL AND source <> 'ci'
)`.as('firing_alerts')

/** Counts the alerts of an incident that can fire or be over, without failed pipelines. */
export const alertCount = sql<number>`(
  SELECT count(*) FROM alerts WHERE incident_id = incidents.id AND source <> 'ci'
)`.as('alert_count')

const columns = [
  ...(['id as rowId', 'uuid', 'number', 'title', 'severity', 'status', 'origin', 'problem', 'previous'] as const),
  ...(['created_at as createdAt', 'started_at as startedAt', 'acknowledged_at as acknowledgedAt'] as const),
  ...(['acknowledged_by as acknowledgedBy', 'resolved_at as resolvedAt', 'alert_count as alertCount'] as const),
  sql<Buffer>`(SELECT uuid FROM services WHERE services.id = incidents.service_id)`.as('service'),
  // SQLite computes `firingAlerts` and the time of recovery from the index on incident_id alone.
  firingAlerts,
  sql<number | null>`(
    SELECT ends_at FROM alerts WHERE incident_id = incidents.id AND source <> 'ci' ORDER BY ends_at DESC LIMIT 1
  )`.as('last_ends_at'),
  // The same rule as `isSilentlyFiring` of postmortems. Hardly any incident is resolved while its problem goes on.
  sql<
    number | null
  >`CASE WHEN origin = 'automatic' AND resolved_at IS NOT NULL AND problem ->> '$.since' IS NOT NULL THEN (
    SELECT coalesce(max(CASE severity WHEN 'critical' THEN last_seen_at END), max(last_seen_at)) FROM alerts
    WHERE incident_id = incidents.id AND source <> 'ci' AND starts_at <= resolved_at AND (ends_at IS NULL OR ends_at > resolved_at)
    HAVING min(source = 'cluster' AND ends_at IS NULL AND last_seen_at <= resolved_at - ${MINUTE})
  ) END`.as('reported_at'),
  hasPostmortem,
] as const

function toRecord(row: Selection<Schema, 'incidents', (typeof columns)[number]>): IncidentRecord {
  const { uuid, service, firing_alerts: firing, last_ends_at: lastEndsAt, reported_at: reportedAt, ...rest } = row
  const problem = toProblem(row.problem)
  return {
    ...rest,
    id: uuidFromBytes(uuid),
    serviceId: uuidFromBytes(service),
    firingAlerts: firing,
    reportedAt: reportedAt && Math.max(reportedAt, reportedAtOf(problem) ?? 0),
    recoveredAt: firing > 0 ? null : lastEndsAt,
    hasPostmortem: row.hasPostmortem === 1,
    problem,
    previous: row.previous && uuidFromBytes(row.previous),
  }
}

/**
 * Moves an incident's alerts, timeline and action items to another incident. Must be called in a transaction.
 * @param own the kinds of timeline entries that are not moved
 */
export function moveIncidentRecords(db: Db, from: number, into: number, own: readonly string[]): void {
  const [mine, its] = [actionsOf(db, from), actionsOf(db, into)]
  if (mine.length > 0) {
    const actions = JSON.stringify([...its, ...mine])
    db.run(db.sql.updateTable('incidents').set({ actions }).where('id', '=', into))
  }
  db.run(db.sql.updateTable('alerts').set({ incident_id: into }).where('incident_id', '=', from))
  db.run(
    db.sql
      .updateTable('timeline')
      .set({ incident_id: into })
      .where('incident_id', '=', from)
      .where('kind', 'not in', [...own, 'merged']),
  )
}

function actionsOf(db: Db, rowId: number): readonly object[] {
  const row = db.first(db.sql.selectFrom('incidents').select('actions').where('id', '=', rowId))
  return JSON.parse(row?.actions ?? '[]')
}
