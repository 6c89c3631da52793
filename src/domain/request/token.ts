/** API tokens. Each token is a secret that belongs to an organization and has scopes. */

export const SCOPES = ['ingest', 'read', 'write', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export const TOKEN_PREFIX = 'incmon_'
const TOKEN = /^incmon_[\w-]{43}$/

/** Returns whether a string looks like a token: the prefix, followed by 256 bits in base64url. */
export function isTokenShaped(text: string): boolean {
  return TOKEN.test(text)
}
