/** What tests of restore begin with: a database, a backup of another, and a look at what is left of them. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { listOrganizations } from '../../src/store/organizations.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { migrate } from '../../src/store/sqlite/schema/migrate.ts'
import { makeEvent, makeOrganization } from '../helpers/factory.ts'
import { temporaryDirectory } from '../helpers/store.ts'

/** A database of these organizations, of about 5 MB, closed. */
export function make(file: string, ...organizations: readonly string[]): void {
  const db = openStore(file)
  migrate(db, 0)
  for (const name of organizations) makeEvent(db, makeOrganization(db, name, 'Team'), {}, 'x'.repeat(2_000_000))
  db.close()
}

/** A directory with a database of Acme now, and a backup of when it was Basil's. */
export function world(t: TestContext): string {
  const cwd = temporaryDirectory(t)
  make(join(cwd, 'incmon.db'), 'Acme')
  make(join(cwd, 'backup.db'), 'Basil')
  return cwd
}

/** The organizations in a database. */
export function namesIn(file: string): string[] {
  const db = openStore(file)
  try {
    return listOrganizations(db).map(({ name }) => name)
  } finally {
    db.close()
  }
}

/** What else lies in the directory. */
export function left(cwd: string): string[] {
  return readdirSync(cwd).filter((name) => !/^(incmon|backup)\.db(\.lock|\.sock)?$/.test(name))
}
