/** Alternative names under which senders refer to a service. */
import type { AliasRef } from '../../domain/service/service.ts'
import type { Db } from '../sqlite/open.ts'
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

/** Lists a service's aliases, given its UUID. */
export function listAliasesOf(db: Db, organizationId: number, serviceId: string): AliasRef[] {
  const rowId = findServiceRowId(db, organizationId, serviceId)
  return rowId === undefined ? [] : listAliases(db, rowId)
}

/** Replaces a service's aliases. Throws SQLITE_CONSTRAINT if another service has one of these aliases. */
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
