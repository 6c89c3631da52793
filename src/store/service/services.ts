/** Services: an organization's monitored workloads and their last evaluation. */
import { type InferResult, sql } from 'kysely'
import type { Health, Penalty } from '../../domain/health/health.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import { reasonText } from '../../domain/health/penalty-text.ts'
import { type AliasRef, workloadName } from '../../domain/service/service.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidFromBytes, uuidFromHex, uuidOrNone } from '../sqlite/uuid.ts'

export type ServiceRecord = Pick<LiveService, 'id' | 'cluster' | 'namespace' | 'name' | 'lastAlertAt'> & {
  readonly status: ServiceRow['status']
  readonly score: number
  /** The condition with the highest penalty; null if the score is 100. */
  readonly reason: string | null
  readonly archived: boolean
}

/** `health`: the penalties that make up the score. */
export type ServiceWithHealth = ServiceRecord & { readonly health: readonly Penalty[] }

/** A healthy service without events for this long is archived. */
const ARCHIVED_AFTER = 14 * 86_400_000

/** Lists an organization's services by namespace and name. `now`: Unix time in milliseconds. */
export function listServices(db: Db, organizationId: number, now: number, withArchived: boolean): ServiceRecord[] {
  const services = db.all(ofOrganization, { organizationId }).map((row) => toRecord(row, now))
  return withArchived ? services : services.filter((service) => !service.archived)
}

const ofOrganization = query<{ organizationId: number }>()((sql, hole) =>
  select(sql)
    .where('organization_id', '=', hole('organizationId'))
    .orderBy('namespace')
    .orderBy('name')
    .orderBy('cluster'),
)

/** Finds a service by UUID. Returns undefined if the organization has no such service or the UUID is malformed. */
export function findService(db: Db, organizationId: number, id: string, now: number): ServiceWithHealth | undefined {
  const row = db.first(byUuid, { organizationId, uuid: uuidOrNone(id) })
  return row ? { ...toRecord(row, now), health: JSON.parse(row.health) } : undefined
}

const byUuid = query<{ organizationId: number; uuid: Buffer }>()((sql, hole) =>
  select(sql).select('health').where('organization_id', '=', hole('organizationId')).where('uuid', '=', hole('uuid')),
)

/** Lists the penalties of the services that have any, by service UUID. */
export function listHealth(db: Db, organizationId: number): ReadonlyMap<string, readonly Penalty[]> {
  const rows = db.sql
    .selectFrom('services')
    .select(['uuid', 'health'])
    .where('organization_id', '=', organizationId)
    .where('health', '!=', '[]')
  return new Map(db.all(rows).map(({ uuid, health }) => [uuidFromBytes(uuid), JSON.parse(health)]))
}

export function findStatusCounts(db: Db, organizationId: number): Readonly<Record<Health['status'], number>> {
  const counts = new Map(db.all(counted, { organizationId }).map(({ status, count }) => [status, count]))
  const of = (status: Health['status']) => counts.get(status) ?? 0
  return { healthy: of('healthy'), degraded: of('degraded'), critical: of('critical') }
}

const counted = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('services')
    .select(['status', (eb) => eb.fn.countAll<number>().as('count')])
    .where('organization_id', '=', hole('organizationId'))
    .groupBy('status'),
)

/** Returns a service's row id, or undefined if the organization has no such service. */
export function findServiceRowId(db: Db, organizationId: number, id: string): number | undefined {
  return db.first(keyOf, { organizationId, uuid: uuidOrNone(id) })?.id
}

const keyOf = query<{ organizationId: number; uuid: Buffer }>()((sql, hole) =>
  sql
    .selectFrom('services')
    .select('id')
    .where('organization_id', '=', hole('organizationId'))
    .where('uuid', '=', hole('uuid')),
)

/** The column and row id that select the records of an organization, or only those of one of its services. */
export type Owner = {
  readonly organizationId: number
  readonly column: 'organization_id' | 'service_id'
  readonly rowId: number
}

/**
 * Returns how to select the records of an organization, or of a service if `serviceId` is given. Returns null if the
 * service does not exist. Filtering a service's records by organization_id is not needed, and omitting it makes SQLite
 * use the index on service_id.
 */
export function ownerOf(db: Db, organizationId: number, serviceId: string | undefined): Owner | null {
  if (serviceId === undefined) return { organizationId, column: 'organization_id', rowId: organizationId }
  const rowId = findServiceRowId(db, organizationId, serviceId)
  return rowId === undefined ? null : { organizationId, column: 'service_id', rowId }
}

// Selects UUIDs as text: lists have thousands of services, and SQLite returns text twice as fast as a Buffer.
function select(builder: Db['sql']) {
  return builder
    .selectFrom('services')
    .select(['cluster', 'namespace', 'name', 'status', 'score'])
    .select(['last_alert_at as lastAlertAt', 'last_event_at as lastEventAt', 'created_at as createdAt'])
    .select(sql<string>`lower(hex(uuid))`.as('uuid'))
    .select(sql<string | null>`health -> '$[0]'`.as('worst'))
}

type ServiceRow = InferResult<ReturnType<typeof select>>[number]

function toRecord({ uuid, lastEventAt, createdAt, worst, ...row }: ServiceRow, now: number): ServiceRecord {
  const archived = row.status === 'healthy' && now - (lastEventAt ?? createdAt) >= ARCHIVED_AFTER
  return { ...row, id: uuidFromHex(uuid), reason: worst === null ? null : reasonText(JSON.parse(worst)), archived }
}

type ServiceName = { readonly id: string; readonly name: string; readonly namespace: string }

