/** Pages: which part of a list is asked for, and how the parts refer to each other. */

/** Items of a page: the usual number, and the most that may be asked for. */
export const DEFAULT_LIMIT = 50
export const MAX_LIMIT = 500
/** The last page that may be asked for; far behind any list, near enough that offsets stay exact. */
export const MAX_PAGE = 1_000_000_000

/** Counted from 1. */
export type Page = { readonly page: number; readonly limit: number }

/** A part of a list together with the size of the whole. */
export type Listed<Item> = { readonly items: readonly Item[]; readonly total: number }

/** How many items stand before the page. */
export function offsetOf({ page, limit }: Page): number {
  return (page - 1) * limit
}

/** How many pages the list has; 0 where it is empty. */
export function totalPages(total: number, { limit }: Page): number {
  return Math.ceil(total / limit)
}

/**
 * The value of a Link header (RFC 8288): first, prev, next and last, with every other query parameter as it was. A page
 * past the end has no next, and the last page as prev.
 * @param path with the origin before it, or relative to the host
 * @param query the query string as it came, without the question mark
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
