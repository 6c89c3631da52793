/** Reads the alerts of an incident that the matchers of rules are compared with. */
import type { RuledAlert } from '../../domain/notification/rule.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'

/** Lists up to 50 alerts of an incident, firing ones first. */
export function listRuledAlerts(db: Db, incidentId: number): RuledAlert[] {
  return db.all(ruled, { incidentId }).map(({ labels, ...alert }) => ({ ...alert, labels: JSON.parse(labels) }))
}

// The index on the incident returns firing alerts first.
const ruled = query<{ incidentId: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .select(['source', 'severity', 'name as alertname', 'labels'])
    .where('incident_id', '=', hole('incidentId'))
    .orderBy('ends_at')
    .limit(50),
)
