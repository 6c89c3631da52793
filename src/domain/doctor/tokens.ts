/** Checks for tokens in use that have expired or soon will. */
import { formatInstant } from '../instant.ts'
import { countOf } from '../text.ts'
import { type DoctorFacts, type Finding, ok, since, type TokenFact, timesText, warn } from './facts.ts'

const WEEK = 7 * 86_400_000
const MAKE_ONE =
  'create a token for a sender with "incmon token create --name alertmanager", or for a user with "--scopes read,write"'

/**
 * A token counts as in use if it was used in the last 7 days, or if it is valid but has never been used. Other tokens
 * are not reported.
 */
export function diagnoseTokens(tokens: readonly TokenFact[], now: number): Finding[] {
  if (!tokens.some(({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now))) {
    const what = tokens.length === 0 ? 'there are no tokens' : 'every token is revoked or expired'
    return [warn('token', `${what}: every request is rejected with 401`, MAKE_ONE)]
  }
  const found = tokens.flatMap((token) => diagnoseToken(token, now) ?? [])
  return found.length > 0 ? found : [ok('token', 'no token in use expires within 7 days')]
}

/** Returns at most a warning, because the token may be meant to expire. */
function diagnoseToken(token: TokenFact, now: number): Finding | null {
  const { organization, name, expiresAt, revokedAt, lastUsedAt } = token
  if (revokedAt !== null || expiresAt === null || expiresAt - now > WEEK) return null
  if (lastUsedAt === null ? expiresAt <= now : now - lastUsedAt > WEEK) return null
  const used = lastUsedAt === null ? 'not used yet' : `last used ${since(lastUsedAt, now)}`
  const end = formatInstant(expiresAt)
  const text =
    expiresAt <= now
      ? `expired on ${end}, ${used}: requests with this token are rejected`
      : `expires on ${end}, ${used}`
  return warn('token', `${organization}/${name}: ${text}`, remedyFor(token))
}

function remedyFor({ id, scopes, cluster }: TokenFact): string {
  const like = [`scopes ${scopes.join(',')}`, cluster && `cluster ${cluster}`].filter(Boolean).join(', ')
  const user = scopes.includes('ingest') ? 'sender' : 'caller'
  return `create a new token with "incmon token create" (${like}), use it in the configuration of the ${user}, then run "incmon token revoke ${id}"`
}

/** Returns one warning for each of the newest networks whose senders were rejected, because nobody else would notice. */
export function diagnoseRefusedSenders({ refusedSenders: { newest, more }, now }: DoctorFacts): Finding[] {
  const texts = newest.map((sender) => {
    const last = since(now - sender.agoMs, now)
    return `requests from ${sender.network} were rejected ${timesText(sender)} with 401, last ${last}`
  })
  if (more > 0) texts.push(`requests from ${countOf(more, 'more network')} were rejected with 401 in the last hour`)
  const remedy = `the token is missing or wrong: correct it in the configuration of the sender; ${MAKE_ONE}`
  return texts.map((text) => warn('token', text, remedy))
}
