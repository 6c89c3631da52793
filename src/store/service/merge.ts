import type { Db } from '../sqlite/open.ts'

/** Moves all records from `from` to `into` and deletes `from`. Must be called in a transaction. */
export function moveService(db: Db, from: number, into: number): void {
  const owned = { service_id: into }
  for (const table of ['events', 'alerts', 'incidents', 'pipelines', 'correlations', 'aliases'] as const) {
    db.run(db.sql.updateTable(table).set(owned).where('service_id', '=', from))
  }
  const projects = db.sql
    .selectFrom('image_projects')
    .select(['organization_id', 'project'])
    .select((eb) => eb.val(into).as('service_id'))
    .where('service_id', '=', from)
  db.run(
    db.sql
      .insertInto('image_projects')
      .columns(['organization_id', 'project', 'service_id'])
      .expression(projects)
      .onConflict((conflict) => conflict.doNothing()),
  )
  db.run(db.sql.deleteFrom('image_projects').where('service_id', '=', from))
  const images = db.sql
    .selectFrom('images')
    .select((eb) => eb.val(into).as('service_id'))
    .select(['path', 'tag', 'pulled_at'])
    .where('service_id', '=', from)
  db.run(
    db.sql
      .insertInto('images')
      .columns(['service_id', 'path', 'tag', 'pulled_at'])
      .expression(images)
      .onConflict((conflict) => conflict.doNothing()),
  )
  db.run(db.sql.deleteFrom('images').where('service_id', '=', from))
  db.run(carryTimes(db, from, into))
  db.run(db.sql.deleteFrom('services').where('id', '=', from))
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
