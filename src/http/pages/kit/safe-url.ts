/** Checks addresses from senders. Only web addresses become links. */

/**
 * Returns the address if it is absolute and uses http or https. Otherwise returns null, and the page shows it as text.
 */
export function safeUrl(text: string): string | null {
  try {
    const url = new URL(text)
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null
  } catch {
    return null
  }
}
