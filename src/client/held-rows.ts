/** Keeps rows in place while the pointer or the focus is in their list. Everything else on the page stays current. */

const LISTS = 'main :is(tbody, .rows, .healthy, .wall-cells)'
/** The maximum number of services that the button names. */
const MAX_NAMES = 2

/** What the new page says about a list whose rows are held. */
export type News = { readonly text: string; readonly isCritical: boolean }

/** Returns the list with the pointer or the focus in one of its rows, or null. */
export function listInUse(): Element | null {
  return document.querySelector(`${LISTS} > :is(:hover, :focus-within)`)?.parentElement ?? null
}

/**
 * Gives the same list on the new page the order of `list`: new rows are left out, and rows that are gone stay.
 * @returns what is left out or in another place; null if no row would have moved
 */
export function holdRows(list: Element, page: Document): News | null {
  const before = rowsOf(list)
  const found = sameList(before, page)
  const after = found && rowsOf(found)
  // Rows that cannot be told apart cannot be held.
  if (!found || !after || before.size < list.childElementCount || after.size < found.childElementCount) return null
  if ([...before.keys()].join('\n') === [...after.keys()].join('\n')) return null
  const news = newsOf(before, after)
  found.replaceChildren(...[...before].map(([key, row]) => after.get(key) ?? row.cloneNode(true)))
  return news
}

/** Rows have no ids: the list with the most rows in common is the same list. */
function sameList(before: ReadonlyMap<string, Element>, page: Document): Element | null {
  let [best, most]: [Element | null, number] = [null, 0]
  for (const one of page.querySelectorAll(LISTS)) {
    const common = [...one.children].filter((row) => before.has(keyOf(row))).length
    if (common > most) [best, most] = [one, common]
  }
  return best
}

function newsOf(before: ReadonlyMap<string, Element>, after: ReadonlyMap<string, Element>): News {
  const isCritical = (row: Element | undefined) => row?.getAttribute('data-level') === 'critical'
  const worse = [...after].filter(([key, row]) => isCritical(row) && !isCritical(before.get(key)))
  const names = worse.map(([, row]) => row.getAttribute('data-name') ?? row.querySelector('a')?.textContent ?? '')
  if (names.length > MAX_NAMES) return { text: `${names.length} more are critical, show`, isCritical: true }
  if (names.length > 0) return { text: `${names.join(' and ')} became critical, show`, isCritical: true }
  const added = [...after.keys()].filter((key) => !before.has(key)).length
  return { text: added > 0 ? `${added} newer, show` : 'New order, show', isCritical: false }
}

/** The rows of a list by the address of their first link. */
function rowsOf(list: Element): ReadonlyMap<string, Element> {
  return new Map([...list.children].map((row) => [keyOf(row), row]))
}

function keyOf(row: Element): string {
  return row.querySelector('a[href]')?.getAttribute('href') ?? ''
}
