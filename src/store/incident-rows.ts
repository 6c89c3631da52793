/** Incidents as the write path sees them: opened, moved and given their alerts. */
import type { InferResult } from 'kysely'
import type { IncidentStatus } from '../domain/incident/incident.ts'
import type { Severity } from '../domain/severity.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'
import { uuidBytes, uuidFromBytes, uuidToBytes } from './sqlite/uuid.ts'

export type IncidentRow = {
  readonly id: number
  readonly uuid: string
  readonly organizationId: number
  readonly serviceId: number
  readonly title: string
  readonly severity: Severity
  readonly status: IncidentStatus
  readonly origin: 'manual' | 'automatic'
  readonly cause: 'service' | 'silence'
  readonly createdAt: number
  readonly startedAt: number
  readonly acknowledgedAt: number | null
  readonly resolvedAt: number | null
  /** The last act of a person. */
  readonly touchedAt: number | null
}

const COLUMNS = [
  ...(['id', 'uuid', 'organization_id', 'service_id', 'title', 'severity', 'status', 'origin', 'cause'] as const),
  ...(['created_at', 'started_at', 'acknowledged_at', 'resolved_at', 'touched_at'] as const),
] as const

const oldestOpen = query<{ serviceId: number }>()((sql, hole) =>
  select(sql)
    .where('service_id', '=', hole('serviceId'))
    .where('status', '!=', 'resolved')
    .orderBy('created_at')
    .orderBy('id')
    .limit(1),
)
const lastResolved = query<{ serviceId: number }>()((sql, hole) =>
  select(sql)
    .where('service_id', '=', hole('serviceId'))
    .where('status', '=', 'resolved')
    .where('cause', '=', 'service')
    .orderBy('resolved_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1),
)

/** The incident that later alerts of the service join. */
export function findOldestOpenIncident(db: Db, serviceId: number): IncidentRow | null {
  return db.memory.answer('incidents', serviceId, () => {
    const row = db.first(oldestOpen, { serviceId })
    return row ? toIncidentRow(row) : null
  })
}

export function findLastResolvedIncident(db: Db, serviceId: number): IncidentRow | null {
  const row = db.first(lastResolved, { serviceId })
  return row ? toIncidentRow(row) : null
}

export function findIncidentRow(db: Db, organizationId: number, uuid: string): IncidentRow | null {
  const bytes = uuidToBytes(uuid)
  const row = bytes && db.first(select(db.sql).where('organization_id', '=', organizationId).where('uuid', '=', bytes))
  return row ? toIncidentRow(row) : null
}

export function insertIncident(db: Db, made: Omit<IncidentRow, 'id'>): IncidentRow {
  const id = db.insert(
    db.sql.insertInto('incidents').values({
      uuid: uuidBytes(made.uuid),
      organization_id: made.organizationId,
      service_id: made.serviceId,
      title: made.title,
      severity: made.severity,
      status: made.status,
      origin: made.origin,
      cause: made.cause,
      created_at: made.createdAt,
      started_at: made.startedAt,
      acknowledged_at: made.acknowledgedAt,
      resolved_at: made.resolvedAt,
      touched_at: made.touchedAt,
    }),
  )
  return { ...made, id }
}

/** Writes the columns that an incident's life changes, if its status is still the one that was decided on. */
export function updateIncident(db: Db, before: IncidentRow, after: IncidentRow): boolean {
  const { title, severity, status, startedAt, acknowledgedAt, resolvedAt, touchedAt } = after
  const changed = db.run(
    db.sql
      .updateTable('incidents')
      .set({
        title,
        severity,
        status,
        started_at: startedAt,
        acknowledged_at: acknowledgedAt,
        resolved_at: resolvedAt,
        touched_at: touchedAt,
      })
      .where('id', '=', before.id)
      .where('status', '=', before.status),
  )
  return changed === 1
}

/** Remembers the lowest score of the service while the incident lasts. */
export function noteScore(db: Db, id: number, score: number): void {
  db.run(note, { id, score })
}

const note = query<{ id: number; score: number }>()((sql, hole) =>
  sql
    .updateTable('incidents')
    .set({ lowest_score: hole('score') })
    .where('id', '=', hole('id'))
    .where((eb) => eb.or([eb('lowest_score', 'is', null), eb('lowest_score', '>', hole('score'))])),
)

/** Gives alerts without an incident, or with a resolved one, to this one, and counts them. */
export function joinAlerts(db: Db, incidentId: number, alertIds: readonly number[]): void {
  const joined = alertIds.reduce((count, alertId) => count + db.run(join, { incidentId, alertId }), 0)
  db.run(countMore, { incidentId, joined })
}

const join = query<{ incidentId: number; alertId: number }>()((sql, hole) =>
  sql
    .updateTable('alerts')
    .set({ incident_id: hole('incidentId') })
    .where('id', '=', hole('alertId'))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('incidents')
            .select('incidents.id')
            .whereRef('incidents.id', '=', 'alerts.incident_id')
            .where('incidents.status', '!=', 'resolved'),
        ),
      ),
    ),
)
const countMore = query<{ incidentId: number; joined: number }>()((sql, hole) =>
  sql
    .updateTable('incidents')
    .set((eb) => ({ alert_count: eb('alert_count', '+', hole('joined')) }))
    .where('id', '=', hole('incidentId')),
)

function select(sql: Db['sql']) {
  return sql.selectFrom('incidents').select(COLUMNS)
}

function toIncidentRow(row: InferResult<ReturnType<typeof select>>[number]): IncidentRow {
  return {
    id: row.id,
    uuid: uuidFromBytes(row.uuid),
    organizationId: row.organization_id,
    serviceId: row.service_id,
    title: row.title,
    severity: row.severity,
    status: row.status,
    origin: row.origin,
    cause: row.cause,
    createdAt: row.created_at,
    startedAt: row.started_at,
    acknowledgedAt: row.acknowledged_at,
    resolvedAt: row.resolved_at,
    touchedAt: row.touched_at,
  }
}
