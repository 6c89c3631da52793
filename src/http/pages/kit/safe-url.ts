/** Checks URLs from senders. Only http and https URLs become links. */

/**
 * Returns the URL without user name and password if it is absolute and uses http or https. Otherwise returns null, and
 * the page shows it as text.
 */
export function safeUrl(text: string): string | null {
  try {
    const url = Object.assign(new URL(text), { username: '', password: '' })
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null
  } catch {
    return null
  }
}
