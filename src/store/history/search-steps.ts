/** Scans a long history in chunks, so that a worker thread can be stopped between two chunks. */
import { type Listed, offsetOf, type Page } from '../../domain/pagination.ts'

/** Rows per chunk. Scanning them takes about ten milliseconds. */
const CHUNK_SIZE = 20_000

/** The rows to scan, newest first, with `from` ≤ time < `before` in ms UTC. */
export type SearchSource<Row> = {
  /** Returns the time of the row with `newer` rows between itself and `before`, or undefined. */
  readonly timeBehind: (before: number, newer: number) => number | undefined
  /** Counts the matching rows. */
  readonly count: (from: number, before: number) => number
  readonly rows: (from: number, before: number, limit: number, skip: number) => readonly Row[]
  /** The total if it is known without counting. Then the scan stops after the page. */
  readonly total?: number | undefined
}

/** Returns one page of matching rows and their total. `chunkSize`: the number of rows per chunk. */
export function pageInChunks<Row>(
  searched: SearchSource<Row>,
  span: { readonly from?: number | undefined; readonly to?: number | undefined },
  page: Page,
  chunkSize = CHUNK_SIZE,
): Listed<Row> {
  const { from: end = 0, to = Number.MAX_SAFE_INTEGER } = span
  const items: Row[] = []
  let seen = 0
  const isDone = () => searched.total !== undefined && (items.length === page.limit || seen >= searched.total)
  for (let before = to; before > end && !isDone(); ) {
    const from = Math.max(end, searched.timeBehind(before, chunkSize) ?? end)
    const found = searched.count(from, before)
    const skip = Math.max(0, offsetOf(page) - seen)
    if (skip < found && items.length < page.limit) {
      items.push(...searched.rows(from, before, page.limit - items.length, skip))
    }
    seen += found
    before = from
  }
  return { items, total: searched.total ?? seen }
}
