/** Reads incidents for a reliability report. */

import { sql } from 'kysely'
import { type Reliability, type ReportedIncident, reliability } from '../../domain/report/report.ts'
import type { Severity } from '../../domain/severity.ts'
import { DAY } from '../../domain/units.ts'
import type { TimeSpan } from '../read.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'

const WEEK = 7 * DAY
/** How far back to search for incidents before the report, in order to detect recurring problems. */
const RECURS_WITHIN = 30 * DAY

/** Returns the figures for incidents with from ≤ createdAt < to, or null if there are more than `most` incidents. */
export function findReliability(db: Db, organizationId: number, span: TimeSpan, most: number): Reliability | null {
  const incidents = listReportedIncidents(db, organizationId, span, most + 1)
  return incidents.length > most ? null : reliability(incidents, span.from, span.to)
}

/** Weeks are counted back from the end of the period. Week 0 is the last week. */
export type WeekCount = { readonly week: number; readonly severity: Severity; readonly count: number }

/** Counts incidents with from ≤ createdAt < to by week and severity, and lists their times to resolve in ms. */
export function findReportCharts(
  db: Db,
  organizationId: number,
  { from, to }: TimeSpan,
): { readonly weeks: readonly WeekCount[]; readonly durations: readonly number[] } {
  const rows = db.sql
    .selectFrom('incidents')
    .where('organization_id', '=', organizationId)
    .where('created_at', '>=', from)
    .where('created_at', '<', to)
  const weeks = rows
    .select(sql<number>`CAST((${to} - 1 - created_at) / ${WEEK} AS INTEGER)`.as('week'))
    .select(['severity', (eb) => eb.fn.countAll<number>().as('count')])
    .groupBy(['week', 'severity'])
  const resolved = rows.where('resolved_at', 'is not', null)
  const durations = resolved.select(sql<number>`max(0, resolved_at - started_at)`.as('ms'))
  return { weeks: db.all(weeks), durations: db.all(durations).map(({ ms }) => ms) }
}

/**
 * Lists up to `most` incidents that were created from 30 days before `from` until `to`, newest first. Times are Unix
 * times in milliseconds.
 */
function listReportedIncidents(db: Db, organizationId: number, span: TimeSpan, most: number): ReportedIncident[] {
  const rows = db.sql
    .selectFrom('incidents')
    .innerJoin('services', 'services.id', 'incidents.service_id')
    .select(['incidents.uuid', 'severity', 'started_at as startedAt', 'incidents.created_at as createdAt'])
    // An acknowledgement lapses when the problem returns, but somebody did acknowledge the incident.
    .select(sql<number | null>`coalesce(problem ->> '$.firstAcknowledgedAt', ${answeredAt})`.as('acknowledgedAt'))
    .select(['resolved_at as resolvedAt', 'origin', ofAlerts, mergedOpenedAt])
    .select((eb) => {
      const open = eb.selectFrom('timeline').select('timeline.id').whereRef('incident_id', '=', 'incidents.id')
      return eb
        .exists(
          open
            .where('kind', '=', 'status')
            .where('code', '=', 'open')
            .where('actor', 'is', null)
            .where((one) => one.or([one('facts', 'is', null), one(sql`facts ->> '$.code'`, '!=', 'disproved')])),
        )
        .as('back')
    })
    .select(['services.uuid as service', 'services.namespace', 'services.name'])
    .where('incidents.organization_id', '=', organizationId)
    .where('incidents.created_at', '>=', span.from - RECURS_WITHIN)
    .where('incidents.created_at', '<', span.to)
    .orderBy('incidents.created_at', 'desc')
    .limit(most)
  return db.all(rows).map((row) => {
    const { severity, origin, startedAt, createdAt, acknowledgedAt, resolvedAt, namespace, name } = row
    const [firstAlertAt, conditions] = JSON.parse(row.of_alerts) as [number | null, string[]]
    const openedAt = Math.min(createdAt, row.merged_opened_at ?? createdAt)
    const times = { startedAt, firstAlertAt, createdAt, openedAt, acknowledgedAt, resolvedAt }
    const service = { uuid: uuidFromBytes(row.service), namespace, name }
    return {
      uuid: uuidFromBytes(row.uuid),
      service,
      severity,
      origin,
      ...times,
      conditions,
      cameBack: Boolean(row.back),
    }
  })
}

/** Who reopens an incident did not acknowledge it before. */
const answeredAt = sql<number | null>`CASE WHEN NOT EXISTS (
  SELECT 1 FROM timeline
  WHERE incident_id = incidents.id AND kind = 'reopened' AND timeline.at = acknowledged_at
) THEN acknowledged_at END`

// Uses a single subquery, because each subquery would read every alert of every incident. Applies the same rule as
// `firstSymptom`.
const ofAlerts = sql<string>`(
  SELECT json_array(coalesce(min(starts_at) FILTER (WHERE alerts.source <> 'ci' AND alerts.failure IS NOT 'monitoring'), min(starts_at)), json_group_array(DISTINCT alerts.source || ' ' || alerts.name))
  FROM alerts WHERE alerts.incident_id = incidents.id
)`.as('of_alerts')

/** When the first of the incidents that were merged into an incident was opened. */
const mergedOpenedAt = sql<number | null>`(
  SELECT min(other.created_at) FROM timeline
  JOIN incidents other ON other.uuid = unhex(replace(substr(timeline.ref, 10), '-', ''))
  WHERE timeline.incident_id = incidents.id AND timeline.kind = 'merged' AND timeline.at IS NOT incidents.resolved_at
)`.as('merged_opened_at')
