/** The keys of the configuration as options: of the server, and of whoever looks at it. */
import type { Command } from 'commander'
import { KEYS } from '../config.ts'

/** Every key but the database, which all commands take. */
export function addKeys(command: Command): Command {
  for (const [name, { doc, fallback }] of Object.entries(KEYS)) {
    const standard = String(fallback) === '' ? '' : ` (default: ${fallback})`
    if (name !== 'database') command.option(`--${name} <${name}>`, `${doc}${standard}`)
  }
  return command
}
