import type { LiveService } from '../../domain/state/live.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, query } from '../sqlite/query.ts'
import { uuidBytes } from '../sqlite/uuid.ts'
import type { SavedChange } from './save.ts'

/** Inserts new services and updates existing ones. */
export function saveServices(db: Db, services: readonly SavedChange<LiveService>[]): void {
  const made = services.filter(({ before }) => before === null)
  insertRows(
    db,
    'services',
    made.map(({ after: record }) => ({
      id: record.rowId,
      uuid: uuidBytes(record.id),
      organization_id: record.organizationId,
      cluster: record.cluster,
      namespace: record.namespace,
      name: record.name,
      status: record.health.status,
      score: record.health.score,
      health: JSON.stringify(record.health.penalties),
      healthy_since: record.healthySince,
      suppressed: record.suppressed ? 1 : 0,
      last_alert_at: record.lastAlertAt,
      last_event_at: record.lastEventAt,
      evaluate_at: record.evaluateAt,
      created_at: record.createdAt,
    })),
  )
  for (const { before, after } of services) {
    if (!before) continue
    db.run(update, updated(after))
    const { rowId, name, cluster } = after
    // Renaming also writes an index, so it is a separate statement.
    if (before.name !== name || before.cluster !== cluster) db.run(rename, { rowId, name, cluster })
  }
}

function updated(service: LiveService) {
  return {
    rowId: service.rowId,
    status: service.health.status,
    score: service.health.score,
    health: JSON.stringify(service.health.penalties),
    healthySince: service.healthySince,
    suppressed: service.suppressed ? 1 : 0,
    lastAlertAt: service.lastAlertAt,
    lastEventAt: service.lastEventAt,
    evaluateAt: service.evaluateAt,
  }
}

const rename = query<{ rowId: number; name: string; cluster: string }>()((sql, hole) =>
  sql
    .updateTable('services')
    .set({ name: hole('name'), cluster: hole('cluster') })
    .where('id', '=', hole('rowId')),
)
const update = query<ReturnType<typeof updated>>()((sql, hole) =>
  sql
    .updateTable('services')
    .set({
      status: hole('status'),
      score: hole('score'),
      health: hole('health'),
      healthy_since: hole('healthySince'),
      suppressed: hole('suppressed'),
      last_alert_at: hole('lastAlertAt'),
      last_event_at: hole('lastEventAt'),
      evaluate_at: hole('evaluateAt'),
    })
    .where('id', '=', hole('rowId')),
)
