/** Checks URLs from senders. Only http and https URLs become links. */

/**
 * Returns an absolute http or https URL without its user name and password. Returns null for any other value, which the
 * page then shows as text.
 */
export function safeUrl(text: string): string | null {
  try {
    const url = Object.assign(new URL(text), { username: '', password: '' })
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null
  } catch {
    return null
  }
}
