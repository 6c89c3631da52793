/** The script of the pages. Every page is complete without it; the script only saves steps. */
import { startKeys } from './keys.ts'
import { startLive } from './live.ts'

const source = document.currentScript instanceof HTMLScriptElement ? new URL(document.currentScript.src).pathname : ''
const prefix = source.replace(/\/assets\/[^/]*$/, '')

document.documentElement.classList.add('script')
startLive(prefix)
startKeys(prefix)
// After an action, the focus moves to the message.
document.getElementById('message')?.focus()

// A new channel or silence begins in the time zone of the browser, unless the visitor or the organization has chosen one.
for (const field of document.querySelectorAll<HTMLInputElement>('form[data-new="true"] input[list="zones"]')) {
  if (field.value === 'UTC') field.value = Intl.DateTimeFormat().resolvedOptions().timeZone
}

document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>('[data-copy]') : null
  const text = button && document.getElementById(button.dataset.copy ?? '')
  if (!button || !text) return
  // Without TLS, browsers give pages no clipboard. The text is then selected, and the person copies it.
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

// Default values do not appear in the address.
document.addEventListener('submit', ({ target }) => {
  if (!(target instanceof HTMLFormElement) || target.method !== 'get') return
  for (const field of target.querySelectorAll<HTMLInputElement>('input, select')) field.disabled = field.value === ''
})
