/** The one connection to the one file: opened so that a commit is on disk, and checked that it is. */
import { chownSync, closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type SQLite from 'better-sqlite3'
import type { Compilable, Kysely } from 'kysely'
import {
  ahead,
  type Begin,
  type Checkpoint,
  createCheckpoint,
  createRefresh,
  createSync,
  createTransaction,
  type Transaction,
} from './commit.ts'
import { createIdentities, type Identities } from './identities.ts'
import { createMemory, type Effect, effectOf, type Memory } from './memory.ts'
import { builder, type Query } from './query.ts'
import type { Schema } from './schema.ts'
import { openSqlite, StoreError } from './sqlite.ts'

export { StoreError } from './sqlite.ts'

/** Marks our files in their header: 'incm'. */
export const APPLICATION_ID = 0x696e636d

/**
 * A database: queries are built by Kysely (`db.sql`) and run here, synchronously and prepared once.
 * Synchronous on purpose: nothing else runs between the statements of a transaction, so no request can fall into another's.
 */
export type Db = {
  readonly file: string
  readonly sql: Kysely<Schema>
  readonly all: Run<'all'>
  readonly first: Run<'first'>
  /** Runs a change; the number of rows it touched. */
  readonly run: Run<'number'>
  /** Runs an insert; the new row's id. */
  readonly insert: Run<'number'>
  /** All or nothing, and on disk when it returns. Inside another transaction it is a savepoint. */
  readonly transaction: Transaction
  /** The same, but on disk only once a `sync` that began after it has resolved: nobody waits for the disk meanwhile. */
  readonly transactionAhead: Transaction
  readonly checkpoint: Checkpoint
  /** Rejects where the disk fails: what was committed ahead may then be lost, and no more writes are taken. */
  readonly sync: () => Promise<void>
  /** What is remembered of rows that are asked for again and again; to be used inside a transaction. */
  readonly memory: Memory
  /** Whose names active alerts have; only inside a transaction. */
  readonly identities: Identities
  /** Before memory is used outside a transaction: forgets what another process may have changed. */
  readonly refresh: () => void
  /** Statements without parameters, several at once: migrations. */
  readonly execute: (text: string) => void
  readonly pragma: (text: string) => unknown
  /** Copies every page into an empty file, as many at a time as `step` says, which is told how many remain. */
  readonly copyTo: (file: string, step: (remaining: number) => number) => Promise<void>
  readonly close: () => void
}

/** Takes a query as it was just built, or one compiled before with its arguments (`query.ts`). */
type Run<Kind extends 'all' | 'first' | 'number'> = {
  <Row>(query: Compilable<Row>): Result<Kind, Row>
  <Args, Row>(query: Query<Args, Row>, args: Args): Result<Kind, Row>
}
type Result<Kind, Row> = Kind extends 'all' ? Row[] : Kind extends 'first' ? Row | undefined : number

export function openStore(file: string, options: { readonly busyMs?: number } = {}): Db {
  refuseForeignFile(file)
  return writable(connect(file), file, options.busyMs)
}

/**
 * Opens once more what this process has open already. SQLite alone touches the file then: whoever closes another
 * descriptor of it ends the locks of the whole process, and a program that looks into the file would, as it seems to be
 * the last, remove the log that the server writes.
 */
export function openBeside(file: string, options: { readonly busyMs: number }): Db {
  return writable(openSqlite(file, { fileMustExist: true }), file, options.busyMs)
}

function writable(sqlite: SQLite.Database, file: string, busyMs = 5000): Db {
  sqlite.pragma(`busy_timeout = ${busyMs}`)
  secure(sqlite, file, busyMs)
  return over(sqlite, file, 'BEGIN IMMEDIATE')
}

/** A connection that can only read a file that is served: a transaction of it sees one state of all the tables. */
export function openReader(file: string): Db {
  const sqlite = openSqlite(file, { readonly: true, fileMustExist: true })
  sqlite.pragma('query_only = ON')
  return over(sqlite, file, 'BEGIN')
}

function over(sqlite: SQLite.Database, file: string, begin: Begin): Db {
  const { memory, ...remembering } = createMemory()
  const { identities, ...named } = createIdentities()
  const forgetAll = () => {
    remembering.clear()
    named.forget()
  }
  const prepared = new Map<string, Prepared>()
  const prepare = (text: string) => {
    const known = prepared.get(text)
    if (known) return known
    const made = { statement: sqlite.prepare<unknown[]>(text), effect: effectOf(text) }
    prepared.set(text, made)
    return made
  }
  const ready = (query: Compilable | Query<unknown, unknown>, args: unknown) => {
    const { sql, parameters } =
      'compile' in query ? query.compile() : { sql: query.text, parameters: query.parameters(args) }
    const { statement, effect } = prepare(sql)
    remembering.before(effect)
    return { statement, effect, parameters: parameters as unknown[] }
  }
  const change = (query: Compilable | Query<unknown, unknown>, args: unknown) => {
    const { statement, effect, parameters } = ready(query, args)
    const result = statement.run(parameters)
    if ('compile' in query || !query.keepsMemory) remembering.after(effect)
    return result
  }
  const refresh = createRefresh(sqlite, forgetAll)
  const transaction = createTransaction(sqlite, begin, { ...named, ...remembering, refresh })
  const { sync, closeLog } = createSync(sqlite, file)
  return {
    file,
    sql: builder,
    memory,
    identities,
    all: ((query: Compilable, args?: unknown) => {
      const { statement, effect, parameters } = ready(query, args)
      const rows = statement.all(parameters)
      remembering.after(effect)
      return rows
    }) as Db['all'],
    first: ((query: Compilable, args?: unknown) => {
      const { statement, effect, parameters } = ready(query, args)
      const row = statement.get(parameters)
      remembering.after(effect)
      return row
    }) as Db['first'],
    run: ((query: Compilable, args?: unknown) => change(query, args).changes) as Db['run'],
    insert: ((query: Compilable, args?: unknown) => Number(change(query, args).lastInsertRowid)) as Db['insert'],
    transaction,
    transactionAhead: ahead(sqlite, transaction),
    sync,
    checkpoint: createCheckpoint(sqlite),
    refresh,
    execute: (text) => {
      sqlite.exec(text)
      forgetAll()
    },
    pragma: (text) => sqlite.pragma(text, { simple: true }),
    copyTo: async (to, step) =>
      void (await sqlite.backup(to, { progress: ({ remainingPages }) => step(remainingPages) })),
    close: () => {
      closeLog()
      sqlite.close()
    },
  }
}

type Prepared = { readonly statement: SQLite.Statement<unknown[]>; readonly effect: Effect }

/** Looks at the header before SQLite does, so that a file that is not ours stays as it is, to the byte. */
function refuseForeignFile(file: string): void {
  if (!existsSync(file)) return
  const application = applicationOf(file)
  if (application === 'empty' || application === APPLICATION_ID) return
  throw new StoreError(
    application === null
      ? `${file} is not a database, or is damaged: name another --database, or restore a copy`
      : `${file} is a database of another program: name another --database`,
  )
}

/** Whose database it is: the mark in its header; null where it is none. */
export function applicationOf(file: string): number | 'empty' | null {
  const header = Buffer.alloc(100)
  const read = readHeader(file, header)
  if (read === 0) return 'empty'
  const isDatabase = read === 100 && header.toString('latin1', 0, 16) === 'SQLite format 3\0'
  return isDatabase ? header.readUInt32BE(68) : null
}

function readHeader(file: string, header: Buffer): number {
  try {
    const handle = openSync(file, 'r')
    try {
      return readSync(handle, header, 0, 100, 0)
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    throw new StoreError(
      `${file} cannot be read (${errorCode(error)}): check its owner and mode, or name another --database`,
    )
  }
}

function connect(file: string): SQLite.Database {
  try {
    // New files are born readable by their owner alone; -wal and -shm take the mode of the main file.
    makePrivate(file)
    const sqlite = openSqlite(file)
    // Marked before there is a write-ahead log: a mark that stood in the log alone would be missing from the header.
    if (statSync(file).size === 0) {
      // Only an empty file can be told to shrink; an older one must be written anew for it (`space.ts`).
      // Both in one step: another process that looks between them would take the file for a foreign one.
      sqlite.exec(`BEGIN; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`)
    }
    return sqlite
  } catch (error) {
    if (error instanceof StoreError) throw error
    throw new StoreError(
      `${file} cannot be made or opened (${errorCode(error)}): check that ${dirname(file)} exists and may be written, or name another --database`,
    )
  }
}

/** What root makes must be readable to the server that runs as another: it gets the owner of `like`. */
export function handOver(path: string, like: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(like)
  chownSync(path, uid, gid)
}

/** Makes the file where it is missing; two processes may both find it missing. */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
    handOver(file, dirname(file))
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
}

/** Sets what the promise rests on (WAL, every commit synced) and reads it back: a setting that did not take is refused. */
function secure(sqlite: SQLite.Database, file: string, busyMs: number): void {
  try {
    keepLog(sqlite, performance.now() + busyMs)
    sqlite.pragma('synchronous = FULL')
    sqlite.pragma('foreign_keys = ON')
    // In pages. A thread of the server copies the log long before; without it, or where it cannot follow, SQLite does.
    sqlite.pragma('wal_autocheckpoint = 32000')
    // A long read, such as a backup's, lets the log grow: afterwards it gives the room back.
    sqlite.pragma('journal_size_limit = 67108864')
    const settings = ['journal_mode', 'synchronous', 'foreign_keys'].map((name) =>
      sqlite.pragma(name, { simple: true }),
    )
    if (String(settings) !== 'wal,2,1') {
      throw new StoreError(
        `${file}: journal_mode, synchronous, foreign_keys are ${settings} and must be wal,2,1: move it to a local disk`,
      )
    }
  } catch (error) {
    sqlite.close()
    if (error instanceof StoreError) throw error
    throw new StoreError(`${file} cannot be used (${errorCode(error)}): ${remedyFor(errorCode(error))}`)
  }
}

/** SQLite does not wait for others where it changes this mode, whatever its busy_timeout. */
function keepLog(sqlite: SQLite.Database, until: number): void {
  for (;;) {
    try {
      sqlite.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if (!errorCode(error).startsWith('SQLITE_BUSY') || performance.now() >= until) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
  }
}

/** Restoring a copy is the remedy for damage alone: whoever lacks a right or a moment would lose what was stored since. */
function remedyFor(code: string): string {
  if (code.startsWith('SQLITE_BUSY')) return 'another process holds it: try again, or stop that one'
  if (/^SQLITE_(READONLY|CANTOPEN|PERM)/.test(code)) return 'check the owner and mode of the file and of its directory'
  // The second is said of the log's index, which has to be made first.
  if (/^SQLITE_(FULL|IOERR_SHMSIZE)/.test(code)) return 'the disk is full: make room and try again'
  return 'it is damaged: restore a copy, or name another --database'
}

/** The code of a failed system call or statement, such as EACCES or SQLITE_CORRUPT. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

/** Whether the store as a whole failed, and not one record: disk full, an error of the disk, a file that is held. */
export function isOfStore(error: unknown): boolean {
  return /^SQLITE_(BUSY|FULL|IOERR|READONLY|LOCKED|NOMEM|CANTOPEN|CORRUPT)/.test(errorCode(error))
}
