/** Command output: aligned tables and lines for people, JSON for programs. */

import { forTerminal, visible } from '../domain/terminal.ts'

export { visible } from '../domain/terminal.ts'

/** Text longer than `maxWidth` is truncated so that a line fits on the terminal. JSON contains the full text. */
export type Column<Item> = readonly [title: string, show: (item: Item) => string | number | null, maxWidth?: number]

/** Returns an aligned table, or the sentence `empty` if there are no items. Control characters are replaced. */
export function formatTable<Item>(items: readonly Item[], columns: readonly Column<Item>[], empty: string): string {
  if (items.length === 0) return empty
  const rows = items.map((item) =>
    columns.map(([, show, maxWidth]) => cut(visible(String(show(item) ?? '-')), maxWidth)),
  )
  const lines = [columns.map(([title]) => title), ...rows]
  const widths = columns.map((_, index) => Math.max(...lines.map((cells) => cells[index]?.length ?? 0)))
  return lines
    .map((cells) =>
      cells
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cut(text: string, maxWidth = Number.POSITIVE_INFINITY): string {
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
  process.stderr.write(`\r\u001b[K${visibleLine(text)}`)
}

function visibleLine(text: string): string {
  return text === '' ? '' : visible(text)
}

/** Prints a list as a table or, if `json` is set, as one JSON value. */
export function printList<Item>(
  list: { readonly items: readonly Item[]; readonly columns: readonly Column<Item>[]; readonly empty: string },
  json: boolean | undefined,
): void {
  print(json ? JSON.stringify(list.items, null, 2) : formatTable(list.items, list.columns, list.empty))
}

/** Formats milliseconds as ISO 8601 in UTC. */
export function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
