/**
 * incmon backup: writes a verified copy of the database to a file or to standard output, even while a server is
 * running.
 */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import type { Command } from 'commander'
import { visible } from '../../domain/terminal.ts'
import { copySnapshot } from '../../store/sqlite/backup.ts'
import { errorCode } from '../../store/sqlite/fault.ts'
import { realNameOf } from '../../store/sqlite/path.ts'
import { requireSound } from '../../store/sqlite/sound.ts'
import { COMPANIONS, hasLog, type Part, withPart } from '../../store/sqlite/temporary-file.ts'
import { refuseMissing, requireConfig } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { type Common, print } from '../output.ts'
import { addCommand } from '../plain-command.ts'
import { bytesBar, counted, interruptible, megabytes, progressLine } from '../progress.ts'

/** Gives the backup a lower CPU priority than a running server. */
const NICENESS = 10

type Options = Common & { readonly force?: boolean; readonly temporary?: string }

export function addBackup(program: Command): void {
  addCommand(program, 'backup', 'back up the database to one verified file; the server can keep running')
    .argument('<file>', 'the file to write, or - for standard output')
    .option('--force', 'replace an existing file')
    .option('--temporary <dir>', 'the directory for the temporary copy if <file> is - (default: next to the database)')
    .action(runBackup)
}

async function runBackup(target: string, options: Options): Promise<void> {
  const { database } = requireConfig(options)
  refuseMissing(database)
  if (target === '-') return interruptible((signal) => streamBackup(database, options.temporary, signal))
  if (options.temporary !== undefined)
    throw new UsageError('--temporary is valid only if <file> is -: a backup to a file needs no temporary copy')
  refuseTarget(database, target, options.force)
  await interruptible((signal) =>
    withPart(target, async (part) => {
      await copyChecked(database, part, signal)
      // Another process might have created the file in the meantime.
      refuseTarget(database, target, options.force)
      part.publish()
    }),
  )
  const bytes = statSync(target).size
  if (options.json) print(JSON.stringify({ database, file: target, bytes }))
  else print(`backed up ${visible(database)} to ${visible(target)}: ${megabytes(bytes)} MB, verified`)
}

/** Refuses to overwrite the database, its companion files, or any database that is in use. */
function refuseTarget(database: string, target: string, force: boolean | undefined): void {
  if (!existsSync(dirname(target))) {
    throw new CommandError(`the directory ${dirname(target)} does not exist: create it, or choose another file`)
  }
  const own = ['', ...COMPANIONS, '.lock', '.sock'].map((end) => realNameOf(database) + end)
  if (own.includes(realNameOf(target))) {
    throw new CommandError(`${target} is the database itself or one of its files: choose another file`)
  }
  const found = statSync(resolve(target), { throwIfNoEntry: false })
  if (!found) return
  if (!found.isFile())
    throw new CommandError(`${target} is not a regular file: choose a regular file, or - for standard output`)
  if (hasLog(target)) throw new CommandError(`${target} is a database in use: choose another file`)
  if (!force) throw new CommandError(`${target} already exists: add --force to replace it, or choose another file`)
}

/** Writes the copy to standard output only after it has been verified, because output cannot be undone. */
async function streamBackup(database: string, directory: string | undefined, signal: AbortSignal): Promise<void> {
  if (process.stdout.isTTY)
    throw new UsageError('standard output is a terminal: pipe the backup to a program, or choose a file')
  const path = join(directory ?? dirname(database), `${basename(database)}.backup`)
  await withPart(path, async (part) => {
    await copyChecked(database, part, signal)
    await send(part, signal)
  })
}

async function copyChecked(database: string, part: Part, signal: AbortSignal): Promise<void> {
  if (getPriority() < NICENESS) setPriority(NICENESS)
  using line = progressLine()
  await copySnapshot(database, part, (done, total) => {
    signal.throwIfAborted()
    line.show(() => bytesBar('copying', done, total))
  })
  line.announce(`checking ${megabytes(statSync(part.path).size)} MB`)
  requireSound(part.path, database)
  // Yields to the event loop, so that signals that arrived during the check are delivered.
  await setImmediate()
  signal.throwIfAborted()
}

async function send(part: Part, signal: AbortSignal): Promise<void> {
  const { size } = statSync(part.path)
  using line = progressLine()
  // If the reader closes the pipe early, the backup is incomplete. This is an error.
  process.stdout.removeAllListeners('error')
  try {
    const source = createReadStream(part.path)
    await pipeline(source, counted('sending', size, line), process.stdout, { signal, end: false })
  } catch (error) {
    signal.throwIfAborted()
    const why = errorCode(error) === 'EPIPE' ? 'the reader closed the pipe' : errorCode(error)
    throw new CommandError(`the backup is incomplete (${why}): delete the output and run the command again`)
  }
}
