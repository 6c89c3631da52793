/** Images that services pull, and the CI projects that may have built them. */
import type { Name } from '../domain/service/service.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'

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

const known = query<{ serviceId: number; path: string; tag: string }>()((sql, hole) =>
  sql
    .selectFrom('images')
    .select('pulled_at')
    .where('service_id', '=', hole('serviceId'))
    .where('path', '=', hole('path'))
    .where('tag', '=', hole('tag')),
)

/** Remembers that the service pulled an image, and under which projects it can be found; whether that is news. */
export function storeImage(
  db: Db,
  pulled: {
    readonly organizationId: number
    readonly serviceId: number
    readonly path: string
    readonly tag: string | null
    readonly at: number
    readonly projects: readonly string[]
  },
): boolean {
  const { organizationId, serviceId, path, tag, at, projects } = pulled
  const isNew = db.first(known, { serviceId, path, tag: tag ?? '' }) === undefined
  db.run(putImage, { serviceId, path, tag: tag ?? '', at })
  if (isNew) for (const project of projects) db.run(insertProject, { organizationId, project, serviceId })
  return isNew
}

const MOST_IMAGES = 100

/** What the service pulled, the newest first. */
export function listImages(db: Db, serviceId: number): { readonly path: string; readonly tag: string | null }[] {
  const rows = db.sql.selectFrom('images').select(['path', 'tag']).where('service_id', '=', serviceId)
  return db
    .all(rows.orderBy('pulled_at', 'desc').limit(MOST_IMAGES))
    .map(({ path, tag }) => ({ path, tag: tag || null }))
}

/** The services whose pulled images belong to the project; `project` in lower case. */
export function listServicesOfProject(
  db: Db,
  organizationId: number,
  project: string,
): (Name & { readonly id: number; readonly cluster: string })[] {
  return db.all(
    db.sql
      .selectFrom('image_projects')
      .innerJoin('services', 'services.id', 'image_projects.service_id')
      .select(['services.id', 'services.cluster', 'services.namespace', 'services.name'])
      .where('image_projects.organization_id', '=', organizationId)
      .where('image_projects.project', '=', project)
      .orderBy('services.id'),
  )
}
