/** Finds and deletes expired incidents, pipelines, images, groups and rejections. */
import { sql } from 'kysely'
import type { AgedIncident, Cursor } from '../../domain/retention.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, query } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import { AGED_COLUMNS, toAged } from './expired-alerts.ts'

type ExpiredIncident = AgedIncident & { readonly id: number; readonly uuid: string }

const incidents = query<{ organizationId: number; at: number; id: number; until: number; limit: number }>()(
  (builder, hole) =>
    builder
      .selectFrom('incidents')
      .select(['incidents.id', 'incidents.uuid', ...AGED_COLUMNS])
      .where('organization_id', '=', hole('organizationId'))
      .where('created_at', '<=', hole('until'))
      .where(sql<boolean>`(created_at, id) > (${hole('at')}, ${hole('id')})`)
      .orderBy('created_at')
      .orderBy('id')
      .limit(hole('limit')),
)

/** Returns an organization's next incidents after a cursor that were created at or before `until`, oldest first. */
export function listIncidentsByAge(
  db: Db,
  organizationId: number,
  after: Cursor,
  until: number,
  limit: number,
): ExpiredIncident[] {
  const rows = db.all(incidents, { organizationId, ...after, until, limit })
  return rows.map((row) => ({ ...toAged(row), uuid: uuidFromBytes(row.uuid) }))
}

/**
 * Deletes up to `limit` alerts and timeline entries of an incident. Once no alerts or entries are left, deletes the
 * incident. Returns the references in the incident's timeline.
 */
export function dismantleIncident(
  db: Db,
  id: number,
  limit: number,
): { readonly isGone: boolean; readonly refs: readonly string[] } {
  if (db.run(detach, { id, limit }) >= limit) return { isGone: false, refs: [] }
  const entries = db.all(entriesOf, { id, limit })
  const ids = JSON.stringify(entries.map((entry) => entry.id))
  db.run(dropEntries, { ids })
  const refs = entries.flatMap(({ ref }) => ref ?? [])
  if (entries.length >= limit) return { isGone: false, refs }
  return { isGone: db.run(db.sql.deleteFrom('incidents').where('id', '=', id)) === 1, refs }
}

const detach = query<{ id: number; limit: number }>()((builder, hole) =>
  builder
    .updateTable('alerts')
    .set({ incident_id: null })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('alerts as of_incident')
        .select('of_incident.id')
        .where('of_incident.incident_id', '=', hole('id'))
        .limit(hole('limit')),
    ),
)
const entriesOf = query<{ id: number; limit: number }>()((builder, hole) =>
  builder.selectFrom('timeline').select(['id', 'ref']).where('incident_id', '=', hole('id')).limit(hole('limit')),
)
const dropEntries = query<{ ids: string }>()((builder, hole) =>
  builder.deleteFrom('timeline').where('id', 'in', listed(hole('ids'))),
)

type ExpiredPipeline = {
  readonly id: number
  readonly eventId: number
  readonly startsAt: number
  readonly endsAt: number
  readonly receivedAt: number
  readonly isLinked: boolean
}

const pipelines = query<{ organizationId: number; at: number; id: number; until: number; limit: number }>()(
  (builder, hole) =>
    builder
      .selectFrom('pipelines')
      .innerJoin('events', 'events.id', 'pipelines.event_id')
      .select(['pipelines.id', 'pipelines.event_id as eventId', 'starts_at as startsAt', 'ends_at as endsAt'])
      .select('events.received_at as receivedAt')
      .select(
        sql<0 | 1>`EXISTS (SELECT 1 FROM correlations WHERE correlations.service_id = pipelines.service_id
          AND correlations.change_ref = pipelines.ref)`.as('isLinked'),
      )
      .where('pipelines.organization_id', '=', hole('organizationId'))
      .where('starts_at', '<=', hole('until'))
      .where(sql<boolean>`(starts_at, pipelines.id) > (${hole('at')}, ${hole('id')})`)
      .orderBy('starts_at')
      .orderBy('pipelines.id')
      .limit(hole('limit')),
)

/** Returns an organization's next pipelines after a cursor that started at or before `until`, oldest first. */
export function listPipelinesByAge(
  db: Db,
  organizationId: number,
  after: Cursor,
  until: number,
  limit: number,
): ExpiredPipeline[] {
  const rows = db.all(pipelines, { organizationId, ...after, until, limit })
  return rows.map((row) => ({ ...row, isLinked: row.isLinked === 1 }))
}

export function deletePipelines(db: Db, ids: readonly number[]): number {
  return db.run(dropPipelines, { ids: JSON.stringify(ids) })
}

const dropPipelines = query<{ ids: string }>()((builder, hole) =>
  builder.deleteFrom('pipelines').where('id', 'in', listed(hole('ids'))),
)

/** Deletes up to `limit` rejections received at or before `until`. Returns the number of deleted rows. */
export function deleteRejections(db: Db, organizationId: number, until: number, limit: number): number {
  return db.run(dropRejections, { organizationId, until, limit })
}

const dropRejections = query<{ organizationId: number; until: number; limit: number }>()((builder, hole) =>
  builder
    .deleteFrom('rejections')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('rejections as old')
        .select('old.id')
        .where('old.organization_id', '=', hole('organizationId'))
        .where('old.received_at', '<=', hole('until'))
        .limit(hole('limit')),
    ),
)

/** Returns the row ids of an organization's next services. */
export function listServiceKeys(db: Db, organizationId: number, after: number, limit: number): number[] {
  return db.all(serviceKeys, { organizationId, after, limit }).map(({ id }) => id)
}

const serviceKeys = query<{ organizationId: number; after: number; limit: number }>()((builder, hole) =>
  builder
    .selectFrom('services')
    .select('id')
    .where('id', '>', hole('after'))
    .where('organization_id', '=', hole('organizationId'))
    .orderBy('id')
    .limit(hole('limit')),
)

/**
 * Deletes images that a service pulled at or before `until`, except the newest image for each path, which may still be
 * running. Returns the number of deleted rows.
 */
export function deleteImages(db: Db, serviceId: number, until: number): number {
  return db.run(dropImages, { serviceId, until })
}

const dropImages = query<{ serviceId: number; until: number }>()((builder, hole) =>
  builder
    .deleteFrom('images')
    .where('service_id', '=', hole('serviceId'))
    .where('pulled_at', '<=', hole('until'))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('images as newer')
          .select('newer.tag')
          .whereRef('newer.service_id', '=', 'images.service_id')
          .whereRef('newer.path', '=', 'images.path')
          .where(sql<boolean>`(newer.pulled_at, newer.tag) > (images.pulled_at, images.tag)`),
      ),
    ),
)
