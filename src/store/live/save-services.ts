import { cacheLast } from '../../domain/memoize.ts'
import type { LiveService } from '../../domain/state/live.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, updateRow } from '../sqlite/query.ts'
import { uuidBytes } from '../sqlite/uuid.ts'
import type { SavedChange } from './save.ts'

/** Inserts new services and updates existing services. */
export function saveServices(db: Db, services: readonly SavedChange<LiveService>[]): void {
  insertRows(
    db,
    'services',
    services.flatMap(({ before, after }) =>
      before ? [] : { id: after.rowId, uuid: uuidBytes(after.id), ...rowOf(after) },
    ),
  )
  for (const { before, after } of services) {
    if (before) updateRow(db, 'services', after.rowId, rowOf(after), rowOf(before))
  }
}

function rowOf(service: LiveService) {
  const { health } = service
  return {
    organization_id: service.organizationId,
    cluster: service.cluster,
    namespace: service.namespace,
    name: service.name,
    status: health.status,
    score: health.score,
    health: penaltiesText(health.penalties),
    healthy_since: service.healthySince,
    suppressed: service.suppressed ? (1 as const) : (0 as const),
    last_alert_at: service.lastAlertAt,
    last_event_at: service.lastEventAt,
    evaluate_at: service.evaluateAt,
    created_at: service.createdAt,
  }
}

/** Most changes to a service leave its penalties unchanged. */
const penaltiesText: (penalties: LiveService['health']['penalties']) => string = cacheLast(JSON.stringify)
