/** Saves the data that a running process can still read after another program removed the write-ahead log. */
import { existsSync, readdirSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type SQLite from 'better-sqlite3'
import { shellQuote } from '../../domain/terminal.ts'
import { copyInto } from './commit.ts'
import { entryAt, forgetting, ownEntryAt } from './path.ts'
import { faultIn } from './sound.ts'
import { COMPANIONS, syncDirectory } from './temporary-file.ts'

/** The end of the name of a file that a server saved. The time follows. No database starts while such a file exists. */
const RESCUED = '.rescued-'
/** The same for a file whose data is not needed any more, or that somebody has decided about. */
const ASIDE = '.aside-'

/** The page cache during the copy, in KiB. */
const CACHE = 1_048_576
/** How many times to attempt a checkpoint while a reader blocks it, and the delay between attempts in milliseconds. */
const TRIES = 20
const PAUSE = 50

/**
 * Saves the data after the log was deleted, moved or replaced. SQLite still has the original log open and can copy it
 * into the database file. If another file replaced the log, renames that file to `-wal.foreign`, because SQLite would
 * read it at the next start.
 * @returns whether all data is in the file
 */
export function saveFromLog(sqlite: SQLite.Database, file: string): boolean {
  for (let tried = 0; tried < TRIES; tried += 1) {
    try {
      const [row] = sqlite.pragma('wal_checkpoint(PASSIVE)') as { busy: number; log: number; checkpointed: number }[]
      if (row && row.log === row.checkpointed) {
        if (ownEntryAt(`${file}-wal`)) renameSync(`${file}-wal`, `${file}-wal.foreign`)
        syncDirectory(dirname(file))
        return true
      }
    } catch {
      return false
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE)
  }
  return false
}

/**
 * Saves the data after the database file was deleted, moved or replaced. SQLite still has the file and its log open.
 * Then renames the log, because SQLite would apply it to whatever file has the name of the database at the next start.
 * @returns the path of the copy
 * @throws the error of the last directory if no copy can be written
 */
export function saveCopy(sqlite: SQLite.Database, file: string): string {
  const time = timeText()
  let failure: unknown = null
  for (const { directory, name } of placesFor(file)) {
    const path = join(directory, `${name}${RESCUED}${time}`)
    try {
      copyInto(path, (text) => sqlite.exec(text), refuseDamaged)
      setUnneededLogAside(file)
      return path
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

/** The copy contains the data of the log. If the log cannot be renamed, the command that uses the copy deletes it. */
function setUnneededLogAside(file: string): void {
  try {
    setLogAside(file, ASIDE)
  } catch {
    // The directory is not writable.
  }
}

function refuseDamaged(copy: string): void {
  const fault = faultIn(copy)
  if (fault !== null) throw new Error(fault)
}

/** Renames the log, so that SQLite does not apply it to another file. @returns its new path, or null if it is missing */
export function setLogAside(file: string, end = RESCUED): string | null {
  if (!existsSync(`${file}-wal`)) return null
  const path = `${file}-wal${end}${timeText()}`
  renameSync(`${file}-wal`, path)
  rmSync(`${file}-shm`, { force: true })
  syncDirectory(dirname(file))
  return path
}

/**
 * The places for a copy. The directory of the database can be gone or belong to another user. Outside of it, the name of
 * the copy contains the directory, so that a start knows to which database it belongs.
 */
function placesFor(file: string): { readonly directory: string; readonly name: string }[] {
  const path = resolve(file)
  const own = { directory: dirname(path), name: basename(path) }
  const others = [
    { directory: dirname(dirname(path)), from: dirname(dirname(path)) },
    { directory: '/tmp', from: '/' },
  ].map(({ directory, from }) => ({ directory, name: relative(from, path).replaceAll('/', '-') }))
  return [own, ...others]
}

/**
 * Says which saved files lie beside the database, when they were saved, and the commands for both decisions. Returns
 * null if there are none.
 */
export function describeRescued(file: string): string | null {
  const [copies, logs] = savedFrom(file)
  const [copy, log, all] = [copies.at(-1), logs.at(-1), [...copies, ...logs]]
  const others = all.filter((path) => path !== (copy ?? log)).map((path) => ` (${path} lies there too)`)
  const keep = `"${asideOf(all)}"`
  const exists = (entryAt(file)?.size ?? 0) > 0
  if (copy !== undefined) {
    const use = `run "${commandToUse(copy, file, all)}" to continue with this data`
    return exists
      ? `${copy} contains all data that a server had stored in ${file} ${savedAt(copy)}, and the present ${file} can lack some of it${others.join('')}: ${use}, or ${keep} to keep the present file`
      : `${file} is missing, and ${copy} contains its data, saved ${savedAt(copy)}${others.join('')}: ${use}, or "${[asideOf(all), forgetting(file)].filter(Boolean).join(' && ')}" to start with an empty database`
  }
  if (log === undefined) return null
  const use = [
    ...setPresentAside(`${resolve(file)}-wal`, log),
    move(log, `${resolve(file)}-wal`),
    ...asides(all, log),
  ].join(' && ')
  const what = `${log} is a log of ${file} with its newest data, saved ${savedAt(log)} because another program had replaced the file or its content${others.join('')}`
  return exists
    ? `${what}: run ${keep} to keep the present file without this data, or, only if you have put the file of that time back, "${use}" to use the log`
    : `${what}, and ${file} is missing: put the file of that time back and run "${use}" to use the log, or run ${keep} to start without this data`
}

/**
 * The command that puts the copy in the place of the database. `restore` keeps the present file and removes its log. A
 * link or a directory in the place of the database is renamed.
 */
export function commandToUse(copy: string, file: string, all: readonly string[] = [copy]): string {
  const path = resolve(file)
  const present = ownEntryAt(path)
  const isOther = present !== null && !present.isFile()
  if (!isOther && ((present?.size ?? 0) > 0 || existsSync(`${path}-wal`)))
    return `incmon restore ${shellQuote(copy)} --database ${shellQuote(path)} --force && ${asideOf(all)}`
  const aside = isOther ? [...setPresentAside(path, copy), ...setPresentAside(`${path}-wal`, copy)] : []
  return [...aside, ...makeDirectory(dirname(path), copy), move(copy, path), ...asides(all, copy)].join(' && ')
}

/** The command after which a start no longer finds the saved files. */
export function asideOf(paths: readonly string[]): string {
  return asides(paths).join(' && ')
}

function asides(paths: readonly string[], except?: string): string[] {
  return paths.filter((path) => path !== except).map((path) => move(path, path.replace(RESCUED, ASIDE)))
}

/** The command that renames what is in the place of a saved file. */
function setPresentAside(present: string, saved: string): string[] {
  return ownEntryAt(present) ? [move(present, `${present}${ASIDE}${timeIn(saved)}.present`)] : []
}

/** The commands that make the directory. What is in its place, or in that of a parent, is renamed. */
function makeDirectory(directory: string, saved: string): string[] {
  let present = directory
  while (!ownEntryAt(present)) present = dirname(present)
  const isDirectory = entryAt(present)?.isDirectory() === true
  if (isDirectory && present === directory) return []
  return [...(isDirectory ? [] : setPresentAside(present, saved)), `mkdir -p ${shellQuote(directory)}`]
}

function move(from: string, to: string): string {
  return `mv ${shellQuote(from)} ${shellQuote(to)}`
}

/**
 * Returns the saved copies and the saved logs, the oldest first. Logs lie only beside the database. In other
 * directories, only files of this user count, because others may be able to write there.
 */
function savedFrom(file: string): readonly [copies: string[], logs: string[]] {
  const logs: string[] = []
  const copies = placesFor(file).flatMap(({ directory, name }, index) => {
    const names = namesIn(directory)
    const savedAs = (start: string) =>
      names
        .filter((found) => found.startsWith(start) && TIME.test(found.slice(start.length)))
        .map((found) => join(directory, found))
    if (index > 0) return savedAs(`${name}${RESCUED}`).filter(isOwn)
    logs.push(...savedAs(`${name}-wal${RESCUED}`))
    return savedAs(`${name}${RESCUED}`)
  })
  return [inOrder(copies), inOrder(logs)]
}

function inOrder(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort((one, other) => (timeIn(one) < timeIn(other) ? -1 : 1))
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function isOwn(path: string): boolean {
  const user = process.getuid?.()
  return user === 0 || entryAt(path)?.uid === user
}

/** The time in the name of a saved file. */
const TIME = /(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/

function timeIn(path: string): string {
  return TIME.exec(path)?.[0] ?? ''
}

function savedAt(path: string): string {
  const [, year, month, day, hour, minute, second] = TIME.exec(path) ?? []
  return `on ${year}-${month}-${day} at ${hour}:${minute}:${second} UTC`
}

/** Returns the time as 20261126T150405Z, for the name of a file. */
function timeText(): string {
  const now = new Date(performance.timeOrigin + performance.now())
  return now.toISOString().replace(/[-:]|\.\d+/g, '')
}

/**
 * Saves the data after the log was truncated. The log must not be checkpointed, because parts of it are missing.
 * SQLite's cache contains the latest pages, so a copy made through the cache replaces the file if the copy is complete.
 */
export function saveFromCache(sqlite: SQLite.Database, file: string): boolean {
  try {
    // The truncated log contains zeros. SQLite ignores an empty log.
    truncateSync(`${file}-wal`)
    sqlite.pragma(`cache_size = -${CACHE}`)
    copyInto(
      file,
      (text) => sqlite.exec(text),
      (copy) => {
        refuseDamaged(copy)
        for (const end of COMPANIONS) rmSync(file + end, { force: true })
        syncDirectory(dirname(file))
      },
    )
    return true
  } catch {
    return false
  }
}
