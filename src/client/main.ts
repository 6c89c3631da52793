/** The script of the web pages. Every page also works without the script. */
import { byId, parsePage } from './dom.ts'
import { startKeys } from './keys.ts'
import { startLive } from './live.ts'
import { startPictures } from './picture.ts'

const source = document.currentScript instanceof HTMLScriptElement ? new URL(document.currentScript.src).pathname : ''
const prefix = source.replace(/\/assets\/[^/]*$/, '')

document.documentElement.classList.add('script')
startLive(prefix)
startKeys(prefix)
startSearch(prefix)
startPictures()
// After an action, the focus moves to the message.
byId('message')?.focus()

// A new form gets the browser's time zone if neither the visitor nor the organization has chosen a time zone.
for (const field of document.querySelectorAll<HTMLInputElement>('form[data-new="true"] input[list="zones"]')) {
  if (field.value === 'UTC') field.value = Intl.DateTimeFormat().resolvedOptions().timeZone
}

document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>('[data-copy]') : null
  const text = button && byId(button.dataset.copy ?? '')
  if (!button || !text) return
  // Without TLS, browsers do not allow access to the clipboard. Select the text so that the user can copy it.
  getSelection()?.selectAllChildren(text)
  const isCopied = await navigator.clipboard?.writeText(text.textContent ?? '').then(
    () => true,
    () => false,
  )
  button.lastChild?.replaceWith(isCopied ? 'Copied' : 'Selected')
})

document.addEventListener('change', ({ target }) => {
  const form = (target as HTMLInputElement | null)?.form
  if (form?.matches('[data-auto]')) form.requestSubmit()
})

// Removes empty fields from a search URL.
document.addEventListener('submit', ({ target }) => {
  if (!(target instanceof HTMLFormElement) || target.method !== 'get') return
  for (const field of target.querySelectorAll<HTMLInputElement>('input, select')) field.disabled = field.value === ''
})

/** How long the user must pause before the script searches, in milliseconds. */
const PAUSE = 150
const MAX_RESULTS = 8

/** @param prefix the path under which a proxy serves the pages, or '' */
function startSearch(prefix: string): void {
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
  const page = parsePage(await response.text())
  const rows = [...page.querySelectorAll('#found .rows > li')].slice(0, MAX_RESULTS)
  // A page contains only the symbols that it uses.
  const symbols = byId('symbols')
  for (const symbol of page.querySelectorAll('#symbols [id]')) {
    if (!byId(symbol.id)) symbols?.append(symbol)
  }
  const empty = page.querySelector('#found .empty')
  box.replaceChildren(...(rows.length > 0 ? rows : empty ? [empty] : []))
  box.hidden = document.activeElement !== field
}
