/** Services in the store: the monitored workloads of an organization, with their last evaluation. */
import type { Selectable } from 'kysely'
import type { Penalty } from '../domain/health.ts'
import type { Db } from './open.ts'
import type { Schema } from './schema.ts'
import { uuidFromBytes, uuidToBytes } from './uuid.ts'

/** Times in milliseconds UTC. `health` is what the score is made of. */
export type ServiceRecord = {
  readonly id: string
  readonly cluster: string
  readonly namespace: string
  readonly name: string
  readonly status: Row['status']
  readonly score: number
  readonly lastAlertAt: number | null
  readonly archived: boolean
  readonly health: readonly Penalty[]
}

/** Silent for this long and healthy: archived. */
const ARCHIVED_AFTER = 14 * 86_400_000

/** All services of an organization by namespace and name; the archived among them only on demand. `now` in ms UTC. */
export function listServices(db: Db, organizationId: number, now: number, withArchived: boolean): ServiceRecord[] {
  const query = ofOrganization(db, organizationId).orderBy('namespace').orderBy('name').orderBy('cluster')
  const services = db.all(query).map((row) => toRecord(row, now))
  return withArchived ? services : services.filter((service) => !service.archived)
}

/** The service of that name in this organization; undefined where there is none or the name is malformed. */
export function findService(db: Db, organizationId: number, uuid: string, now: number): ServiceRecord | undefined {
  const bytes = uuidToBytes(uuid)
  const row = bytes && db.first(ofOrganization(db, organizationId).where('uuid', '=', bytes))
  return row ? toRecord(row, now) : undefined
}

/** The row's key of a service of this organization; undefined where there is none. */
export function findServiceKey(db: Db, organizationId: number, uuid: string): number | undefined {
  const bytes = uuidToBytes(uuid)
  if (!bytes) return undefined
  const query = db.sql.selectFrom('services').select('id')
  return db.first(query.where('organization_id', '=', organizationId).where('uuid', '=', bytes))?.id
}

function ofOrganization(db: Db, organizationId: number) {
  return db.sql
    .selectFrom('services')
    .select(['uuid', 'cluster', 'namespace', 'name', 'status', 'score', 'health'])
    .select(['last_alert_at', 'last_event_at', 'created_at'])
    .where('organization_id', '=', organizationId)
}

type Row = Pick<
  Selectable<Schema['services']>,
  | 'uuid'
  | 'cluster'
  | 'namespace'
  | 'name'
  | 'status'
  | 'score'
  | 'health'
  | 'last_alert_at'
  | 'last_event_at'
  | 'created_at'
>

function toRecord(row: Row, now: number): ServiceRecord {
  return {
    id: uuidFromBytes(row.uuid),
    cluster: row.cluster,
    namespace: row.namespace,
    name: row.name,
    status: row.status,
    score: row.score,
    lastAlertAt: row.last_alert_at,
    archived: row.status === 'healthy' && now - (row.last_event_at ?? row.created_at) >= ARCHIVED_AFTER,
    health: JSON.parse(row.health),
  }
}
