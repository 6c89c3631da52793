/** Checks whether a cluster is in use, and deletes all records of a cluster. */
import { deleteEvents } from '../payloads.ts'
import type { Db } from '../sqlite/open.ts'
export function findClusterUse(db: Db, organizationId: number, cluster: string): boolean {
  return db.first(servicesOf(db, organizationId, cluster).limit(1)) !== undefined
}

/**
 * Deletes a cluster's senders and services, including their alerts, events, changes, incidents and postmortems. Must be
 * called in a transaction, and the live state must be reloaded afterwards.
 */
export function deleteCluster(db: Db, organizationId: number, cluster: string): void {
  const services = servicesOf(db, organizationId, cluster)
  const incidents = db.sql.selectFrom('incidents').select('id').where('service_id', 'in', services)
  const alerts = db.sql.selectFrom('alerts').select('id').where('service_id', 'in', services)
  const senders = db.sql
    .selectFrom('senders')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('cluster', '=', cluster)
  const events = db.sql
    .selectFrom('events')
    .select('id')
    .where((eb) => eb.or([eb('service_id', 'in', services), eb('alert_id', 'in', alerts)]))
  // Rows are deleted before the rows that they reference.
  db.run(db.sql.deleteFrom('correlations').where('alert_id', 'in', alerts))
  db.run(db.sql.deleteFrom('correlations').where('change_event_id', 'in', events))
  db.run(db.sql.deleteFrom('postmortems').where('incident_id', 'in', incidents))
  db.run(db.sql.deleteFrom('timeline').where('incident_id', 'in', incidents))
  for (const table of ['pipelines', 'image_projects', 'images', 'aliases'] as const) {
    db.run(db.sql.deleteFrom(table).where('service_id', 'in', services))
  }
  // A user may have merged an incident of another service into one of these incidents.
  db.run(db.sql.updateTable('alerts').set({ incident_id: null }).where('incident_id', 'in', incidents))
  deleteEvents(
    db,
    db.all(events).map(({ id }) => id),
  )
  db.run(db.sql.deleteFrom('alerts').where('service_id', 'in', services))
  db.run(db.sql.deleteFrom('incidents').where('service_id', 'in', services))
  db.run(db.sql.deleteFrom('services').where('id', 'in', services))
  db.run(db.sql.deleteFrom('groups').where('sender_id', 'in', senders))
  db.run(db.sql.deleteFrom('senders').where('id', 'in', senders))
}

function servicesOf(db: Db, organizationId: number, cluster: string) {
  return db.sql
    .selectFrom('services')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('cluster', '=', cluster)
}
