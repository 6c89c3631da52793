/** Opens SQLite, either from a checkout or from the executable. */
import { dirname, resolve } from 'node:path'
import SQLite from 'better-sqlite3'
import { builtSqliteVersion, sqliteAddon } from '../../assets.ts'
import { payloadIn } from '../payloads.ts'
import { StoreError } from './fault.ts'

/** Opens a connection like `new SQLite(file, options)`, but also works in the executable. */
export function openSqlite(file: string, options: Omit<SQLite.Options, 'nativeBinding'> = {}): SQLite.Database {
  const addon = addonFor(file)
  // The type allows only a path. The executable has no separate addon file, so the loaded addon is passed instead.
  const sqlite = new SQLite(file, addon ? { ...options, nativeBinding: addon as never } : options)
  return sqlite.function('payload', { deterministic: true }, payloadIn as never)
}

/** Returns the version of SQLite, for example 3.51.0. */
export function sqliteVersion(): string {
  const built = builtSqliteVersion()
  if (built) return built
  const sqlite = openSqlite(':memory:')
  try {
    return String(sqlite.prepare('SELECT sqlite_version()').pluck().get())
  } finally {
    sqlite.close()
  }
}

function addonFor(file: string): object | null {
  try {
    return sqliteAddon(dirname(resolve(file)))
  } catch (error) {
    throw new StoreError(error instanceof Error ? error.message : String(error))
  }
}
