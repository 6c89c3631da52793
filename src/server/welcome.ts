/** The first words of a server: how to get a token, or, on a terminal only, a setup link and a first token. */

import { inShell } from '../cli/database.ts'
import { KEYS } from '../config.ts'
import { SCOPES } from '../domain/token.ts'
import type { Deps } from '../operations/deps.ts'
import { createSetupLink } from '../operations/sessions.ts'
import { createToken, hasUsableToken } from '../operations/tokens.ts'
import { listOrganizations } from '../store/organizations.ts'
import { listSessions } from '../store/sessions.ts'

/**
 * Returns the lines; none once there is a token and, on a terminal, somebody is signed in. A journal keeps what is
 * printed, so tokens and links are printed on a terminal only.
 */
export function firstWords(
  deps: Deps,
  seen: { readonly url: string; readonly toTerminal: boolean; readonly program: string },
): string[] {
  const [organization] = listOrganizations(deps.db)
  if (!organization) return []
  const hasToken = hasUsableToken(deps)
  const isSignedIn = listOrganizations(deps.db).some(({ rowId }) => listSessions(deps.db, rowId, deps.now()).length > 0)
  const link = seen.toTerminal && !isSignedIn ? linkLines(deps, organization.rowId, seen.url) : []
  if (hasToken) return link
  if (!seen.toTerminal) {
    const database = deps.db.file === KEYS.database.fallback ? '' : ` --database ${inShell(deps.db.file)}`
    const one = ` --org ${inShell(organization.name)} --scopes ${SCOPES.join(',')}${database}`
    return [`there is no token yet; this makes one: ${seen.program} token create${one}`]
  }
  const { token } = createToken(deps, { organizationId: organization.rowId, name: 'first', scopes: SCOPES })
  return [
    ...link,
    '',
    `Your first token, for all of the organization ${organization.name}; keep it, it is not shown again:`,
    '',
    `  ${token}`,
    '',
    'Try it with a test alert, from another terminal:',
    '',
    `  ${tryLine(seen.url, token)}`,
    '',
  ]
}

/** The address of a setup link. `url` is the server's, without a slash at its end. */
export function setupAddress(url: string, secret: string): string {
  return `${url}/setup?key=${secret}`
}

function linkLines(deps: Deps, organizationId: number, url: string): string[] {
  const { secret } = createSetupLink(deps, organizationId)
  return [
    '',
    'Open this link in a browser. It signs you in, works once, and expires in 30 minutes:',
    '',
    `  ${setupAddress(url, secret)}`,
  ]
}

function tryLine(url: string, token: string): string {
  const alert = { labels: { alertname: 'Hello', namespace: 'demo', service: 'demo', severity: 'warning' } }
  const body = JSON.stringify({ alerts: [alert] })
  return `curl -H 'Authorization: Bearer ${token}' -d '${body}' ${url}/api/webhooks/metrics`
}
