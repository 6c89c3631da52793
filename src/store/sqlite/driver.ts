/** SQLite itself: the one way to a connection, from a checkout and from the executable. */
import { dirname, resolve } from 'node:path'
import SQLite from 'better-sqlite3'
import { builtSqliteVersion, sqliteAddon } from '../../assets.ts'

/** What keeps a file from being opened: one line with the remedy, for a person. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

/** As `new SQLite(file, options)`, wherever the program runs. */
export function openSqlite(file: string, options: Omit<SQLite.Options, 'nativeBinding'> = {}): SQLite.Database {
  const addon = addonFor(file)
  // The types know a path alone; the object is what a program without files hands over.
  return new SQLite(file, addon ? { ...options, nativeBinding: addon as never } : options)
}

/** Such as 3.51.0. */
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
