/** The script of the web pages. Every page also works without the script. */
import { startKeys } from './keys.ts'
import { startLive } from './live.ts'
import { startSearch } from './search.ts'

const source = document.currentScript instanceof HTMLScriptElement ? new URL(document.currentScript.src).pathname : ''
const prefix = source.replace(/\/assets\/[^/]*$/, '')

document.documentElement.classList.add('script')
startLive(prefix)
startKeys(prefix)
startSearch(prefix)
// After an action, the focus moves to the message.
document.getElementById('message')?.focus()

// A new form gets the browser's time zone if neither the visitor nor the organization has chosen a time zone.
for (const field of document.querySelectorAll<HTMLInputElement>('form[data-new="true"] input[list="zones"]')) {
  if (field.value === 'UTC') field.value = Intl.DateTimeFormat().resolvedOptions().timeZone
}

document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>('[data-copy]') : null
  const text = button && document.getElementById(button.dataset.copy ?? '')
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
  if (target instanceof HTMLSelectElement || target instanceof HTMLInputElement) {
    if (target.form?.matches('[data-auto]')) target.form.requestSubmit()
  }
})

// Removes empty fields from a search URL.
document.addEventListener('submit', ({ target }) => {
  if (!(target instanceof HTMLFormElement) || target.method !== 'get') return
  for (const field of target.querySelectorAll<HTMLInputElement>('input, select')) field.disabled = field.value === ''
})
