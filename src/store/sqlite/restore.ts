/** Replaces the database with a verified copy, and keeps the old database next to it. */
import { existsSync, fsyncSync, linkSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type SQLite from 'better-sqlite3'
import { openSqlite } from './driver.ts'
import { isBusy, isDamage, StoreError } from './fault.ts'
import { APPLICATION_ID, applicationIn, applicationOf, copyOwner, HEADER } from './file.ts'
import { findSchemaFaults, SCHEMA_QUERY, type SchemaObject } from './schema/expected.ts'
import { MIGRATIONS } from './schema/migrate.ts'
import { type BrokenReference, describeReference, faultIn } from './sound.ts'
import { COMPANIONS, type Part, syncDirectory } from './temporary-file.ts'

/** The suffixes of files that can contain data missing from the database file. */
const LOGS = ['-wal', '-journal'] as const
/** How long to wait for a process that is about to finish, in milliseconds. */
const BUSY_TIMEOUT_MS = 2_000

/**
 * Throws if the copy is damaged or is not an incmon database with this schema version or an older one.
 * @param name the name of the copy to use in messages
 * @throws StoreError that says what is wrong and what to do
 */
export function requireRestorable(copy: string, name: string): void {
  refuseForeignBackup(applicationOf(copy), name)
  const fault = faultIn(copy)
  if (fault) throw new StoreError(`${name} is damaged or truncated (${fault}): choose another backup`)
  const { model, schema, references } = contentOf(copy)
  if (model === 0) throw new StoreError(`${name} is empty: choose another backup`)
  if (model > MIGRATIONS.length) {
    throw new StoreError(
      `${name} has schema version ${model}, but this version of incmon supports at most ${MIGRATIONS.length}: use a newer version of incmon, or choose an older backup`,
    )
  }
  const [difference] = findSchemaFaults(schema, model)
  if (difference)
    throw new StoreError(
      `${name} does not have the schema of an incmon database (${difference}): choose another backup`,
    )
  const [reference] = references
  if (reference) throw new StoreError(`${name} has broken references (${reference}): choose another backup`)
}

/** Returns the schema version of a copy, its tables, and one line per reference to a missing row. */
function contentOf(copy: string): {
  readonly model: number
  readonly schema: readonly SchemaObject[]
  readonly references: readonly string[]
} {
  const sqlite = openSqlite(copy)
  try {
    const broken = sqlite.pragma('foreign_key_check') as BrokenReference[]
    return {
      model: Number(sqlite.pragma('user_version', { simple: true })),
      schema: sqlite.prepare(SCHEMA_QUERY).all() as SchemaObject[],
      references: broken.map(describeReference),
    }
  } finally {
    sqlite.close()
  }
}

/**
 * Refuses a file that is not an incmon database.
 * @param application the application ID in the file's header
 * @param name the name of the file to use in messages
 * @throws StoreError
 */
export function refuseForeignBackup(application: ReturnType<typeof applicationOf>, name: string): void {
  if (application === 'empty') throw new StoreError(`${name} is empty: choose another backup`)
  if (application === null) throw new StoreError(`${name} is not a database: choose a file that "incmon backup" wrote`)
  if (application !== APPLICATION_ID) {
    throw new StoreError(`${name} belongs to another program: choose a file that "incmon backup" wrote`)
  }
}

/**
 * Passes a backup through unchanged. Fails early if the input has no incmon header or is longer than the header says,
 * because standard input can be endless.
 * @param name the name of the backup to use in messages
 */
export function refuseEndless(name: string) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let [header, size, passed] = [Buffer.alloc(0), null as number | null, 0]
    for await (const chunk of chunks) {
      if (header.length < HEADER) {
        header = Buffer.concat([header, chunk.subarray(0, HEADER - header.length)])
        if (header.length === HEADER) {
          refuseForeignBackup(applicationIn(header), name)
          size = sizeIn(header)
        }
      }
      passed += chunk.length
      if (size !== null && passed > size) {
        throw new StoreError(`${name} has extra data after the ${size} bytes of its database: choose another backup`)
      }
      yield chunk
    }
  }
}

/** Returns the size of the database in bytes from its header, or null if the header does not contain the size. */
function sizeIn(header: Buffer): number | null {
  const [size, pages] = [header.readUInt16BE(16), header.readUInt32BE(28)]
  // The page count is valid only if both values were written together.
  if (pages === 0 || header.readUInt32BE(24) !== header.readUInt32BE(92)) return null
  return pages * (size === 1 ? 65_536 : size)
}

/**
 * Replaces the database with the part atomically: even after a power failure, either the old or the new file is in
 * place. The old database, including its log, is kept as `<file>.before-restore`, or with `-2`, `-3`, … appended. The
 * caller must hold the server lock.
 * @param file the path with all links resolved
 * @returns the path of the old database, or null if there was none
 * @throws StoreError if the file is in use or belongs to another program; nothing is changed in that case
 */
export function replaceDatabase(file: string, part: Part): string | null {
  const exists = existsSync(file) && statSync(file).size > 0
  if (exists) refuseForeign(file)
  // All steps that can fail come first, before anything is changed.
  fsyncSync(part.handle)
  const kept = keptNameOf(file)
  const held = exists ? holdAlone(file, kept) : null
  try {
    copyOwner(part.path, existsSync(file) ? file : dirname(file))
    // A hard link keeps the old file without copying it, and the database path exists at all times.
    if (exists) linkSync(file, kept)
    else linkLogs(file, kept)
    // Any log at this point belongs to the old file. The new file must never use that log.
    removeLogs(file)
    syncDirectory(dirname(file))
    part.publish()
    return exists ? kept : null
  } finally {
    held?.close()
  }
}

function refuseForeign(file: string): void {
  const application = applicationOf(file)
  if (application === null || application === APPLICATION_ID) return
  throw new StoreError(`${file} belongs to another program: choose another --database`)
}

/** Returns the path under which the next restore keeps the old database. */
export function keptNameOf(file: string): string {
  for (let number = 1; ; number += 1) {
    const name = `${file}.before-restore${number === 1 ? '' : `-${number}`}`
    if (!['', ...COMPANIONS].some((end) => existsSync(name + end))) return name
  }
}

/**
 * Checkpoints the log, and locks out all other processes until the connection is closed. Waiting processes are refused,
 * because the journal mode has changed. If the file is damaged, returns null and keeps the log as well.
 */
function holdAlone(file: string, kept: string): SQLite.Database | null {
  // This must happen before SQLite opens the file, because SQLite deletes a log that it cannot read.
  linkLogs(file, kept)
  const sqlite = openSqlite(file, { timeout: BUSY_TIMEOUT_MS })
  try {
    sqlite.pragma('journal_mode = DELETE')
    sqlite.exec('BEGIN EXCLUSIVE')
    // Another process changed the mode back in the meantime.
    if (sqlite.pragma('journal_mode', { simple: true }) !== 'delete') throw inUse(file)
    removeLogs(kept)
    return sqlite
  } catch (error) {
    sqlite.close()
    if (isDamage(error)) return null
    removeLogs(kept)
    throw isBusy(error) ? inUse(file) : error
  }
}

function linkLogs(file: string, kept: string): void {
  for (const end of LOGS) if (existsSync(file + end)) linkSync(file + end, kept + end)
}

function removeLogs(file: string): void {
  for (const end of COMPANIONS) rmSync(file + end, { force: true })
}

function inUse(file: string): StoreError {
  return new StoreError(`${file} is in use by another process: wait for that process or stop it, then restore again`)
}
