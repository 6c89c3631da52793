/** Services as the write path sees them: found by name, made, heard of. */
import type { InferResult } from 'kysely'
import { asksFor, type Name } from '../domain/service/service.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'
import { uuidBytes, uuidFromBytes, uuidToBytes } from './sqlite/uuid.ts'

/** Who a service is: what it is called, which changes only by hand. */
export type ServiceRow = {
  readonly id: number
  readonly uuid: string
  readonly organizationId: number
  readonly cluster: string
  readonly namespace: string
  readonly name: string
}

export type ServiceName = Name & { readonly id: number; readonly cluster: string }

const COLUMNS = ['id', 'uuid', 'organization_id', 'cluster', 'namespace', 'name'] as const
const NAME = ['id', 'cluster', 'namespace', 'name'] as const

const byId = query<{ id: number }>()((sql, hole) => selectServices(sql).where('id', '=', hole('id')))
const byKey = query<{ organizationId: number; cluster: string; namespace: string; name: string }>()((sql, hole) =>
  selectServices(sql)
    .where('organization_id', '=', hole('organizationId'))
    .where('cluster', '=', hole('cluster'))
    .where('namespace', '=', hole('namespace'))
    .where('name', '=', hole('name')),
)
const inAnyNamespace = query<{ organizationId: number; name: string }>()((sql, hole) =>
  sql
    .selectFrom('services')
    .select(NAME)
    .where('organization_id', '=', hole('organizationId'))
    .where('name', '=', hole('name'))
    .orderBy('id')
    .limit(50),
)
const beginningWith = query<{ organizationId: number; cluster: string; namespace: string; from: string; to: string }>()(
  (sql, hole) =>
    sql
      .selectFrom('services')
      .select(NAME)
      .where('organization_id', '=', hole('organizationId'))
      .where('cluster', '=', hole('cluster'))
      .where('namespace', '=', hole('namespace'))
      .where('name', '>=', hole('from'))
      .where('name', '<', hole('to'))
      .orderBy('name')
      .limit(50),
)

export function loadService(db: Db, id: number): ServiceRow {
  const service = db.memory.row('places', id, () => {
    const row = db.first(byId, { id })
    return row ? toServiceRow(row) : null
  })
  if (!service) throw new Error(`no service ${id}`)
  return service
}

/** The service of that public name in this organization; null where there is none or the name is malformed. */
export function findServiceRow(db: Db, organizationId: number, uuid: string): ServiceRow | null {
  const bytes = uuidToBytes(uuid)
  const row =
    bytes && db.first(selectServices(db.sql).where('organization_id', '=', organizationId).where('uuid', '=', bytes))
  return row ? toServiceRow(row) : null
}

export function findServiceByKey(
  db: Db,
  key: { organizationId: number; cluster: string; namespace: string; name: string },
): ServiceRow | null {
  const { organizationId, cluster, namespace, name } = key
  return db.memory.row('places', `${organizationId} ${cluster}\0${namespace}\0${name}`, () => {
    const row = db.first(byKey, key)
    return row ? toServiceRow(row) : null
  })
}

/** Those of the names asked for that are services of the cluster; a name of any namespace (`*`) in any cluster. */
export function findServiceNames(
  db: Db,
  organizationId: number,
  cluster: string,
  asked: readonly Name[],
): ServiceName[] {
  return asked.flatMap((name) =>
    db.memory.answer('places', `${organizationId} ${cluster}\0${name.namespace}\0${name.name}`, () =>
      askFor(db, organizationId, cluster, name),
    ),
  )
}

function askFor(db: Db, organizationId: number, cluster: string, name: Name): ServiceName[] {
  if (name.namespace === '*') return db.all(inAnyNamespace, { organizationId, name: name.name })
  if (name.name.endsWith('*')) {
    const from = name.name.slice(0, -1)
    const { namespace } = name
    const found = db.all(beginningWith, { organizationId, cluster, namespace, from, to: `${from}\u{10ffff}` })
    return found.filter((service) => asksFor(name, service))
  }
  const found = db.first(byKey, { organizationId, cluster, ...name })
  return found ? [{ id: found.id, cluster, namespace: found.namespace, name: found.name }] : []
}

const insert = query<{
  uuid: Buffer
  organizationId: number
  cluster: string
  namespace: string
  name: string
  now: number
}>()((sql, hole) =>
  sql.insertInto('services').values({
    uuid: hole('uuid'),
    organization_id: hole('organizationId'),
    cluster: hole('cluster'),
    namespace: hole('namespace'),
    name: hole('name'),
    created_at: hole('now'),
    healthy_since: hole('now'),
  }),
)

/** A new service, healthy until evaluated otherwise. Fails with SQLITE_CONSTRAINT_UNIQUE where its key is taken. */
export function insertService(
  db: Db,
  made: Pick<ServiceRow, 'uuid' | 'organizationId' | 'cluster' | 'namespace' | 'name'>,
  now: number,
): ServiceRow {
  const { uuid, ...key } = made
  const id = db.insert(insert, { ...key, uuid: uuidBytes(uuid), now })
  return { ...made, id }
}

/** Fails with SQLITE_CONSTRAINT_UNIQUE where the new name is taken. */
export function renameService(db: Db, id: number, name: string): void {
  db.run(db.sql.updateTable('services').set({ name }).where('id', '=', id))
}

type HeardTimes = { readonly eventAt: number; readonly alertAt: number | null }

const storeHeard = query<{ id: number; eventAt: number; alertAt: number | null }>({ keepsMemory: true })((sql, hole) =>
  sql
    .updateTable('services')
    .set((eb) => ({
      last_event_at: eb.fn<number>('max', [eb.fn.coalesce('last_event_at', eb.val(0)), eb.val(hole('eventAt'))]),
      last_alert_at: eb.fn<number | null>('nullif', [
        eb.fn('max', [eb.fn.coalesce('last_alert_at', eb.val(0)), eb.fn.coalesce(eb.val(hole('alertAt')), eb.val(0))]),
        eb.val(0),
      ]),
    }))
    .where('id', '=', hole('id')),
)

/** Remembers the time of the service's newest event, and of its newest alert; an older one changes nothing. */
export function touchService(db: Db, id: number, eventAt: number, alertAt: number | null): void {
  const key = `heard ${id}`
  const before = db.memory.waiting<HeardTimes>('places', key)
  const newest = {
    eventAt: Math.max(before?.eventAt ?? eventAt, eventAt),
    alertAt: alertAt === null ? (before?.alertAt ?? null) : Math.max(before?.alertAt ?? alertAt, alertAt),
  }
  db.memory.later('places', key, newest, (heard) => void db.run(storeHeard, { id, ...heard }))
}

/** Their columns, of which `toServiceRow` makes rows. */
export function selectServices(sql: Db['sql']) {
  return sql.selectFrom('services').select(COLUMNS)
}

export function toServiceRow(row: InferResult<ReturnType<typeof selectServices>>[number]): ServiceRow {
  return {
    id: row.id,
    uuid: uuidFromBytes(row.uuid),
    organizationId: row.organization_id,
    cluster: row.cluster,
    namespace: row.namespace,
    name: row.name,
  }
}
