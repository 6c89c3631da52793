/** Reads the configuration for commands, and finds the database file. */
import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Config, type Flags, readConfig, readSmallFile } from '../config.ts'
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

// Finds faults in settings that only their files or other settings show.

/** Returns what is wrong with the kubeconfigs, the password file and the header of users, and what to do. */
export async function settingFaults(config: Config): Promise<string[]> {
  const { kubernetes, 'smtp-password-file': password } = config
  const { accessOf, targetOf } = await import('../kubernetes/access.ts')
  const faults = kubernetes.map((one) => faultOf(() => accessOf(targetOf(one))))
  if (password !== '' && faultOf(() => readSmallFile(password)))
    faults.push(`smtp-password-file: ${password} cannot be read; check the path and its permissions`)
  if (config['user-header'] !== '' && config['trusted-proxies'].length === 0)
    faults.push('user-header signs nobody in without trusted-proxies: set trusted-proxies to the network of the proxy')
  return faults.filter((fault) => fault !== null)
}

function faultOf(read: () => unknown): string | null {
  try {
    read()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
