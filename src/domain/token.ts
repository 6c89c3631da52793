/** Tokens: secrets that name an organization and what may be done in it. */

export const SCOPES = ['ingest', 'read', 'write', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export const TOKEN_PREFIX = 'incmon_'
const TOKEN = /^incmon_[\w-]{43}$/

/** Whether a text could be one of our tokens at all: 256 bits in base64url behind the prefix. */
export function isTokenShaped(text: string): boolean {
  return TOKEN.test(text)
}
