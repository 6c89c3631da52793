/** Builds the server's first lines of output: how to sign in, the first token, and how to send a test alert. */

import type { Deps } from '../actions/deps.ts'
import { createSetupLink } from '../actions/sessions.ts'
import { createToken, hasUsableToken } from '../actions/tokens.ts'
import { setupAddress } from '../domain/request/session.ts'
import { SCOPES } from '../domain/request/token.ts'
import { shellQuote } from '../domain/terminal.ts'
import { KEYS } from '../settings.ts'
import { listOrganizations } from '../store/organizations.ts'
import { listSessions } from '../store/sessions.ts'

/** `url` is where the server listens, `publicUrl` where browsers reach it. Neither URL has a trailing slash. */
type Addresses = {
  readonly url: string
  readonly publicUrl: string
  readonly toTerminal: boolean
  readonly program: string
}

/**
 * Returns at most three lines. Tokens and links are printed only on a terminal, because other output might be stored in
 * a journal. The setup link is printed until somebody has signed in. The token and the test alert are printed until a
 * token exists.
 */
export function firstLines(deps: Deps, seen: Addresses): string[] {
  const organizations = listOrganizations(deps.db)
  const [organization] = organizations
  if (!organization) return []
  const hasToken = hasUsableToken(deps)
  if (!seen.toTerminal) return hasToken ? [] : [tokenCommand(deps.db.file, organization.name, seen.program)]
  const isSignedIn = organizations.some(({ rowId }) => listSessions(deps.db, rowId, deps.now()).length > 0)
  const link = isSignedIn ? [] : [signInLine(deps, organization.rowId, seen.publicUrl)]
  if (hasToken) return link
  const { token } = createToken(deps, { organizationId: organization.rowId, name: 'first', scopes: SCOPES })
  return [...link, `Token with all scopes, shown only once: ${token}`, `Send a test alert: ${curl(seen.url, token)}`]
}

function signInLine(deps: Deps, organizationId: number, url: string): string {
  const { secret } = createSetupLink(deps, organizationId)
  return `Sign in with a browser (this link works once and expires after 30 minutes): ${setupAddress(url, secret)}`
}

function tokenCommand(file: string, organization: string, program: string): string {
  const database = file === KEYS.database.fallback ? '' : ` --database ${shellQuote(file)}`
  const options = ` --org ${shellQuote(organization)} --scopes ${SCOPES.join(',')}${database}`
  return `no token exists yet: create one with ${program} token create${options}`
}

function curl(url: string, token: string): string {
  const alert = { labels: { alertname: 'Hello', namespace: 'demo', service: 'demo', severity: 'warning' } }
  const body = JSON.stringify({ alerts: [alert] })
  return `curl -H 'Authorization: Bearer ${token}' -d '${body}' ${url}/api/webhooks/metrics`
}
