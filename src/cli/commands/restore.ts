/** incmon restore: verifies a backup, replaces the database with the backup, and keeps the old database. */
import { accessSync, constants, createReadStream, createWriteStream, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import type { Command } from 'commander'
import { visible } from '../../domain/terminal.ts'
import { errorCode } from '../../store/sqlite/fault.ts'
import { applicationOf } from '../../store/sqlite/file.ts'
import { holdLock } from '../../store/sqlite/lock.ts'
import { realNameOf } from '../../store/sqlite/path.ts'
import {
  keptNameOf,
  refuseEndless,
  refuseForeignBackup,
  replaceDatabase,
  requireRestorable,
} from '../../store/sqlite/restore.ts'
import { hasLog, type Part, withPart } from '../../store/sqlite/temporary-file.ts'
import { isMissing, requireConfig } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { type Common, hint, print } from '../output.ts'
import { addCommand } from '../plain-command.ts'
import { counted, interruptible, megabytes, type ProgressLine, progressLine } from '../progress.ts'

export function addRestore(program: Command): void {
  addCommand(program, 'restore', 'replace the database with a backup; stop the server first')
    .argument('<file>', 'a file written by "incmon backup", or - for standard input')
    .option('--force', 'replace an existing database, which is kept as <database>.before-restore')
    .action(runRestore)
}

async function runRestore(source: string, options: Common & { readonly force?: boolean }): Promise<void> {
  const { database } = requireConfig(options)
  if (!existsSync(dirname(database))) {
    throw new CommandError(`the directory ${dirname(database)} does not exist: create it, or choose another --database`)
  }
  const file = realNameOf(database)
  if (source === '-') refuseTerminal()
  else refuseSource(source, file)
  const release = holdLock(file)
  try {
    refuseExisting(database, options.force)
    const kept = await interruptible((signal) => restore(source, file, signal))
    report({ database, source, kept }, options)
  } finally {
    release()
  }
}

function refuseTerminal(): void {
  if (process.stdin.isTTY)
    throw new UsageError('standard input is a terminal: pipe a backup to the command, or choose a file')
}

function refuseSource(source: string, database: string): void {
  const found = statSync(source, { throwIfNoEntry: false })
  if (!found) throw new CommandError(`${source} does not exist: choose a backup file, or - for standard input`)
  if (!found.isFile())
    throw new CommandError(`${source} is not a regular file: choose a backup file, or - for standard input`)
  try {
    accessSync(source, constants.R_OK)
  } catch (error) {
    throw new CommandError(`${source} cannot be read (${errorCode(error)}): check its owner and mode`)
  }
  if (realNameOf(source) === database) {
    throw new CommandError(`${source} is the database itself: choose a backup of it`)
  }
  if (hasLog(source)) {
    throw new CommandError(
      `${source} is in use or was not closed cleanly, so ${source}-wal contains part of its data: copy it with "incmon backup --database ${source} FILE" and restore the copy`,
    )
  }
  refuseForeignBackup(applicationOf(source), source)
}

function refuseExisting(database: string, force: boolean | undefined): void {
  if (force || isMissing(database)) return
  throw new CommandError(
    `${database} already exists: add --force to replace it and keep it as ${keptNameOf(database)}, or choose another --database`,
  )
}

/** Returns the path of the old database, or null if there was none. */
async function restore(source: string, file: string, signal: AbortSignal): Promise<string | null> {
  return withPart(file, async (part) => {
    using line = progressLine()
    await copy(source, part, line, signal)
    line.announce(`checking ${megabytes(statSync(part.path).size)} MB`)
    requireRestorable(part.path, nameOf(source))
    // Yields to the event loop, so that signals that arrived during the check are delivered.
    await setImmediate()
    signal.throwIfAborted()
    return replaceDatabase(file, part)
  })
}

function nameOf(source: string): string {
  return source === '-' ? 'standard input' : source
}

async function copy(source: string, part: Part, line: ProgressLine, signal: AbortSignal): Promise<void> {
  const total = source === '-' ? null : statSync(source).size
  const from = source === '-' ? process.stdin : createReadStream(source)
  const to = createWriteStream(part.path, { flags: 'r+' })
  const counting = counted('copying', total, line)
  if (source === '-') await pipeline(from, refuseEndless(nameOf(source)), counting, to, { signal })
  else await pipeline(from, counting, to, { signal })
}

function report(done: { database: string; source: string; kept: string | null }, options: Common): void {
  const from = visible(nameOf(done.source))
  if (options.json) print(JSON.stringify(done))
  else {
    if (done.kept !== null) print(`moved the old database to ${visible(done.kept)}`)
    print(`restored ${visible(done.database)} from ${from}: start the server with ${hint(options, 'serve')}`)
  }
}
