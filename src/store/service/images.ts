/** The images that services pull, and the CI projects that may have built these images. */
import type { Effect } from '../../engine/state/effect.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'

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

/**
 * Stores an image that a service pulled. If the image is new, also stores the CI projects that may have built the
 * image.
 */
export function storeImage(
  db: Db,
  { organizationId, serviceId, image, isNew }: Extract<Effect, { readonly kind: 'image-pulled' }>,
): void {
  db.run(putImage, { serviceId, path: image.path, tag: image.tag ?? '', at: image.at })
  if (isNew) for (const project of image.projects) db.run(insertProject, { organizationId, project, serviceId })
}

const MAX_IMAGES = 100

/** Lists a service's images, newest first. */
export function listImages(db: Db, serviceId: number): { readonly path: string; readonly tag: string | null }[] {
  const rows = db.sql.selectFrom('images').select(['path', 'tag']).where('service_id', '=', serviceId)
  return db
    .all(rows.orderBy('pulled_at', 'desc').limit(MAX_IMAGES))
    .map(({ path, tag }) => ({ path, tag: tag || null }))
}
