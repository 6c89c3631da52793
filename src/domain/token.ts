/** Tokens: secrets with an organization and scopes. */

export const SCOPES = ['ingest', 'read', 'write', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export const TOKEN_PREFIX = 'incmon_'
const TOKEN = /^incmon_[\w-]{43}$/

/** Returns whether a text has the format of a token: the prefix and 256 bits in base64url. */
export function isTokenShaped(text: string): boolean {
  return TOKEN.test(text)
}
