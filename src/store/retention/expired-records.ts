/** Finds and deletes expired incidents, pipelines, images, groups and rejections. */
import { sql } from 'kysely'
import type { AgedIncident } from '../../domain/retention.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { AGED_COLUMNS, toAged } from './expired-events.ts'
import type { NextRows } from './pruning.ts'

const incidents = query<NextRows>()((builder, hole) =>
  builder
    .selectFrom('incidents')
    .select(['incidents.id', ...AGED_COLUMNS])
    .where('organization_id', '=', hole('organizationId'))
    .where('created_at', '<=', hole('until'))
    .where(sql<boolean>`(created_at, id) > (${hole('at')}, ${hole('id')})`)
    .orderBy('created_at')
    .orderBy('id')
    .limit(hole('limit')),
)

/** Returns the next incidents by time of creation. */
export function listIncidentsByAge(db: Db, next: NextRows): (AgedIncident & { readonly id: number })[] {
  return db.all(incidents, next).map(toAged)
}

/**
 * Detaches up to `limit` alerts of an incident, or deletes up to `limit` of its timeline entries. Once none are left,
 * deletes the incident and its postmortems. Returns whether the incident is gone.
 */
export function dismantleIncident(db: Db, id: number, limit: number): boolean {
  const alerts = db.sql.selectFrom('alerts').select('id').where('incident_id', '=', id).limit(limit)
  const detached = db.run(db.sql.updateTable('alerts').set({ incident_id: null }).where('id', 'in', alerts))
  if (detached >= limit) return false
  const entries = db.sql.selectFrom('timeline').select('id').where('incident_id', '=', id).limit(limit)
  if (db.run(db.sql.deleteFrom('timeline').where('id', 'in', entries)) >= limit) return false
  db.run(db.sql.deleteFrom('postmortems').where('incident_id', '=', id))
  return db.run(db.sql.deleteFrom('incidents').where('id', '=', id)) === 1
}

const pipelines = query<NextRows>()((builder, hole) =>
  builder
    .selectFrom('pipelines')
    .innerJoin('events', 'events.id', 'pipelines.event_id')
    .select(['pipelines.id', 'starts_at as startsAt', 'ends_at as endsAt'])
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

/** Returns the next pipelines by start. `isLinked` is 1 if the pipeline has a link, and 0 otherwise. */
export function listPipelinesByAge(db: Db, next: NextRows) {
  return db.all(pipelines, next)
}

/** Deletes up to `limit` rejections received at or before `until`. Returns the number of deleted rows. */
export function deleteRejections(db: Db, organizationId: number, until: number, limit: number): number {
  const old = db.sql
    .selectFrom('rejections')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('received_at', '<=', until)
    .limit(limit)
  return db.run(db.sql.deleteFrom('rejections').where('id', 'in', old))
}

/** Returns the row ids of an organization's next services that have images. */
export function listServicesWithImages(db: Db, organizationId: number, after: number, limit: number): number[] {
  const next = db.sql
    .selectFrom('images')
    .distinct()
    .select('service_id as id')
    .where('service_id', '>', after)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('services')
          .select('services.id')
          .whereRef('services.id', '=', 'images.service_id')
          .where('services.organization_id', '=', organizationId),
      ),
    )
  return db.all(next.orderBy('service_id').limit(limit)).map(({ id }) => id)
}

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
