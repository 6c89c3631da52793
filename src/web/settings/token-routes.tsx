/** /settings/tokens and /settings/sessions: the tokens and the signed-in browsers. */

import { endSession } from '../../actions/sessions.ts'
import { createToken, revokeToken } from '../../actions/tokens.ts'
import { SCOPES } from '../../domain/request/token.ts'
import { newTokenBody } from '../../http/api/tokens.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { listSessions } from '../../store/sessions.ts'
import { listTokens } from '../../store/tokens.ts'
import { type PageRoute, page, type Visit } from '../page.ts'
import { type FieldNames, validated, withFormErrors } from '../visit/apply.ts'
import { redirect } from '../visit/reply.ts'
import { showSection } from './section-routes.tsx'
import { SessionSettings, type TokenForm, TokenSettings } from './tokens.tsx'

const EVERY = { page: 1, limit: 500 }
const NEW_TOKEN: TokenForm = { name: '', cluster: '', scopes: ['ingest'] }
const FIELDS: FieldNames = { name: ['name', 'Name'], cluster: ['cluster', 'Cluster'], scopes: ['scopes', 'Scopes'] }

export const tokenPages: readonly PageRoute[] = [
  page('GET /settings/tokens', 'admin', (visit) => showTokens(visit)),
  page('POST /settings/tokens', 'admin', makeToken),
  endPage('/settings/tokens', 'revoke', revokeToken, 'token-revoked'),
  page('GET /settings/sessions', 'admin', showSessions),
  endPage('/settings/sessions', 'end', endSession, 'session-ended'),
]

function endPage(
  list: string,
  action: string,
  operation: typeof revokeToken,
  done: 'token-revoked' | 'session-ended',
): PageRoute {
  const handle = async (visit: Visit) => {
    await visit.own.run(operation, visit.id)
    return redirect(visit, list, done)
  }
  return page(`POST ${list}/:id/${action}`, 'admin', handle)
}

async function showTokens(
  visit: Visit,
  { form = NEW_TOKEN, faults = [], created = null }: Partial<Parameters<typeof TokenSettings>[0]> = {},
): Promise<Reply> {
  const { own, now } = visit
  const { items } = await own.read(listTokens, EVERY)
  const tokens = items.filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now),
  )
  const content = <TokenSettings {...{ tokens, form, faults, created }} />
  return showSection(visit, { current: 'tokens', content, faults, still: created !== null })
}

async function makeToken(visit: Visit): Promise<Reply> {
  const { store, form, visitor } = visit
  const typed = { name: form.text('name'), cluster: form.text('cluster'), scopes: form.texts('scope') }
  const attempt = await withFormErrors(FIELDS, () => {
    const body = validated(newTokenBody, typed)
    const scopes = SCOPES.filter((scope) => body.scopes.includes(scope))
    return store.run(createToken, { ...body, scopes, organizationId: visitor.organizationId })
  })
  if (!('done' in attempt)) return showTokens(visit, { form: typed, faults: attempt.faults })
  return showTokens(visit, { created: { name: typed.name, secret: attempt.done.token } })
}

async function showSessions(visit: Visit): Promise<Reply> {
  const { own, visitor, now } = visit
  const open = await own.read(listSessions, now)
  const sessions = open.map((session) => ({ ...session, isOwn: session.id === visitor.sessionId }))
  const content = <SessionSettings sessions={sessions} />
  return showSection(visit, { current: 'sessions', content })
}
