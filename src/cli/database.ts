/** Reads the configuration for commands, and finds the database file. */
import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Config, type Flags, readConfig } from '../config.ts'
import { refuseOrphanedLog, refuseRescued } from '../store/sqlite/file.ts'
import { CommandError, UsageError } from './failure.ts'

/** Returns the configuration. @throws UsageError with one line for each error */
export function requireConfig(flags: Flags): Config {
  const read = readConfig({ flags })
  if ('faults' in read) throw new UsageError(...read.faults)
  return read.config
}

/** Returns whether the file is missing or empty. */
export function isMissing(file: string): boolean {
  return !existsSync(file) || (statSync(file).isFile() && statSync(file).size === 0)
}

/** Prevents a command from creating a database by accident. @throws CommandError if the database does not exist */
export function refuseMissing(file: string): void {
  if (!isMissing(file)) return
  refuseRescued(file)
  refuseOrphanedLog(file)
  const create = 'create one with "incmon org create NAME" or "incmon serve"'
  throw new CommandError(`there is no database at ${resolve(file)}: choose the server's with --database, or ${create}`)
}
