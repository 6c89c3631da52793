/** Command output: aligned tables and lines for people, JSON for programs. */

import { type Flags, programName } from '../config.ts'
import { forTerminal, shellQuote, visible } from '../domain/terminal.ts'

type Cell = string | number | null
type Field<Item> = { [Name in keyof Item]: Item[Name] extends Cell ? Name : never }[keyof Item]
type Show<Item> = Field<Item> | ((item: Item) => Cell)

/**
 * Maps the title of each column to its content, which is a field or a function of the item. An optional maximum width
 * makes lines fit on the terminal. JSON contains the full text.
 */
type Columns<Item> = Readonly<Record<string, Show<Item> | readonly [show: Show<Item>, maxWidth: number]>>

/** Returns an aligned table, or the sentence `empty` if there are no items. Control characters are replaced. */
export function formatTable<Item>(items: readonly Item[], empty: string, columns: Columns<Item>): string {
  if (items.length === 0) return empty
  const rows = items.map((item) => Object.values(columns).map((column) => cellOf(item, column)))
  const lines = [Object.keys(columns), ...rows]
  const widths = Object.keys(columns).map((_, index) => Math.max(...lines.map((cells) => cells[index]?.length ?? 0)))
  const padded = lines.map((cells) => cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)))
  return padded.map((cells) => cells.join('  ').trimEnd()).join('\n')
}

function cellOf<Item>(item: Item, column: Columns<Item>[string]): string {
  const [show, maxWidth] = Array.isArray(column) ? column : [column, Number.POSITIVE_INFINITY]
  const text = visible(String((typeof show === 'function' ? show(item) : item[show as keyof Item]) ?? '-'))
  return text.length <= maxWidth ? text : `${text.slice(0, maxWidth - 1).toWellFormed()}…`
}

/**
 * Writes to standard output. All output must go through this function, so that no control character reaches the
 * terminal.
 */
export function print(text: string): void {
  process.stdout.write(`${forTerminal(text)}\n`)
}

/** Writes to standard error, so that standard output contains only the result. */
export function printError(text: string): void {
  process.stderr.write(`${forTerminal(text)}\n`)
}

/** Replaces the last line that was drawn on the terminal's standard error. Empty text clears the line. */
export function drawLine(text: string): void {
  process.stderr.write(`\r\u001b[K${text === '' ? '' : visible(text)}`)
}

/** Prints a list as a table or, with --json, as one JSON value. */
export function printList<Item>(
  { json }: { readonly json?: boolean | undefined },
  items: readonly Item[],
  empty: string,
  columns: Columns<Item>,
): void {
  print(json ? JSON.stringify(items, null, 2) : formatTable(items, empty, columns))
}

/** Formats milliseconds as ISO 8601 in UTC. */
export function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

// Spells the commands in messages as the user has to type them.

/** Options shared by all commands. These options can be placed before or after the command name. */
export type Common = Flags & { readonly json?: boolean; readonly org?: string }

/** Commands that are not about one organization. */
const OF_ALL = /^(?:serve|send-test|org)\b/

/**
 * Returns the command that the user should run next, in quotes. The command starts with the program as the user invoked
 * it, and includes the current database, configuration and organization. Errors do not need this function; see `spellCommands`.
 */
export function hint({ database, config, org }: Common, command: string): string {
  const options = [
    org === undefined || OF_ALL.test(command) ? '' : ` --org ${shellQuote(org)}`,
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
    / --(database|config) /.test(command)
      ? whole
      : hint({ database: options.database, config: options.config }, command),
  )
}
