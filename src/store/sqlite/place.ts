/** The place of a database: its path without links, and the places where SQLite would keep its log apart from the file. */
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { StoreError } from './driver.ts'

/** Every mount of this process, one a line; the fifth field is the mount point. Only Linux has it. */
const MOUNTS = '/proc/self/mountinfo'

/**
 * Returns the path under which SQLite keeps the log and its index: the target of a symbolic link. A path without links
 * stays as it was given.
 * @throws StoreError if the file has a second name (a hard link, or a mount of the file alone): a server on each name
 * would keep its own log, and both would write to the same pages
 */
export function resolveDatabase(file: string): string {
  const path = withoutLinks(file)
  const links = entryAt(path)
  if (links?.isFile() && links.nlink > 1) {
    throw new StoreError(
      `${file} has ${links.nlink} names (hard links), and SQLite keeps a separate log for each: find the others with "find DIRECTORY -samefile ${file}" and remove them`,
    )
  }
  if (isMountPoint(path)) {
    throw new StoreError(
      `${file} is mounted as a single file, so its log would stay outside of that mount and be lost: mount the directory instead`,
    )
  }
  return path
}

/** The path without links; also of a file that does not exist yet, if its directory does. */
export function realNameOf(file: string): string {
  return existsSync(file) ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file))
}

/** Null if there is no such entry, or it cannot be read: opening it tells why. */
export function entryAt(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

function withoutLinks(file: string): string {
  if (existsSync(file)) {
    const real = realpathSync(file)
    return real === resolve(file) ? file : real
  }
  const target = targetOf(file)
  if (target !== null && target !== resolve(file)) {
    throw new StoreError(
      `${file} is a symbolic link to ${target}, which does not exist: mount its disk, or name ${target} with --database to begin there`,
    )
  }
  return file
}

/** Where a link leads; null for anything else. */
function targetOf(file: string): string | null {
  try {
    return lstatSync(file).isSymbolicLink() ? resolve(dirname(file), readlinkSync(file)) : null
  } catch {
    return null
  }
}

function isMountPoint(path: string): boolean {
  if (!existsSync(path)) return false
  try {
    const wanted = realpathSync(path)
    return readFileSync(MOUNTS, 'utf8')
      .split('\n')
      .some((line) => mountPointIn(line) === wanted)
  } catch {
    return false
  }
}

/** Blanks in it are written as \040. */
function mountPointIn(line: string): string {
  const field = line.split(' ')[4] ?? ''
  return field.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)))
}
