/** Organizations: the tenants of a database. */
import { type Plan, type Settings, withDefaults } from '../domain/organization.ts'
import type { Db } from './sqlite/open.ts'
import { uuidBytes, uuidFromBytes } from './sqlite/uuid.ts'

/** `rowId` is never exposed to clients. Times are Unix times in milliseconds. */
export type OrganizationRecord = {
  readonly rowId: number
  readonly id: string
  readonly name: string
  readonly plan: Plan
  readonly settings: Settings
  readonly createdAt: number
}

export function listOrganizations(db: Db): OrganizationRecord[] {
  return db.all(select(db).orderBy('name')).map(toRecord)
}

export function findOrganization(db: Db, rowId: number): OrganizationRecord | undefined {
  const row = db.first(select(db).where('id', '=', rowId))
  return row && toRecord(row)
}

export function findOrganizationByName(db: Db, name: string): OrganizationRecord | undefined {
  const row = db.first(select(db).where('name', '=', name))
  return row && toRecord(row)
}

/** Inserts an organization. Throws SQLITE_CONSTRAINT_UNIQUE if the name is taken. */
export function insertOrganization(
  db: Db,
  made: { readonly id: string; readonly name: string; readonly plan: Plan; readonly createdAt: number },
): void {
  const { id, name, plan, createdAt } = made
  db.run(db.sql.insertInto('organizations').values({ uuid: uuidBytes(id), name, plan, created_at: createdAt }))
}

/** Updates an organization. Throws SQLITE_CONSTRAINT_UNIQUE if the name is taken. */
export function updateOrganization(
  db: Db,
  rowId: number,
  to: { readonly name: string; readonly plan: Plan; readonly settings: Settings },
): void {
  const { name, plan, settings } = to
  db.run(
    db.sql
      .updateTable('organizations')
      .set({ name, plan, settings: JSON.stringify(settings) })
      .where('id', '=', rowId),
  )
}

function select(db: Db) {
  return db.sql.selectFrom('organizations').select(['id', 'uuid', 'name', 'plan', 'settings', 'created_at'])
}

type OrganizationRow = { id: number; uuid: Buffer; name: string; plan: Plan; settings: string; created_at: number }

function toRecord(row: OrganizationRow): OrganizationRecord {
  return {
    rowId: row.id,
    id: uuidFromBytes(row.uuid),
    name: row.name,
    plan: row.plan,
    settings: withDefaults(JSON.parse(row.settings)),
    createdAt: row.created_at,
  }
}
