import type { LiveService } from '../../domain/health/live-service.ts'
import { cacheLast } from '../../domain/memoize.ts'
import type { RowChange } from '../../engine/state/changes.ts'
import type { Db } from '../sqlite/open.ts'
import { saveChanges } from '../sqlite/query.ts'
import { uuidBytes } from '../sqlite/uuid.ts'

/** Inserts new services and updates existing services. */
export function saveServices(db: Db, services: readonly RowChange<LiveService>[]): void {
  saveChanges(db, 'services', services, rowOf, columnsOf)
}

function rowOf(service: LiveService) {
  return { id: service.rowId, uuid: uuidBytes(service.id), ...columnsOf(service) }
}

function columnsOf(service: LiveService) {
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
