/** The names and images in the data of senders that refer to a service. */
import type { AliasRef } from '../../domain/service/service.ts'
import type { PulledImage } from '../../domain/state/effect.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { findServiceRowId } from './services.ts'

export function listAliases(db: Db, serviceId: number): AliasRef[] {
  return db.all(
    db.sql
      .selectFrom('aliases')
      .select(['kind', 'value'])
      .where('service_id', '=', serviceId)
      .orderBy('kind')
      .orderBy('value'),
  ) as AliasRef[]
}

/** Lists the aliases of a service by its UUID. */
export function listAliasesOf(db: Db, organizationId: number, serviceId: string): AliasRef[] {
  const rowId = findServiceRowId(db, organizationId, serviceId)
  return rowId === undefined ? [] : listAliases(db, rowId)
}

/** Replaces the aliases of a service. Throws SQLITE_CONSTRAINT if another service has one of them. */
export function replaceAliases(db: Db, organizationId: number, serviceId: number, refs: readonly AliasRef[]): void {
  db.run(db.sql.deleteFrom('aliases').where('service_id', '=', serviceId))
  const different = [...new Map(refs.map((ref) => [`${ref.kind} ${ref.value}`, ref])).values()]
  if (different.length === 0) return
  db.run(
    db.sql
      .insertInto('aliases')
      .values(
        different.map(({ kind, value }) => ({ organization_id: organizationId, kind, value, service_id: serviceId })),
      ),
  )
}

const insertProject = query<{ organizationId: number; project: string; serviceId: number }>()((sql, hole) =>
  sql
    .insertInto('image_projects')
    .values({ organization_id: hole('organizationId'), project: hole('project'), service_id: hole('serviceId') })
    .onConflict((conflict) => conflict.doNothing()),
)
const putImage = query<{ serviceId: number; path: string; tag: string; at: number }>()((sql, hole) =>
  sql
    .insertInto('images')
    .values({ service_id: hole('serviceId'), path: hole('path'), tag: hole('tag'), pulled_at: hole('at') })
    .onConflict((conflict) => conflict.columns(['service_id', 'path', 'tag']).doUpdateSet({ pulled_at: hole('at') })),
)

/** Stores an image that a service pulled. For a new image it also stores the CI projects that may have built it. */
export function storeImage(
  db: Db,
  pulled: {
    readonly organizationId: number
    readonly serviceId: number
    readonly image: PulledImage
    readonly isNew: boolean
  },
): void {
  const { organizationId, serviceId, image, isNew } = pulled
  db.run(putImage, { serviceId, path: image.path, tag: image.tag ?? '', at: image.at })
  if (isNew) for (const project of image.projects) db.run(insertProject, { organizationId, project, serviceId })
}

const MAX_IMAGES = 100

/** Lists the images of a service, newest first. */
export function listImages(db: Db, serviceId: number): { readonly path: string; readonly tag: string | null }[] {
  const rows = db.sql.selectFrom('images').select(['path', 'tag']).where('service_id', '=', serviceId)
  return db
    .all(rows.orderBy('pulled_at', 'desc').limit(MAX_IMAGES))
    .map(({ path, tag }) => ({ path, tag: tag || null }))
}
