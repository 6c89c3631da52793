/** incmon backup: a checked copy of the database as one file, or as a stream, while a server may run. */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { copySnapshot } from '../../store/sqlite/backup.ts'
import { errorCode } from '../../store/sqlite/fault.ts'
import { realNameOf } from '../../store/sqlite/place.ts'
import { requireSound } from '../../store/sqlite/sound.ts'
import { COMPANIONS, hasLog, type Part, withPart } from '../../store/sqlite/temporary-file.ts'
import { type Common, refuseMissing, requireConfig } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { interruptible } from '../interruption.ts'
import { print, visible } from '../output.ts'
import { bytesBar, counted, megabytes, progressLine } from '../progress.ts'

/** A server that works at the same time comes first, but the copy does get done. */
const NICENESS = 10

type Options = Common & { readonly force?: boolean; readonly temporary?: string }

/** @param target a file, `-` for stdout */
export async function runBackup(target: string, options: Options): Promise<void> {
  const { database } = requireConfig(options)
  refuseMissing(database, options)
  if (target === '-') return interruptible((signal) => streamBackup(database, options.temporary, signal))
  if (options.temporary !== undefined) throw new UsageError('--temporary: only for -, a file is written beside itself')
  refuseTarget(database, target, options.force)
  await interruptible((signal) => saveBackup(database, { target, force: options.force }, signal))
  const bytes = statSync(target).size
  if (options.json) print(JSON.stringify({ database, file: target, bytes }))
  else print(`backed up ${visible(database)} to ${visible(target)}: ${megabytes(bytes)} MB, checked`)
}

/** Replacing a database that is open, or what SQLite keeps beside it, by a copy would lose what came in meanwhile. */
function refuseTarget(database: string, target: string, force: boolean | undefined): void {
  if (!existsSync(dirname(target))) {
    throw new CommandError(`there is no directory ${dirname(target)}: make it, or name another file`)
  }
  const own = ['', ...COMPANIONS, '.lock', '.sock'].map((end) => realNameOf(database) + end)
  if (own.includes(realNameOf(target))) {
    throw new CommandError(`${target} is the database itself, or belongs to it: name another file`)
  }
  const found = statSync(resolve(target), { throwIfNoEntry: false })
  if (!found) return
  if (!found.isFile()) throw new CommandError(`${target} is no regular file: name a file, or - for stdout`)
  if (hasLog(target)) throw new CommandError(`${target} is a database in use: name another file`)
  if (!force) throw new CommandError(`${target} exists already: add --force to replace it, or name another file`)
}

async function saveBackup(
  database: string,
  to: { readonly target: string; readonly force: boolean | undefined },
  signal: AbortSignal,
): Promise<void> {
  await withPart(to.target, async (part) => {
    await copyChecked(database, part, signal)
    // Another process may have put a file there meanwhile.
    refuseTarget(database, to.target, to.force)
    part.publish()
  })
}

/** Nothing is sent before it is checked: who reads could not take it back. */
async function streamBackup(database: string, directory: string | undefined, signal: AbortSignal): Promise<void> {
  if (process.stdout.isTTY) throw new UsageError('- writes the backup to stdout: pipe it somewhere, or name a file')
  const place = join(directory ?? dirname(database), `${basename(database)}.backup`)
  await withPart(place, async (part) => {
    await copyChecked(database, part, signal)
    await send(part, signal)
  })
}

async function copyChecked(database: string, part: Part, signal: AbortSignal): Promise<void> {
  if (getPriority() < NICENESS) setPriority(NICENESS)
  const line = progressLine()
  try {
    await copySnapshot(database, part, (done, total) => {
      signal.throwIfAborted()
      line.show(() => bytesBar('copying', done, total))
    })
    line.announce(`checking ${megabytes(statSync(part.path).size)} MB`)
    requireSound(part.path, database)
    // A signal that came meanwhile is told only now.
    await setImmediate()
    signal.throwIfAborted()
  } finally {
    line.end()
  }
}

async function send(part: Part, signal: AbortSignal): Promise<void> {
  const { size } = statSync(part.path)
  const line = progressLine()
  // A reader that went away has only a piece: here that is no success.
  process.stdout.removeAllListeners('error')
  try {
    const source = createReadStream(part.path)
    await pipeline(source, counted('sending', size, line), process.stdout, { signal, end: false })
  } catch (error) {
    signal.throwIfAborted()
    const why = errorCode(error) === 'EPIPE' ? 'who reads it went away' : errorCode(error)
    throw new CommandError(`stdout did not take the whole backup (${why}): what arrived is no backup, run it again`)
  } finally {
    line.end()
  }
}
