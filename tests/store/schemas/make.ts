/**
 * Makes the file of the newest data model, with what the interface answers about it: 0001.db and 0001.json, …
 *
 * Every data model that was ever current keeps its file: a test upgrades each of them to the newest, and asks again.
 * So whoever adds the migration 0002 makes the file of 0001 before, on the commit before:
 *
 *     npm exec -c 'node --import tsx tests/store/schemas/make.ts'
 *
 * A file is never made again: a newer program would write other rows than the one that people upgrade from. An answer
 * is changed by hand, where the contract changed on purpose.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import SQLite from 'better-sqlite3'
import { MIGRATIONS, migrate } from '../../../src/store/sqlite/migrate.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import { NOON } from '../../helpers/factory.ts'
import { askAll, asking, type Recording } from './answers.ts'
import { tell } from './story.ts'

const name = String(MIGRATIONS.length).padStart(4, '0')
const [file, golden] = ['db', 'json'].map((end) => fileURLToPath(new URL(`${name}.${end}`, import.meta.url)))
if (!file || !golden || existsSync(file)) throw new Error(`${file} is there already, and is never made again`)

const directory = mkdtempSync(join(tmpdir(), 'incmon-schema-'))
try {
  const made = join(directory, 'made.db')
  const story = await withStore(made, (db) => tell(db))
  shrink(made)
  // Asked about a copy, since a token remembers when it was last used.
  const copy = join(directory, 'copy.db')
  copyFileSync(made, copy)
  const answers = await withStore(copy, (db) => askAll(asking(db, story)))
  copyFileSync(made, file)
  writeFileSync(golden, textOf({ ...story, answers }))
  console.log(`made ${file} and ${golden} (${answers.length} answers)`)
} finally {
  rmSync(directory, { recursive: true })
}

async function withStore<Result>(path: string, work: (db: ReturnType<typeof openStore>) => Promise<Result>) {
  const db = openStore(path)
  try {
    migrate(db, NOON)
    return await work(db)
  } finally {
    db.close()
  }
}

/** With pages of 1 kB, since most tables hold a few rows only. */
function shrink(path: string): void {
  const sqlite = new SQLite(path)
  sqlite.exec('PRAGMA journal_mode = DELETE; PRAGMA page_size = 1024; VACUUM')
  sqlite.close()
}

/** An answer a line, so that a difference shows which. */
function textOf({ now, tokens, answers }: Recording): string {
  const lines = answers.map((answer) => `    ${JSON.stringify(answer)}`)
  return `{\n  "now": ${now},\n  "tokens": ${JSON.stringify(tokens)},\n  "answers": [\n${lines.join(',\n')}\n  ]\n}\n`
}
