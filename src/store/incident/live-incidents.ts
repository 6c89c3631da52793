import { type InferResult, sql } from 'kysely'
import { INCIDENT_STATUSES, type IncidentStatus } from '../../domain/incident/incident.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { NO_PROBLEM, type Problem } from '../../domain/incident/problem.ts'
import { SEVERITIES } from '../../domain/severity.ts'
import { DAY } from '../../domain/units.ts'
import { countOf } from '../read.ts'
import type { Db } from '../sqlite/open.ts'
import { listed } from '../sqlite/query.ts'
import { uuidFromBytes, uuidOrNone } from '../sqlite/uuid.ts'

const COLUMNS = [
  ...(['id as rowId', 'uuid', 'organization_id as organizationId', 'service_id as serviceId', 'title'] as const),
  ...(['severity', 'status', 'origin', 'cause', 'created_at as createdAt', 'started_at as startedAt'] as const),
  ...(['acknowledged_at as acknowledgedAt', 'acknowledged_by as acknowledgedBy', 'resolved_at as resolvedAt'] as const),
  ...(['touched_at as touchedAt', 'alert_count as alertCount', 'lowest_score as lowestScore'] as const),
  ...(['previous', 'problem'] as const),
] as const

export function selectIncidents(sql: Db['sql']) {
  return sql.selectFrom('incidents').select(COLUMNS)
}

type Row = InferResult<ReturnType<typeof selectIncidents>>[number]

export function toLiveIncident({ uuid, previous, problem, ...row }: Row): LiveIncident {
  return {
    ...row,
    id: uuidFromBytes(uuid),
    previous: previous && uuidFromBytes(previous),
    problem: toProblem(problem),
  }
}

/** Parses a stored problem. An older version may have stored fewer fields. */
export function toProblem(stored: string): Problem {
  return { ...NO_PROBLEM, ...JSON.parse(stored) }
}

/** Finds an incident by UUID. Returns null if the organization has no such incident or the UUID is malformed. */
export function findLiveIncident(db: Db, organizationId: number, id: string): LiveIncident | null {
  const own = selectIncidents(db.sql).where('organization_id', '=', organizationId)
  const row = db.first(own.where('uuid', '=', uuidOrNone(id)))
  return row ? toLiveIncident(row) : null
}

export function findLiveIncidents(db: Db, rowIds: readonly number[]): LiveIncident[] {
  return db.all(selectIncidents(db.sql).where('id', 'in', listed(JSON.stringify(rowIds)))).map(toLiveIncident)
}

const SENDERS = 'source/'

/**
 * Lists the last resolved incident of each suppressed service, and of each sender. No incident opens for such a service
 * until its condition has ended, or until the heartbeat of the sender is back.
 */
export function listSuppressedIncidents(db: Db, organizationId: number, limit: number): LiveIncident[] {
  const services = db.sql
    .selectFrom('services')
    .where('organization_id', '=', organizationId)
    .where((eb) => eb.or([eb('suppressed', '=', 1), eb('name', '>=', SENDERS).and('name', '<', `${SENDERS}~`)]))
  return db.all(services.select('id').limit(limit)).flatMap(({ id }) => {
    const resolved = selectIncidents(db.sql).where('service_id', '=', id).where('resolved_at', 'is not', null)
    const last = db.first(resolved.orderBy('resolved_at', 'desc').limit(1))
    return last ? [toLiveIncident(last)] : []
  })
}

/** How long people can hear that what a user left on still fires; of the last incident of a service, for longer. */
export const LEFT_FOR = 2 * DAY

/** Lists the incidents that users resolved since a time, and in which something goes on, latest first. */
export function listLeftIncidents(db: Db, organizationId: number, since: number, limit: number): LiveIncident[] {
  const lately = selectIncidents(db.sql).where('organization_id', '=', organizationId).where('resolved_at', '>', since)
  const left = lately
    .where(sql<boolean>`problem ->> '$.isSuppressed'`)
    .where(sql<boolean>`(problem ->> '$.since' IS NOT NULL OR problem ->> '$.isMuted')`)
  return db.all(left.orderBy('resolved_at', 'desc').limit(limit)).map(toLiveIncident)
}

/** Lists an organization's unresolved incidents: those that are on first, then the most severe and the newest ones. */
export function listOpenIncidents(
  db: Db,
  organizationId: number,
  limit: number,
  statuses: readonly IncidentStatus[] = INCIDENT_STATUSES,
): LiveIncident[] {
  const open = selectIncidents(db.sql).where('organization_id', '=', organizationId).where('resolved_at', 'is', null)
  const ranked = SEVERITIES.map((severity, index) => sql`WHEN ${sql.lit(severity)} THEN ${sql.lit(index)}`)
  const worstFirst = open
    .where('status', 'in', statuses)
    .orderBy(sql`problem ->> '$.since' IS NULL`)
    .orderBy(sql`CASE severity ${sql.join(ranked, sql` `)} END`)
    .orderBy('id', 'desc')
  return db.all(worstFirst.limit(limit)).map(toLiveIncident)
}

/** Returns how many incidents of an organization go on. */
export function countGoingOn(db: Db, organizationId: number): number {
  const open = db.sql.selectFrom('incidents').where('organization_id', '=', organizationId)
  const on = open.where('resolved_at', 'is', null).where(sql<boolean>`problem ->> '$.since' IS NOT NULL`)
  return countOf(db, on)
}
