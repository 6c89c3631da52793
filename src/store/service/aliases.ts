/** Alternative names under which senders refer to a service. */
import type { AliasRef } from '../../domain/service/service.ts'
import type { Db } from '../sqlite/open.ts'
import { findServiceRowId } from './services.ts'

/** Lists a service's aliases, given its UUID. */
export function listAliases(db: Db, organizationId: number, serviceId: string): AliasRef[] {
  const rowId = findServiceRowId(db, organizationId, serviceId)
  if (rowId === undefined) return []
  const aliases = db.sql.selectFrom('aliases').select(['kind', 'value']).where('service_id', '=', rowId)
  return db.all(aliases.orderBy('kind').orderBy('value')) as AliasRef[]
}

/** Replaces a service's aliases. Throws SQLITE_CONSTRAINT if another service has one of these aliases. */
export function replaceAliases(db: Db, organizationId: number, serviceId: number, refs: readonly AliasRef[]): void {
  db.run(db.sql.deleteFrom('aliases').where('service_id', '=', serviceId))
  const different = [...new Map(refs.map((ref) => [`${ref.kind} ${ref.value}`, ref])).values()]
  if (different.length === 0) return
  const owner = { organization_id: organizationId, service_id: serviceId }
  db.run(db.sql.insertInto('aliases').values(different.map(({ kind, value }) => ({ ...owner, kind, value }))))
}
