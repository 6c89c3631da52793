/** How many services an organization has in each state. */
import type { Health } from '../domain/health/health.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'

const counted = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('services')
    .select(['status', (eb) => eb.fn.countAll<number>().as('count')])
    .where('organization_id', '=', hole('organizationId'))
    .groupBy('status'),
)

/** Counts the services by status; 0 if there is none. */
export function findStatusCounts(db: Db, organizationId: number): Readonly<Record<Health['status'], number>> {
  const counts = new Map(db.all(counted, { organizationId }).map(({ status, count }) => [status, count]))
  const of = (status: Health['status']) => counts.get(status) ?? 0
  return { healthy: of('healthy'), degraded: of('degraded'), critical: of('critical') }
}
