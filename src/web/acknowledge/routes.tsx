/**
 * /acknowledge: the page behind the link in a message. Opening the page changes nothing; its button acknowledges the
 * incident.
 */

import {
  ACKNOWLEDGE_PATH,
  type Acknowledging,
  acknowledge,
  readAcknowledgeLink,
} from '../../actions/acknowledgement.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { findOrganization } from '../../store/organizations.ts'
import { type AnyVisit, openPage, type PageRoute } from '../visit/page.ts'
import { redirect, show } from '../visit/reply.ts'
import { AcknowledgePage, DeadLinkPage } from './page.tsx'

const FIELDS = ['incident', 'channel', 'opening', 'until', 'signature'] as const

export const acknowledgeRoutes: readonly PageRoute[] = [
  openPage(`GET ${ACKNOWLEDGE_PATH}`, (visit) => withLink(visit, visit.query, (found) => showLink(visit, found))),
  openPage(`POST ${ACKNOWLEDGE_PATH}`, (visit) =>
    withLink(visit, visit.form.text, async (found) => {
      await visit.store.run(acknowledge, found, personOf(visit, found))
      const query = new URLSearchParams(FIELDS.map((name): [string, string] => [name, visit.form.text(name)]))
      return redirect(visit, `${ACKNOWLEDGE_PATH}?${query}`)
    }),
  ),
]

/** Returns the result of `answer` if the link is valid. Otherwise, returns a page that says what to do. */
async function withLink(
  visit: AnyVisit,
  get: (name: string) => string,
  answer: (found: Acknowledging) => Promise<Reply>,
): Promise<Reply> {
  const found = await visit.store.run(readAcknowledgeLink, get)
  if (typeof found === 'object') return answer(found)
  const content = <DeadLinkPage reason={found} />
  return show({ ...visit, visitor: null }, { title: 'Acknowledge', content, status: 403 })
}

async function showLink(visit: AnyVisit, found: Acknowledging): Promise<Reply> {
  const { incident, channel, organizationId } = found
  const { title, number, severity, status } = incident
  const fields = Object.fromEntries(FIELDS.map((name) => [name, visit.query(name)]))
  const organization = (await visit.store.read(findOrganization, organizationId))?.name ?? ''
  const view = { title, number, severity, status, channel, organization, person: personOf(visit, found), fields }
  // The page has no navigation, because anyone who can read the channel can open the page without signing in.
  return show({ ...visit, visitor: null }, { title: `Incident #${number}`, content: <AcknowledgePage view={view} /> })
}

/** Returns the visitor's name if they are allowed to change the incident. */
function personOf({ visitor }: AnyVisit, { organizationId }: Acknowledging): string | null {
  const isMember = visitor?.organizationId === organizationId && visitor.scopes.includes('write')
  return isMember ? visitor.actor : null
}
