/** Checks URLs from senders. Only http and https URLs become links. */

/** Returns the URL if it is absolute and uses http or https. Otherwise returns null, and the page shows it as text. */
export function safeUrl(text: string): string | null {
  try {
    const url = new URL(text)
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null
  } catch {
    return null
  }
}
