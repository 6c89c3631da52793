/**
 * Keyboard shortcuts for the page's links and buttons. The shortcuts are inactive while a field has the focus, and
 * users can turn them off.
 */

import { parsePage } from './dom.ts'

const PLACES: Readonly<Record<string, string>> = { s: '/', i: '/incidents', a: '/alerts', o: '/sources', r: '/reports' }

let wasG = false

/** @param prefix the path under which a proxy serves the pages, or '' */
export function startKeys(prefix: string): void {
  if (document.body.dataset.keys !== 'on') return
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return
    const place = wasG ? PLACES[event.key] : undefined
    wasG = event.key === 'g'
    if (place !== undefined) location.href = prefix + place
    else if (act(event.key, prefix)) event.preventDefault()
  })
}

function act(key: string, prefix: string): boolean {
  if (key === '/') return focus('#search')
  if (key === 'n') return focus('#note')
  if (key === 'a') return click('#acknowledge')
  if (key === '[') return click('main a[rel=prev]')
  if (key === ']') return click('main a[rel=next]')
  if (key === 'j' || key === 'k') return moveBy(key === 'j' ? 1 : -1)
  if (key === '?') showKeys(prefix)
  return key === '?'
}

/** Shows the list of keys above the page, which stays as it is. */
async function showKeys(prefix: string): Promise<void> {
  if (document.querySelector('dialog')) return
  const response = await fetch(`${prefix}/keyboard`, { headers: { accept: 'text/html' } })
  const list = parsePage(await response.text()).querySelector('#main > *')
  if (!list || response.redirected) return
  const dialog = document.createElement('dialog')
  dialog.className = 'card'
  dialog.ariaLabel = 'Keyboard'
  dialog.append(list)
  dialog.onclose = () => dialog.remove()
  dialog.onclick = () => dialog.close()
  document.body.append(dialog)
  dialog.showModal()
}

function moveBy(step: number): boolean {
  const rows = [...document.querySelectorAll('main :is(tbody tr, .rows > li)')]
  const links = rows.flatMap((row) => row.querySelector<HTMLElement>('a[href], summary') ?? [])
  const at = links.findIndex((link) => link.closest('tr, li')?.contains(document.activeElement))
  links[at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + step))]?.focus()
  return links.length > 0
}

function focus(selector: string): boolean {
  const field = document.querySelector<HTMLElement>(selector)
  field?.focus()
  return field !== null
}

function click(selector: string): boolean {
  const button = document.querySelector<HTMLElement>(selector)
  button?.click()
  return button !== null
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
}
