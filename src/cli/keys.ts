/** The keys of the configuration as options: of the server, and of whoever looks at it. */
import type { Command } from 'commander'
import { KEYS } from '../config.ts'

const ALL = Object.keys(KEYS).filter((name) => name !== 'database')

/** These keys; by default every key but the database, which all commands take. */
export function addKeys(command: Command, names: readonly string[] = ALL): Command {
  for (const [name, { doc, fallback }] of Object.entries(KEYS)) {
    const standard = String(fallback) === '' ? '' : ` (default: ${fallback})`
    if (names.includes(name)) command.option(`--${name} <${name}>`, `${doc}${standard}`)
  }
  return command
}
