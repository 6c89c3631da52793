/** Helpers for tests of restore. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { listOrganizations } from '../../src/store/organizations.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { makeEvent, makeOrganization } from '../helpers/factory.ts'
import { newStore, temporaryDirectory } from '../helpers/store.ts'

/** Creates a closed database of about 5 MB with these organizations. */
export function make(file: string, ...organizations: readonly string[]): void {
  const db = newStore(file)
  for (const name of organizations) makeEvent(db, makeOrganization(db, name, 'Team'), {}, 'x'.repeat(2_000_000))
  db.close()
}

/** Creates a directory with Acme's database and a backup of Basil's. */
export function world(t: TestContext): string {
  const cwd = temporaryDirectory(t)
  make(join(cwd, 'incmon.db'), 'Acme')
  make(join(cwd, 'backup.db'), 'Basil')
  return cwd
}

/** Returns the names of the organizations in a database. */
export function namesIn(file: string): string[] {
  const db = openStore(file)
  try {
    return listOrganizations(db).map(({ name }) => name)
  } finally {
    db.close()
  }
}

/** Lists the other files in the directory. */
export function left(cwd: string): string[] {
  return readdirSync(cwd).filter((name) => !/^(incmon|backup)\.db(\.lock|\.sock)?$/.test(name))
}
