/** Creates a database with a long history from `seed.sql`, and optionally keeps it for the next run. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import SQLite from 'better-sqlite3'
import { rounded } from './report.ts'
import { tokenFor } from './servers.ts'

const SEED = fileURLToPath(new URL('seed.sql', import.meta.url))
const MODEL = fileURLToPath(new URL('../../sql/', import.meta.url))
const CHUNK = 100_000
/** The end of the history. It is fixed, so every seed is identical. */
export const SEEDED_NOW = Date.UTC(2026, 10, 1)

/**
 * Returns the file with this many rows and the current schema version. If missing, it is created, which takes about a
 * minute per million rows.
 */
export function seededDatabase(rows: number, tell: (line: string) => void): string {
  const file = join(tmpdir(), `incmon-bench-${rows}-${modelHash()}.db`)
  if (existsSync(file)) return file
  const part = `${file}.part`
  forget(part)
  try {
    tokenFor(part)
    fill(part, rows, tell)
    renameSync(part, file)
  } finally {
    forget(part)
  }
  return file
}

/** Deletes the file and everything that SQLite and the server created next to it. */
export function forget(file: string): void {
  for (const end of ['', '-wal', '-shm', '.lock']) rmSync(file + end, { force: true })
}

function fill(file: string, rows: number, tell: (line: string) => void): void {
  const sqlite = new SQLite(file)
  try {
    sqlite.pragma('journal_mode = DELETE')
    sqlite.pragma('synchronous = OFF')
    sqlite.pragma('cache_size = -200000')
    const indexes = sqlite
      .prepare<[], { name: string; sql: string }>(
        `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql <> ''`,
      )
      .all()
    // Indexes are built after the rows are inserted. Maintaining an index of random services would cost more than all
    // the rows.
    for (const { name } of indexes) sqlite.exec(`DROP INDEX "${name}"`)
    for (const statement of statements()) insert(sqlite, statement, rows, tell)
    for (const { sql } of indexes) sqlite.exec(sql)
    tell(`seeded ${rounded(rows)} alerts and as many events`)
  } finally {
    sqlite.close()
  }
}

function statements(): string[] {
  const text = readFileSync(SEED, 'utf8').replace(/^--.*\n/gm, '')
  return text.split(/;\n/).filter((one) => one.trim() !== '')
}

function insert(sqlite: SQLite.Database, text: string, rows: number, tell: (line: string) => void): void {
  const [, table = ''] = /INSERT INTO (\w+)/.exec(text) ?? []
  const statement = sqlite.prepare(text)
  const step = text.includes(':first') ? CHUNK : rows
  for (let first = 1; first <= rows; first += step) {
    const last = Math.min(rows, first + step - 1)
    // BigInt values become SQLite integers; numbers would become floats.
    const values = { rows, now: SEEDED_NOW, first, last }
    statement.run(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, BigInt(value)])))
    if (step === CHUNK) tell(`seeding ${table}: ${rounded(last)} of ${rounded(rows)}`)
  }
}

function modelHash(): string {
  const hash = createHash('sha256').update(readFileSync(SEED))
  for (const name of readdirSync(MODEL).sort()) hash.update(readFileSync(join(MODEL, name)))
  return hash.digest('hex').slice(0, 12)
}
