/** Opens connections to the database and runs transactions. */

import { statSync } from 'node:fs'
import type SQLite from 'better-sqlite3'
import type { Compilable, Kysely } from 'kysely'
import {
  type Begin,
  type Checkpoint,
  createCheckpoint,
  createTransaction,
  type Transaction,
  withoutSync,
} from './commit.ts'
import { openSqlite } from './driver.ts'
import { isStoreFailure } from './fault.ts'
import { makeDurable, openFile, refuseRescued } from './file.ts'
import { watchLog } from './log-file.ts'
import { watchContent } from './overwritten.ts'
import { ownEntryAt, resolveDatabase } from './path.ts'
import { builder, type Query } from './query.ts'
import { withQuota } from './quota.ts'
import type { Schema } from './schema/schema.ts'

/**
 * A database connection. Queries are built with Kysely (`db.sql`), prepared once and run synchronously, so no other
 * code runs between the statements of a transaction.
 */
export type Db = {
  readonly file: string
  readonly sql: Kysely<Schema>
  readonly all: Run<'all'>
  /** Reads one row after the other. */
  readonly each: Run<'each'>
  readonly first: Run<'first'>
  /** Runs a change. Returns the number of changed rows. */
  readonly run: Run<'number'>
  /** Runs an insert. Returns the id of the new row. */
  readonly insert: Run<'number'>
  /** Runs a transaction, which is on disk when the call returns. Inside another transaction, uses a savepoint. */
  readonly transaction: Transaction
  /** Runs a transaction without a sync. The transaction is on disk once a later `sync` resolves. */
  readonly transactionAhead: Transaction
  /** Returns the most recent file or disk error since the previous call, or null. */
  readonly takeFailure: () => unknown
  readonly checkpoint: Checkpoint
  /** Rejects if the disk fails. After a failure, unsynced transactions may be lost, and writes are refused. */
  readonly sync: () => Promise<void>
  /**
   * Throws if another program deleted or truncated the log. Saves as much data as possible first. The process must end
   * after this error.
   */
  readonly guardLog: () => void
  /** Returns a function that throws like `guardLog` if another program wrote into the database file. */
  readonly guardContent: () => () => void
  /** Runs one or more statements without parameters. Used for migrations. */
  readonly execute: (text: string) => void
  readonly pragma: (text: string) => unknown
  /**
   * Copies all pages into an empty file. `step` is given the number of remaining pages, and returns the number to copy
   * next.
   */
  readonly copyTo: (file: string, step: (remaining: number) => number) => Promise<void>
  readonly close: () => void
}

/** Accepts a query that is compiled on the spot, or a precompiled query and its arguments (`query.ts`). */
type Run<Kind extends 'all' | 'each' | 'first' | 'number'> = {
  <Row>(query: Compilable<Row>): Result<Kind, Row>
  <Args, Row>(query: Query<Args, Row>, args: Args): Result<Kind, Row>
}
type Result<Kind, Row> = {
  readonly all: Row[]
  readonly each: Iterable<Row>
  readonly first: Row | undefined
  readonly number: number
}[Kind & ('all' | 'each' | 'first' | 'number')]

/** How long to wait for a writer in another process, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000
/** The cache of a connection, in kB. Each thread has its own, and the system keeps the same pages for all of them. */
const CACHE = 4_000
/** The same for a reader: it seldom reads a page twice, and is not slower. */
const READER_CACHE = 1_000

export function openStore(file: string, { busyMs = BUSY_TIMEOUT_MS }: { readonly busyMs?: number } = {}): Db {
  // A copy can also lie beside a link that took the place of the file.
  refuseRescued(file)
  const path = resolveDatabase(file)
  return over(openFile(path, busyMs), path, 'BEGIN IMMEDIATE')
}

/**
 * Opens the same file again in this process. Only SQLite may open the file, because closing any other file descriptor
 * would release all of the process's locks.
 */
export function openBeside(file: string, { busyMs }: { readonly busyMs: number }): Db {
  return over(makeDurable(openSqlite(file, { fileMustExist: true }), file, busyMs), file, 'BEGIN IMMEDIATE')
}

