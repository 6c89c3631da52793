/** Resolves the path of a database. Refuses paths that would make SQLite use a second log for the same file. */
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { shellQuote } from '../../domain/terminal.ts'
import { StoreError } from './fault.ts'

/** Lists the mounts of this process, one per line (Linux only). The fifth field is the mount point. */
const MOUNTS = '/proc/self/mountinfo'

/**
 * Returns the path next to which SQLite keeps the log. For a symbolic link, returns the path of its target.
 * @throws StoreError if the file has a second name (a hard link, or a bind mount of the file), because two servers
 * could then use separate logs for the same pages
 */
export function resolveDatabase(file: string): string {
  const path = withoutLinks(file)
  const links = entryAt(path)
  if (links?.isFile() && links.nlink > 1) {
    throw new StoreError(
      `${file} has ${links.nlink} hard links, and SQLite would use a separate log for each of them: find the other links with "find DIRECTORY -samefile ${file}" and delete them; to copy a database, use "incmon backup"`,
    )
  }
  if (isMountPoint(path)) {
    throw new StoreError(
      `${file} is mounted as a single file, so its log would be outside that mount and would be lost: mount the directory instead`,
    )
  }
  return path
}

/** Returns the path with all links resolved. The file does not have to exist, but its directory does. */
export function realNameOf(file: string): string {
  return existsSync(file) ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file))
}

/** Returns null if the file is missing or inaccessible. Opening the file will report the reason. */
export function entryAt(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

/** Like `entryAt`, but does not follow a link. */
export function ownEntryAt(path: string): Stats | null {
  try {
    return lstatSync(path)
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
      `${file} is a symbolic link to ${target}, which does not exist: mount its disk, or use --database ${target} to create the database there`,
    )
  }
  return file
}

/** Returns the target of a symbolic link, or null for any other file. */
function targetOf(file: string): string | null {
  return ownEntryAt(file)?.isSymbolicLink() ? resolve(dirname(file), readlinkSync(file)) : null
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

/** Returns the mount point from a line of the mount list. Decodes octal escapes, for example `\040` for a space. */
function mountPointIn(line: string): string {
  const field = line.split(' ')[4] ?? ''
  return field.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)))
}

/** Returns the files that show that a server has used a database, although the database is missing. */
export function tracesOf(file: string): string[] {
  return ['.lock', '.sock'].map((end) => `${file}${end}`).filter((path) => existsSync(path))
}

/** The command after which a server starts with an empty database in place of a missing one; '' if it already does. */
export function forgetting(file: string): string {
  const traces = tracesOf(file)
  return traces.length === 0 ? '' : `rm ${traces.map(shellQuote).join(' ')}`
}
