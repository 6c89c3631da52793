/** The default and maximum page size. */
export const DEFAULT_LIMIT = 50
export const MAX_LIMIT = 500
/** The maximum page number: beyond the end of any list, but small enough for exact offsets. */
export const MAX_PAGE = 1_000_000_000

/**
 * `page` starts at 1. If `most` is set, a page whose records have more characters of text is refused, or ends earlier if
 * `isCut`.
 */
export type Page = { readonly page: number; readonly limit: number; readonly most?: number; readonly isCut?: boolean }

/** One page of a list, and the total number of items. */
export type Listed<Item> = { readonly items: readonly Item[]; readonly total: number }

/** Returns the number of items before the page. */
export function offsetOf({ page, limit }: Page): number {
  return (page - 1) * limit
}

/** Returns the number of pages; 0 for an empty list. */
export function totalPages(total: number, { limit }: Page): number {
  return Math.ceil(total / limit)
}

/**
 * Returns the value of a Link header (RFC 8288) with first, prev, next and last. All other query parameters are kept.
 * For a page beyond the end of the list, there is no next link, and the prev link leads to the last page.
 * @param path with the origin, or relative to the host
 * @param query the query string without the question mark
 */
export function pageLinks(path: string, query: string, page: Page, total: number): string {
  const last = Math.max(1, totalPages(total, page))
  const links: [string, number][] = [['first', 1]]
  if (page.page > 1) links.push(['prev', Math.min(page.page - 1, last)])
  if (page.page < last) links.push(['next', page.page + 1])
  links.push(['last', last])
  return links.map(([rel, number]) => `<${addressOf(path, query, page.limit, number)}>; rel="${rel}"`).join(', ')
}

function addressOf(path: string, query: string, limit: number, page: number): string {
  const parameters = new URLSearchParams(query)
  parameters.set('page', String(page))
  parameters.set('limit', String(limit))
  return `${path}?${parameters}`
}
