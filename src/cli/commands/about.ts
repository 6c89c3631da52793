/** incmon version and licenses: prints the versions and licenses of the program and its components. */
import type { Command } from 'commander'
import { type License, listLicenses, programCommit, programVersion } from '../../assets.ts'
import { suggestion } from '../../domain/suggestion.ts'
import { sqliteVersion } from '../../store/sqlite/driver.ts'
import { MIGRATIONS } from '../../store/sqlite/schema/migrate.ts'
import { CommandError } from '../failure.ts'
import { print } from '../output.ts'
import { addCommand } from '../plain-command.ts'

export function addAbout(program: Command): void {
  const doc = 'print the versions of incmon, Node, SQLite and the schema, and the commit'
  addCommand(program, 'version', doc).action(printVersion)
  addCommand(program, 'licenses', 'print the licenses of the bundled software')
    .argument('[part]', 'print only the license of this component, such as hono')
    .action(printLicenses)
}

function printVersion(options: { readonly json?: boolean }): void {
  const facts = {
    version: programVersion(),
    commit: programCommit(),
    node: process.versions.node,
    sqlite: sqliteVersion(),
    dataModel: MIGRATIONS.length,
  }
  const { version, commit, node, sqlite, dataModel } = facts
  const line = `incmon ${version}, commit ${commit}, Node ${node}, SQLite ${sqlite}, schema version ${dataModel}`
  print(options.json ? JSON.stringify(facts) : line)
}

function printLicenses(part: string | undefined, options: { readonly json?: boolean }): void {
  const all = listLicenses()
  const chosen = part === undefined ? all : [named(all, part)]
  print(options.json ? JSON.stringify(chosen, null, 2) : chosen.map(shown).join('\n\n\n'))
}

function named(all: readonly License[], part: string): License {
  const found = all.find(({ name }) => name.toLowerCase() === part.toLowerCase())
  if (found) return found
  const names = all.map(({ name }) => name)
  throw new CommandError(`incmon does not include a component named ${part}: ${suggestion(part, names)}`)
}

function shown({ name, version, license, text }: License): string {
  const title = `${name} ${version}, ${license}`
  return `${title}\n${'='.repeat(title.length)}\n\n${text}`
}
