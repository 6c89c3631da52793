/** Results below the search field while the user types. Enter without a selected result opens the page of results. */

/** How long the user must pause before the script searches, in milliseconds. */
const PAUSE = 150
const MAX_RESULTS = 8

/** @param prefix the path under which a proxy serves the pages, or '' */
export function startSearch(prefix: string): void {
  const field = document.querySelector<HTMLInputElement>('#search')
  if (!field?.form) return
  const box = document.createElement('div')
  box.className = 'search-results card'
  box.hidden = true
  field.form.append(box)
  let timer = 0
  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = window.setTimeout(() => showResults(field, box, prefix), PAUSE)
  })
  field.form.addEventListener('keydown', (event) => {
    const links = [...box.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement as HTMLAnchorElement)
    if (event.key === 'Escape') box.hidden = true
    else if (event.key === 'ArrowDown') links[Math.min(links.length - 1, at + 1)]?.focus()
    else if (event.key === 'ArrowUp') (links[at - 1] ?? field).focus()
    else return
    event.preventDefault()
  })
  field.form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && field.form?.contains(relatedTarget))) box.hidden = true
  })
}

async function showResults(field: HTMLInputElement, box: HTMLElement, prefix: string): Promise<void> {
  const q = field.value.trim()
  box.hidden = true
  if (q === '') return
  const address = `${prefix}/search?list=1&q=${encodeURIComponent(q)}`
  const response = await fetch(address, { headers: { accept: 'text/html' } })
  // Newer text has its own results.
  if (!response.ok || response.redirected || field.value.trim() !== q) return
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const rows = [...page.querySelectorAll('#found .rows > li')].slice(0, MAX_RESULTS)
  // A page contains only the symbols that it uses.
  const symbols = document.getElementById('symbols')
  for (const symbol of page.querySelectorAll('#symbols [id]')) {
    if (!document.getElementById(symbol.id)) symbols?.append(symbol)
  }
  const empty = page.querySelector('#found .empty')
  box.replaceChildren(...(rows.length > 0 ? rows : empty ? [empty] : []))
  box.hidden = document.activeElement !== field
}
