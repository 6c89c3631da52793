/** Adds the settings of the configuration as options of a command. */
import type { Command } from 'commander'
import { KEYS } from '../config.ts'

const ALL = Object.keys(KEYS).filter((name) => name !== 'database')

/** Adds these settings; by default all except the database, which every command has. */
export function addKeys(command: Command, names: readonly string[] = ALL): Command {
  for (const [name, { doc, fallback }] of Object.entries(KEYS)) {
    const standard = String(fallback) === '' ? '' : ` (default: ${fallback})`
    if (names.includes(name)) command.option(`--${name} <${name}>`, `${doc}${standard}`)
  }
  return command
}
