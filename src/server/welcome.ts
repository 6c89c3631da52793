/** The first words of a server: how to get a token, or, to a terminal alone, a token and a line to try it with. */

import { hasUsableToken } from '../cli/commands/token.ts'
import { KEYS } from '../config.ts'
import { SCOPES } from '../domain/token.ts'
import type { Deps } from '../operations/deps.ts'
import { createToken } from '../operations/tokens.ts'
import { listOrganizations } from '../store/organizations.ts'

/** Nothing once a token exists. A journal keeps what is printed, so that no token goes anywhere but to a terminal. */
export function firstWords(
  deps: Deps,
  seen: { readonly url: string; readonly toTerminal: boolean; readonly program: string },
): string[] {
  const [organization] = listOrganizations(deps.db)
  if (!organization || hasUsableToken(deps.db, deps.now())) return []
  if (!seen.toTerminal) {
    const database = deps.db.file === KEYS.database.fallback ? '' : ` --database ${quoted(deps.db.file)}`
    const one = ` --org ${quoted(organization.name)} --scopes ${SCOPES.join(',')}${database}`
    return [`there is no token yet; this makes one: ${seen.program} token create${one}`]
  }
  const { token } = createToken(deps, { organizationId: organization.key, name: 'first', scopes: SCOPES })
  return [
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

function tryLine(url: string, token: string): string {
  const alert = { labels: { alertname: 'Hello', namespace: 'demo', service: 'demo', severity: 'warning' } }
  const body = JSON.stringify({ alerts: [alert] })
  return `curl -H 'Authorization: Bearer ${token}' -d '${body}' ${url}/api/webhooks/metrics`
}

/** As a shell takes it. */
function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
