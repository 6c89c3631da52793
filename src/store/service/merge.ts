import { sql } from 'kysely'
import type { Db } from '../sqlite/open.ts'

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
