/** What commands print: aligned tables and lines for a person, JSON for a program. */

import { forTerminal, visible } from '../domain/terminal.ts'

export { visible } from '../domain/terminal.ts'

export type Column<Item> = readonly [title: string, show: (item: Item) => string | number | null]

/** An aligned table, or, where it would be empty, a sentence. What senders wrote cannot steer the terminal. */
export function formatTable<Item>(items: readonly Item[], columns: readonly Column<Item>[], empty: string): string {
  if (items.length === 0) return empty
  const rows = items.map((item) => columns.map(([, show]) => visible(String(show(item) ?? '-'))))
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

/** Writes to standard output. Everything that commands print goes through here, so that no text steers the terminal. */
export function print(text: string): void {
  process.stdout.write(`${forTerminal(text)}\n`)
}

/** Writes to standard error, beside the result that may be piped. */
export function printError(text: string): void {
  process.stderr.write(`${forTerminal(text)}\n`)
}

/** Replaces the last line of a terminal on standard error. '' clears it. */
export function drawLine(text: string): void {
  process.stderr.write(`\r\u001b[K${visibleLine(text)}`)
}

function visibleLine(text: string): string {
  return text === '' ? '' : visible(text)
}

/** Lists for a person or, as one JSON value, for a program. */
export function printList<Item>(
  list: { readonly items: readonly Item[]; readonly columns: readonly Column<Item>[]; readonly empty: string },
  json: boolean | undefined,
): void {
  print(json ? JSON.stringify(list.items, null, 2) : formatTable(list.items, list.columns, list.empty))
}

/** ISO 8601 in UTC; null where there is no time. */
export function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