/**
 * Opens a read-only connection to a file that a server is using. A transaction sees a consistent snapshot of all
 * tables.
 */
export function openReader(file: string): Db {
  const sqlite = openSqlite(file, { readonly: true, fileMustExist: true })
  sqlite.pragma('query_only = ON')
  return over(sqlite, file, 'BEGIN')
}

function over(sqlite: SQLite.Database, file: string, begin: Begin): Db {
  sqlite.pragma(`cache_size = -${begin === 'BEGIN' ? READER_CACHE : CACHE}`)
  const log = watchLog(sqlite, file)
  // Readers need no guards.
  const guards = begin === 'BEGIN' ? [] : [guardIdentity(file), log.guard]
  const guard = () => {
    for (const refuse of guards) refuse()
  }
  const prepared = new Map<string, SQLite.Statement<unknown[]>>()
  const prepare = (text: string) => {
    const known = prepared.get(text)
    if (known) return known
    const made = sqlite.prepare<unknown[]>(text)
    prepared.set(text, made)
    return made
  }
  const ready = (query: Compilable | Query<unknown, unknown>, args: unknown) => {
    const { sql, parameters } =
      'compile' in query ? query.compile() : { sql: query.text, parameters: query.parameters(args) }
    return { statement: prepare(sql), parameters: parameters as unknown[] }
  }
  const change = (query: Compilable | Query<unknown, unknown>, args: unknown) => {
    if (depth === 0) guard()
    const { statement, parameters } = ready(query, args)
    const result = statement.run(...parameters)
    if (depth === 0) guard()
    return result
  }
  const checkpoint = createCheckpoint(sqlite)
  const begun = createTransaction(sqlite, begin, guard)
  // The depth is tracked here, because asking SQLite around each statement would make inserts ten percent slower.
  let depth = 0
  let failure: unknown = null
  const transaction: Transaction = (work) => {
    depth += 1
    try {
      return begun(work)
    } catch (cause) {
      const error = withQuota(cause, file)
      if (isStoreFailure(error)) failure = error
      throw error
    } finally {
      depth -= 1
    }
  }
  return {
    file,
    sql: builder,
    all: ((query: Compilable, args?: unknown) => {
      const { statement, parameters } = ready(query, args)
      return statement.all(...parameters)
    }) as Db['all'],
    each: ((query: Compilable, args?: unknown) => {
      const { statement, parameters } = ready(query, args)
      return statement.iterate(...parameters)
    }) as unknown as Db['each'],
    first: ((query: Compilable, args?: unknown) => {
      const { statement, parameters } = ready(query, args)
      return statement.get(...parameters)
    }) as Db['first'],
    run: ((query: Compilable, args?: unknown) => change(query, args).changes) as Db['run'],
    insert: ((query: Compilable, args?: unknown) => Number(change(query, args).lastInsertRowid)) as Db['insert'],
    transaction: (work) => {
      const result = transaction(work)
      if (depth === 0) guard()
      return result
    },
    transactionAhead: withoutSync(sqlite, transaction),
    takeFailure: () => {
      const taken = failure
      failure = null
      return taken
    },
    sync: log.sync,
    guardLog: log.guardAll,
    guardContent: () => {
      const isOverwritten = watchContent(file, checkpoint)
      return () => {
        if (isOverwritten()) throw log.overwritten()
      }
    },
    checkpoint,
    execute: (text) => void sqlite.exec(text),
    pragma: (text) => sqlite.pragma(text, { simple: true }),
    copyTo: async (to, step) =>
      void (await sqlite.backup(to, { progress: ({ remainingPages }) => step(remainingPages) })),
    close: () => {
      log.close()
      // Closing would copy an incomplete log into the file.
      if (!log.isLost()) sqlite.close()
    },
  }
}

/** Returns a function that throws if the open file was moved or replaced, because data written to it would be lost. */
function guardIdentity(file: string): () => void {
  const opened = statSync(file)
  return () => {
    const found = ownEntryAt(file)
    if (found?.ino === opened.ino && found.dev === opened.dev) return
    const error = new Error(`${file} was moved, replaced or deleted while it was open`)
    throw Object.assign(error, { code: 'SQLITE_READONLY_DBMOVED' })
  }
}
