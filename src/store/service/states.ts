/** The health history of services: one row per change of status or score. */
import { sql } from 'kysely'
import type { Health } from '../../domain/health/health.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidFromBytes, uuidOrNone } from '../sqlite/uuid.ts'

/** A service's state from `at` (Unix time in milliseconds) until the next state. */
type ServiceState = { readonly at: number; readonly status: Health['status']; readonly score: number }

const put = query<{ serviceId: number; at: number; status: Health['status']; score: number }>()((builder, hole) =>
  builder
    .insertInto('service_states')
    .values({ service_id: hole('serviceId'), at: hole('at'), status: hole('status'), score: hole('score') })
    .onConflict((conflict) => conflict.doUpdateSet({ status: hole('status'), score: hole('score') })),
)

/** Records a service's state from `at` onwards. A service without any recorded state has always been healthy. */
export function recordState(db: Db, serviceId: number, { at, status, score }: ServiceState): void {
  db.run(put, { serviceId, at, status, score })
}

/**
 * Lists a service's states since `from`, including the state at `from`, oldest first. Returns null if there is no such
 * service.
 */
export function listStates(db: Db, organizationId: number, id: string, from: number): ServiceState[] | null {
  const [states = null] = listStatesOfServices(db, organizationId, [id], from).values()
  return states
}

/** Lists several services' states since `from`, including the state at `from`, by service UUID. */
export function listStatesOfServices(
  db: Db,
  organizationId: number,
  ids: readonly string[],
  from: number,
): ReadonlyMap<string, ServiceState[]> {
  if (ids.length === 0) return new Map()
  const rows = db.sql
    .selectFrom('services')
    .leftJoin('service_states', (join) =>
      join.onRef('service_states.service_id', '=', 'services.id').on(
        sql<boolean>`service_states.at >= coalesce((SELECT max(before.at) FROM service_states AS before
          WHERE before.service_id = services.id AND before.at <= ${from}), ${from})`,
      ),
    )
    .select(['services.uuid', 'services.created_at', 'service_states.at', 'service_states.status'])
    .select('service_states.score')
    .where('services.organization_id', '=', organizationId)
    .where('services.uuid', 'in', ids.map(uuidOrNone))
    .orderBy('services.id')
    .orderBy('service_states.at')
  const byService = Map.groupBy(db.all(rows), ({ uuid }) => uuidFromBytes(uuid))
  return new Map([...byService].map(([id, found]) => [id, sinceCreation(found, found[0]?.created_at ?? from)]))
}

/** Deletes states that ended earlier than `before`. The state at `before` is kept. */
export function deleteStates(db: Db, organizationId: number, before: number): void {
  const services = db.sql.selectFrom('services').select('id').where('organization_id', '=', organizationId)
  db.run(
    db.sql
      .deleteFrom('service_states')
      .where('service_id', 'in', services)
      .where(sql<boolean>`at < (SELECT max(newer.at) FROM service_states AS newer
        WHERE newer.service_id = service_states.service_id AND newer.at <= ${before})`),
  )
}

type StateRow = { readonly [Field in keyof ServiceState]: ServiceState[Field] | null }

/** Adds the initial state: a service is healthy from its creation until its first recorded state. */
function sinceCreation(rows: readonly StateRow[], createdAt: number): ServiceState[] {
  const states = rows.flatMap(({ at, status, score }) =>
    at === null || status === null || score === null ? [] : [{ at, status, score }],
  )
  const [first] = states
  const isFirst = first === undefined || first.at > createdAt
  return isFirst ? [{ at: createdAt, status: 'healthy', score: 100 }, ...states] : states
}
