/** Addresses that senders wrote: only links to web pages are shown as links. */

/** Returns the address if it is absolute and of http or https; else null, and the page shows it as text. */
export function safeUrl(text: string): string | null {
  try {
    const url = new URL(text)
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null
  } catch {
    return null
  }
}
