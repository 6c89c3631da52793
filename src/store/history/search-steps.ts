/** Searching a long history one stretch after the other, so that a thread that is told to end does so between two. */
import { type Listed, offsetOf, type Page } from '../../domain/pagination.ts'

/** Rows of a stretch: some ten milliseconds. */
const STRETCH = 20_000

/** The rows of one owner, newest first; `from` ≤ time < `before`, in milliseconds UTC. */
export type Searched<Row> = {
  /** The time of the row that has `newer` rows of the owner between itself and `before`; undefined where none has. */
  readonly timeBehind: (before: number, newer: number) => number | undefined
  /** Those that match. */
  readonly count: (from: number, before: number) => number
  readonly rows: (from: number, before: number, limit: number, skip: number) => readonly Row[]
  /** How many match in all, where that is known without counting: then nothing is looked at behind the page. */
  readonly total?: number | undefined
}

/** One page of the rows that match, and the number of all of them. `stretch`: rows of one. */
export function pageInStretches<Row>(
  searched: Searched<Row>,
  span: { readonly from?: number | undefined; readonly to?: number | undefined },
  page: Page,
  stretch = STRETCH,
): Listed<Row> {
  const { from: end = 0, to = Number.MAX_SAFE_INTEGER } = span
  const items: Row[] = []
  let seen = 0
  const isDone = () => searched.total !== undefined && (items.length === page.limit || seen >= searched.total)
  for (let before = to; before > end && !isDone(); ) {
    const from = Math.max(end, searched.timeBehind(before, stretch) ?? end)
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