/** Returns a service's name. Throws if the service does not exist. */
export function loadServiceName(db: Db, rowId: number): ServiceName & { readonly cluster: string } {
  const row = db.first(nameOf, { rowId })
  if (!row) throw new Error(`there is no service ${rowId}`)
  const { uuid, ...name } = row
  return { id: uuidFromBytes(uuid), ...name }
}

const nameOf = query<{ rowId: number }>()((sql, hole) =>
  sql.selectFrom('services').select(['uuid', 'name', 'namespace', 'cluster']).where('id', '=', hole('rowId')),
)

// Alternative names under which senders refer to a service.

/** Lists the other names of a service, given its row id. */
export function listOtherNames(db: Db, serviceId: number): readonly string[] {
  return db.all(workloads, { serviceId }).map(({ value }) => workloadName(value))
}

const workloads = query<{ serviceId: number }>()((sql, hole) =>
  sql.selectFrom('aliases').select('value').where('service_id', '=', hole('serviceId')).where('kind', '=', 'workload'),
)

/** Lists the other names of all services of an organization, by the row id of the service. */
export function listAllOtherNames(db: Db, organizationId: number): ReadonlyMap<number, readonly string[]> {
  const named = db.sql.selectFrom('aliases').select(['service_id as serviceId', 'value'])
  const all = db.all(named.where('organization_id', '=', organizationId).where('kind', '=', 'workload'))
  const byService = Map.groupBy(all, ({ serviceId }) => serviceId)
  return new Map([...byService].map(([id, of]) => [id, of.map(({ value }) => workloadName(value))]))
}

/** Returns the ID of a service and its other names, as the rules of channels compare them; '' if there is no such service. */
export function findNames(
  db: Db,
  organizationId: number,
  { cluster, namespace, name }: Omit<ServiceName, 'id'> & { readonly cluster: string },
): { readonly serviceId: string; readonly aliases: readonly string[] } {
  const named = db.sql.selectFrom('services').select(['id', 'uuid']).where('organization_id', '=', organizationId)
  const row = db.first(named.where('cluster', '=', cluster).where('namespace', '=', namespace).where('name', '=', name))
  if (!row) return { serviceId: '', aliases: [] }
  return { serviceId: uuidFromBytes(row.uuid), aliases: listOtherNames(db, row.id) }
}

/** Lists a service's aliases, given its UUID. */
export function listAliases(db: Db, organizationId: number, serviceId: string): AliasRef[] {
  const rowId = findServiceRowId(db, organizationId, serviceId)
  if (rowId === undefined) return []
  const aliases = db.sql.selectFrom('aliases').select(['kind', 'value']).where('service_id', '=', rowId)
  return db.all(aliases.orderBy('kind').orderBy('value')) as AliasRef[]
}

const MOVED = [
  ...(['events', 'alerts', 'incidents', 'pipelines', 'correlations', 'aliases'] as const),
  ...(['image_projects', 'images'] as const),
]

/** Moves all records from `from` to `into` and deletes `from`. Must be called in a transaction. */
export function moveService(db: Db, from: number, into: number): void {
  dropShared(db, from, into)
  for (const table of MOVED) {
    db.run(db.sql.updateTable(table).set({ service_id: into }).where('service_id', '=', from))
  }
  db.run(carryTimes(db, from, into))
  db.run(db.sql.deleteFrom('services').where('id', '=', from))
}

/** Deletes the images and projects of `from` that `into` also has. */
function dropShared(db: Db, from: number, into: number): void {
  const projects = db.sql.selectFrom('image_projects').select('project').where('service_id', '=', into)
  db.run(db.sql.deleteFrom('image_projects').where('service_id', '=', from).where('project', 'in', projects))
  const images = db.sql.deleteFrom('images').where('service_id', '=', from)
  const isShared = sql<boolean>`EXISTS (SELECT 1 FROM images AS kept
    WHERE kept.service_id = ${into} AND kept.path = images.path AND kept.tag = images.tag)`
  db.run(images.where(isShared))
}

function carryTimes(db: Db, from: number, into: number) {
  const newest = (column: 'last_alert_at' | 'last_event_at') =>
    db.sql
      .selectFrom('services')
      .select((eb) => eb.fn.max(column).as('newest'))
      .where('id', 'in', [from, into])
  return db.sql
    .updateTable('services')
    .set({ last_alert_at: newest('last_alert_at'), last_event_at: newest('last_event_at') })
    .where('id', '=', into)
}

/** Returns whether the services of an organization are in several clusters. Compares the first and the last cluster, because an organization can have thousands of services. */
export function hasSeveralClusters(db: Db, organizationId: number): boolean {
  const clusters = db.sql.selectFrom('services').select('cluster').where('organization_id', '=', organizationId)
  const named = clusters.where('cluster', '>', '').limit(1)
  const [first, last] = [db.first(named.orderBy('cluster')), db.first(named.orderBy('cluster', 'desc'))]
  return first?.cluster !== last?.cluster
}

/** Returns whether services of several namespaces have this name. Compares the first and the last namespace. */
export function isAmbiguousName(db: Db, organizationId: number, name: string): boolean {
  const asked = { organizationId, name }
  return db.first(firstNamespace, asked)?.namespace !== db.first(lastNamespace, asked)?.namespace
}

const namespaceOf = (order: 'asc' | 'desc') =>
  query<{ organizationId: number; name: string }>()((sql, hole) =>
    sql
      .selectFrom('services')
      .select('namespace')
      .where('organization_id', '=', hole('organizationId'))
      .where('name', '=', hole('name'))
      .where('namespace', '>', '')
      .orderBy('namespace', order)
      .limit(1),
  )
const [firstNamespace, lastNamespace] = [namespaceOf('asc'), namespaceOf('desc')]
