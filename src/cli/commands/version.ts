/** incmon version: what runs here, for a person who reports a fault and for a script that compares. */
import { programCommit, programVersion } from '../../assets.ts'
import { sqliteVersion } from '../../store/sqlite/driver.ts'
import { MIGRATIONS } from '../../store/sqlite/migrate.ts'
import { print } from '../output.ts'

export function printVersion(options: { readonly json?: boolean }): void {
  const facts = {
    version: programVersion(),
    commit: programCommit(),
    node: process.versions.node,
    sqlite: sqliteVersion(),
    dataModel: MIGRATIONS.length,
  }
  const { version, commit, node, sqlite, dataModel } = facts
  const line = `incmon ${version}, commit ${commit}, Node ${node}, SQLite ${sqlite}, data model ${dataModel}`
  print(options.json ? JSON.stringify(facts) : line)
}
