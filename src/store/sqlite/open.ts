/** The one connection to the one file: opened so that a commit is on disk, and checked that it is. */
import type SQLite from 'better-sqlite3'
import type { Compilable, Kysely } from 'kysely'
import { createIdentities, type Identities } from '../identities.ts'
import { createMemory, type Effect, effectOf, type Memory } from '../memory.ts'
import {
  ahead,
  type Begin,
  type Checkpoint,
  createCheckpoint,
  createRefresh,
  createTransaction,
  onceAMillisecond,
  type Transaction,
} from './commit.ts'
import { openSqlite } from './driver.ts'
import { guardPlace, openFile, secured } from './file.ts'
import { watchLog } from './log-file.ts'
import { resolveDatabase } from './place.ts'
import { builder, type Query } from './query.ts'
import type { Schema } from './schema.ts'

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
  /** Throws if another program deleted or truncated the log, after all that can be saved was saved: the process must end. */
  readonly guardLog: () => void
  /** What is remembered of rows that are asked for again and again; to be used inside a transaction. */
  readonly memory: Memory
  /** Whose names active alerts have; only inside a transaction. */
  readonly identities: Identities
  /** Before memory is used outside a transaction: forgets what another process had changed a millisecond ago. */
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

/** How long another process's write is waited for, in milliseconds. */
const PATIENCE = 5_000

export function openStore(file: string, { busyMs = PATIENCE }: { readonly busyMs?: number } = {}): Db {
  const path = resolveDatabase(file)
  return over(openFile(path, busyMs), path, 'BEGIN IMMEDIATE')
}

/**
 * Opens once more what this process has open already. SQLite alone touches the file then: whoever closes another
 * descriptor of it ends the locks of the whole process, and a program that looks into the file would, as it seems to be
 * the last, remove the log that the server writes.
 */
export function openBeside(file: string, { busyMs }: { readonly busyMs: number }): Db {
  return over(secured(openSqlite(file, { fileMustExist: true }), file, busyMs), file, 'BEGIN IMMEDIATE')
}

/**
 * From now on this connection evaluates no CHECK: of what the program itself makes its types say the same, and a tenth of
 * the time of a new alert goes into them (SQLite makes a table of every list and reads every JSON again). Types, NOT NULL,
 * UNIQUE and references are held all the same, and no backup is made of a file with a row that breaks a CHECK. To be said
 * as the connection is opened, since every statement is then prepared anew.
 */
export function skipChecks(db: Pick<Db, 'pragma'>): void {
  db.pragma('ignore_check_constraints = ON')
}

/** A connection that can only read a file that is served: a transaction of it sees one state of all the tables. */
export function openReader(file: string): Db {
  const sqlite = openSqlite(file, { readonly: true, fileMustExist: true })
  sqlite.pragma('query_only = ON')
  return over(sqlite, file, 'BEGIN')
}

function over(sqlite: SQLite.Database, file: string, begin: Begin): Db {
  const log = watchLog(sqlite, file)
  const guard = begin === 'BEGIN' ? unguarded : both(guardPlace(file), log.guard)
  const { memory, ...remembering } = createMemory()
  const { identities, ...named } = createIdentities()
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
    if (!sqlite.inTransaction) guard()
    const { statement, effect, parameters } = ready(query, args)
    const result = statement.run(...parameters)
    if ('compile' in query || !query.keepsMemory) remembering.after(effect)
    if (!sqlite.inTransaction) guard()
    return result
  }
  const refresh = createRefresh(sqlite, () => {
    remembering.clear()
    named.doubt()
  })
  const transaction = createTransaction(sqlite, begin, { ...named, ...remembering, refresh }, guard)
  return {
    file,
    sql: builder,
    memory,
    identities,
    all: ((query: Compilable, args?: unknown) => {
      const { statement, effect, parameters } = ready(query, args)
      const rows = statement.all(...parameters)
      remembering.after(effect)
      return rows
    }) as Db['all'],
    first: ((query: Compilable, args?: unknown) => {
      const { statement, effect, parameters } = ready(query, args)
      const row = statement.get(...parameters)
      remembering.after(effect)
      return row
    }) as Db['first'],
    run: ((query: Compilable, args?: unknown) => change(query, args).changes) as Db['run'],
    insert: ((query: Compilable, args?: unknown) => Number(change(query, args).lastInsertRowid)) as Db['insert'],
    transaction: (work) => {
      const result = transaction(work)
      if (!sqlite.inTransaction) guard()
      return result
    },
    transactionAhead: ahead(sqlite, transaction),
    sync: log.sync,
    guardLog: log.guardAll,
    checkpoint: createCheckpoint(sqlite),
    refresh: onceAMillisecond(refresh),
    execute: (text) => {
      sqlite.exec(text)
      remembering.clear()
      named.forget()
    },
    pragma: (text) => sqlite.pragma(text, { simple: true }),
    copyTo: async (to, step) =>
      void (await sqlite.backup(to, { progress: ({ remainingPages }) => step(remainingPages) })),
    close: () => {
      log.close()
      // Closing would copy a log that is not whole into the file.
      if (!log.isLost()) sqlite.close()
    },
  }
}

/** A reader writes nowhere. */
function unguarded(): void {}

function both(first: () => void, second: () => void): () => void {
  return () => {
    first()
    second()
  }
}

type Prepared = { readonly statement: SQLite.Statement<unknown[]>; readonly effect: Effect }
