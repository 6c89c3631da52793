/** Spells the commands in messages as the user has to type them. */
import { type Flags, programName } from '../config.ts'
import { shellQuote, visible } from '../domain/terminal.ts'

/** Options shared by all commands. These options can be placed before or after the command name. */
export type Common = Flags & { readonly json?: boolean }

/**
 * Returns the command that the user should run next, in quotes. The command starts with the program as the user invoked
 * it, and includes the current database and configuration. Errors do not need this function; see `spellCommands`.
 */
export function hint({ database, config }: Common, command: string): string {
  const options = [
    database === undefined ? '' : ` --database ${shellQuote(database)}`,
    config === undefined ? '' : ` --config ${shellQuote(config)}`,
  ]
  return visible(`"${programName()} ${command}${options.join('')}"`)
}

/**
 * Replaces each quoted command in a message, such as `"incmon doctor"`, with the command that the user has to type. Code
 * that throws an error does not know how the program was invoked. A command that already names a file is left unchanged.
 */
export function spellCommands(message: string, options: Common): string {
  return message.replace(/"incmon ([^"]+)"/g, (whole, command: string) =>
    / --(database|config) /.test(command) ? whole : hint(options, command),
  )
}
