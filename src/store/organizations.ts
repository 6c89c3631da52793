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
export function insertOrganization(db: Db, made: Pick<OrganizationRecord, 'id' | 'name' | 'plan' | 'createdAt'>): void {
  const { id, name, plan, createdAt } = made
  db.run(db.sql.insertInto('organizations').values({ uuid: uuidBytes(id), name, plan, created_at: createdAt }))
}

function select(db: Db) {
  const columns = ['id as rowId', 'uuid', 'name', 'plan', 'settings', 'created_at as createdAt'] as const
  return db.sql.selectFrom('organizations').select(columns)
}

type OrganizationRow = Omit<OrganizationRecord, 'id' | 'settings'> & { uuid: Buffer; settings: string }

function toRecord({ uuid, settings, ...row }: OrganizationRow): OrganizationRecord {
  return { ...row, id: uuidFromBytes(uuid), settings: withDefaults(JSON.parse(settings)) }
}
