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
import { severeOf, silencedText, stateOf } from '../../domain/incident/lasted.ts'
import { personName } from '../../domain/request/session.ts'
import { STATES } from '../../domain/severity.ts'
import { formatDuration, formatLasted } from '../../domain/shown-time.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { findGroup } from '../../store/incident/groups.ts'
import { findIncident, findMergedInto, type IncidentRecord } from '../../store/incident/incidents.ts'
import { findLikelyCause } from '../../store/incident/likely-cause.ts'
import { findOrganization } from '../../store/organizations.ts'
import type { Fault } from '../kit/form.tsx'
import { type AnyVisit, openPage, type PageRoute } from '../page.ts'
import { redirect, show } from '../visit/reply.ts'
import { choiceCookie, cookieOf } from '../visit/visitor.ts'
import { AcknowledgePage, DeadLinkPage } from './page.tsx'

const NAME_COOKIE = 'incmon_name'
const NO_NAME: Fault = { path: 'name', label: 'Your name', message: 'Enter your name.' }
const FIELDS = ['incident', 'channel', 'opening', 'until', 'signature'] as const

export const acknowledgeRoutes: readonly PageRoute[] = [
  openPage(`GET ${ACKNOWLEDGE_PATH}`, (visit) =>
    withLink(visit, visit.query, (found) => showLink(visit, found, visit.query)),
  ),
  openPage(`POST ${ACKNOWLEDGE_PATH}`, (visit) =>
    withLink(visit, visit.form.text, async (found) => {
      const name = personOf(visit, found) ?? personName(visit.form.text('name'))
      if (name === '') return showLink(visit, found, visit.form.text, [NO_NAME])
      const members = visit.form.text('group') === '' ? [] : ((await groupOf(visit, found))?.members ?? [])
      await visit.store.run(acknowledge, found.organizationId, [found.incident.id, ...members], name)
      const query = new URLSearchParams(FIELDS.map((name): [string, string] => [name, visit.form.text(name)]))
      return redirect(
        visit,
        `${ACKNOWLEDGE_PATH}?${query}`,
        undefined,
        choiceCookie(visit.c, visit, NAME_COOKIE, encodeURIComponent(name)),
      )
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

async function showLink(
  visit: AnyVisit,
  found: Acknowledging,
  get: (name: string) => string,
  faults: readonly Fault[] = [],
): Promise<Reply> {
  const { incident, organizationId } = found
  const { title, number, severity, status, acknowledgedBy } = incident
  const fields = Object.fromEntries(FIELDS.map((name) => [name, get(name)]))
  const [organization, into, cause, group] = await Promise.all([
    visit.store.read(findOrganization, organizationId),
    status === 'resolved' ? visit.store.read(findMergedInto, organizationId, incident) : undefined,
    visit.store.read(findLikelyCause, organizationId, incident.id, visit.deps.now()),
    openGroup(visit, found),
  ])
  const view = {
    ...{ title, number, severity, status, acknowledgedBy, fields, faults, group },
    organization: organization?.name ?? '',
    state: into ? mergedText(into, visit.deps.now()) : problemText(incident, visit.deps.now()),
    into: into?.number ?? null,
    cause: cause?.cause ?? '',
    person: personOf(visit, found),
    knownName: rememberedName(visit),
  }
  // The page has no navigation, because anyone who can read the channel can open the page without signing in.
  const content = <AcknowledgePage view={view} />
  const page = { title: `Incident #${number}`, content }
  return show({ ...visit, visitor: null }, faults.length > 0 ? { ...page, status: 400 } : page)
}

function groupOf({ store }: AnyVisit, { organizationId, incident }: Acknowledging) {
  return store.read(findGroup, organizationId, incident.id)
}

/** Returns the other incidents of the group that nobody has acknowledged; null if there are none. */
async function openGroup(visit: AnyVisit, found: Acknowledging) {
  const group = await groupOf(visit, found)
  if (!group) return null
  const others = group.members.filter((id) => id !== found.incident.id)
  const read = others.map((id) => visit.store.read(findIncident, found.organizationId, id))
  const titles = (await Promise.all(read)).flatMap((one) => (one?.status === 'open' ? [one.title] : []))
  return titles.length === 0 ? null : { cause: group.cause, titles }
}

/** Returns the name that was used last in this browser, or ''. */
function rememberedName({ c }: AnyVisit): string {
  return new URLSearchParams(`name=${cookieOf(c, NAME_COOKIE)}`).get('name') ?? ''
}

/** Says where an incident goes on that was merged into another one. */
function mergedText({ number, title, status, problem, acknowledgedBy }: IncidentRecord, now: number): string {
  const isResolved = status === 'resolved'
  const onIt = acknowledgedBy === null || isResolved ? '' : ` ${acknowledgedBy} is working on it.`
  const state = `${isResolved ? 'which is resolved, and ' : ''}whose problem ${stateOf(problem, now)}`
  return `This incident was merged into incident #${number}, “${title}”, ${state}.${onIt}`
}

function problemText(incident: IncidentRecord, now: number): string {
  const { problem } = incident
  const { severity, ms, mutedMs } = severeOf(incident, now)
  const [is, format] =
    problem.since === null
      ? ([STATES[severity].was, formatLasted] as const)
      : ([STATES[severity].hasBeen, formatDuration] as const)
  return `The problem ${stateOf(problem, now)}. The service ${is} for ${format(ms)}${silencedText(mutedMs)}.`
}

/** Returns the visitor's name if they are allowed to change the incident. */
function personOf({ visitor }: AnyVisit, { organizationId }: Acknowledging): string | null {
  const isMember = visitor?.organizationId === organizationId && visitor.scopes.includes('write')
  return isMember ? visitor.actor : null
}
