/** What commands print: aligned tables and lines for a person, JSON for a program. */

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

/** One line that holds no control characters. */
export function visible(text: string): string {
  return text === '' ? '-' : text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '�')
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
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
