/** Diagnosis of the tokens: whether one that is in use no longer counts, or soon will not. */

import { formatInstant } from '../instant.ts'
import { type Finding, ok, since, type TokenFact, warn } from './facts.ts'

const WEEK = 7 * 86_400_000

/**
 * In use is what was used in the last 7 days, or is still to be used for the first time. Who revokes a token, or lets one
 * end that nobody uses, means it.
 */
export function diagnoseTokens(tokens: readonly TokenFact[], now: number): Finding[] {
  const found = tokens.flatMap((token) => diagnoseToken(token, now) ?? [])
  return found.length > 0 ? found : [ok('token', 'none that is in use ends within 7 days')]
}

/** A warning at most: one that was made for a day ends as it was meant to. */
function diagnoseToken(token: TokenFact, now: number): Finding | null {
  const { organization, name, expiresAt, revokedAt, lastUsedAt } = token
  if (revokedAt !== null || expiresAt === null || expiresAt - now > WEEK) return null
  if (lastUsedAt === null ? expiresAt <= now : now - lastUsedAt > WEEK) return null
  const used = lastUsedAt === null ? 'not used yet' : `last used ${since(lastUsedAt, now)}`
  const end = formatInstant(expiresAt)
  const text =
    expiresAt <= now ? `expired on ${end}, ${used}: whoever uses it is refused` : `expires on ${end}, ${used}`
  return warn('token', `${organization}/${name}: ${text}`, remedyFor(token))
}

function remedyFor({ id, scopes, cluster }: TokenFact): string {
  const like = [`scopes ${scopes.join(',')}`, cluster && `cluster ${cluster}`].filter(Boolean).join(', ')
  const user = scopes.includes('ingest') ? 'sender' : 'caller'
  return `make another with "incmon token create" (${like}), put it into the ${user}'s configuration, then "incmon token revoke ${id}"`
}
