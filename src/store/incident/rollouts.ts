/** Reads the rollouts of services from the stored events of their Deployments. */
import type { Change } from '../../domain/correlation/change.ts'
import { rolloutsOf } from '../../domain/correlation/rollout.ts'
import { MAX_EVENTS } from '../../domain/suspect/searched.ts'
import { findServiceRowId } from '../service/services.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'

/** The maximum number of a service's earlier scalings in which to look for its last rollout. */
const MAX_SCALINGS = 100

/** Lists the rollouts of all services in a period. */
export function rolloutsIn(db: Db, organizationId: number, from: number, to: number) {
  const rows = db.all(
    db.sql
      .selectFrom('events')
      .innerJoin('services', 'services.id', 'events.service_id')
      .select(['events.uuid', 'object', 'text', 'at', 'services.uuid as service', 'services.namespace'])
      .where('events.organization_id', '=', organizationId)
      .where('kind', '=', 'change')
      .where('at', '>=', from)
      .where('at', '<=', to)
      .orderBy('at', 'desc')
      .limit(MAX_EVENTS),
  )
  const byService = Map.groupBy(rows, ({ service }) => service.toString('hex'))
  return [...byService.values()].flatMap((events) => {
    const [first] = events
    const scalings = events.map(({ uuid, ...event }) => ({ ...event, eventId: uuidFromBytes(uuid) }))
    return first ? rolloutsOf(scalings, { id: uuidFromBytes(first.service), namespace: first.namespace }) : []
  })
}

/** Returns the last rollout of a service before a time. Its pods may run out of memory much later. */
export function newestRollout(db: Db, organizationId: number, serviceId: string, before: number): Change[] {
  const rowId = findServiceRowId(db, organizationId, serviceId)
  if (rowId === undefined) return []
  const rows = db.sql
    .selectFrom('events')
    .innerJoin('services', 'services.id', 'events.service_id')
    .select(['events.uuid', 'object', 'text', 'at', 'services.namespace'])
    .where('service_id', '=', rowId)
    .where('kind', '=', 'change')
    .where('at', '<', before)
    .orderBy('at', 'desc')
    .limit(MAX_SCALINGS)
  const scalings = db.all(rows).map(({ uuid, ...event }) => ({ ...event, eventId: uuidFromBytes(uuid) }))
  const [first] = scalings
  const rollouts = first ? rolloutsOf(scalings, { id: serviceId, namespace: first.namespace }) : []
  return rollouts.filter(({ emptied }) => emptied === undefined).slice(-1)
}
