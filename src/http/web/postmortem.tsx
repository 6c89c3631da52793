/** /incidents/:id/postmortem: the document, its parts for people, and the same as Markdown. */
import { IncmonError } from '../../domain/error.ts'
import { type Edits, markdown, merge } from '../../domain/postmortem/postmortem.ts'
import { editPostmortem, whyNoPostmortem } from '../../operations/postmortems.ts'
import { findPostmortem } from '../../store/incident/postmortems.ts'
import { type Reply, text } from '../middleware/reply.ts'
import { PostmortemPage } from '../pages/postmortem/postmortem.tsx'
import type { PartName } from '../pages/postmortem/view.ts'
import { incidentViewOf } from './incident-view.ts'
import { incidentFacts, incidentPath, requireIncident } from './incidents.tsx'
import { type PageRoute, page, type Visit } from './page.ts'
import { redirect, show } from './reply.ts'

const PARTS: readonly PartName[] = ['summary', 'customers', 'rootCause', 'wentWell', 'wentBadly', 'lucky']
const LONGEST = 65_536

export const postmortemRoutes: readonly PageRoute[] = [
  page({ method: 'GET', path: '/incidents/:id/postmortem', scope: 'read', handle: showPostmortem }),
  page({ method: 'GET', path: '/incidents/:id/postmortem.md', scope: 'read', handle: showMarkdown }),
  page({ method: 'POST', path: '/incidents/:id/postmortem', scope: 'write', handle: savePostmortem }),
]

async function showPostmortem(visit: Visit): Promise<Reply> {
  const { visitor, query } = visit
  const { incident, document } = await requirePostmortem(visit)
  const shown = incidentViewOf(await incidentFacts(visit, incident), visit.viewer, { range: '', order: 'oldest' })
  const view = {
    ...{ reader: shown.reader, incident: shown.incident, picture: shown.picture, document },
    ...{ csrf: visitor.csrf, canWrite: visitor.scopes.includes('write') },
    editing: PARTS.find((name) => name === query('edit')) ?? null,
  }
  const title = `Postmortem of ${incident.title}, ${document.header.state}`
  return show(visit, { title, content: <PostmortemPage view={view} />, current: 'incidents' })
}

async function showMarkdown(visit: Visit): Promise<Reply> {
  return text(markdown((await requirePostmortem(visit)).document), 'text/markdown; charset=UTF-8')
}

/** Stores the one part that the form has, or the state. */
async function savePostmortem(visit: Visit): Promise<Reply> {
  const { store, visitor, form } = visit
  const { incident } = await requirePostmortem(visit)
  const name = PARTS.find((one) => form.fields.some(([field]) => field === one))
  const state = form.text('state')
  const address = `${incidentPath(incident)}/postmortem`
  if (name) {
    const written = form.text(name).slice(0, LONGEST)
    await store.run(editPostmortem, visitor.organizationId, incident.id, editsOf(name, written === '' ? null : written))
    return redirect(visit, `${address}#${name}`, 'saved')
  }
  if (state === 'draft' || state === 'final')
    await store.run(editPostmortem, visitor.organizationId, incident.id, { state })
  return redirect(visit, address, 'saved')
}

function editsOf(name: PartName, written: string | null): Edits {
  switch (name) {
    case 'summary':
    case 'rootCause':
      return { [name]: written }
    case 'customers':
      return { impact: { customers: written } }
    default:
      return { lessons: { [name]: written } }
  }
}

/** The incident with its newest postmortem. @throws IncmonError `not-found` with the reason */
async function requirePostmortem(visit: Visit) {
  const { store, visitor } = visit
  const incident = await requireIncident(visit)
  const record = await store.read(findPostmortem, visitor.organizationId, incident.id)
  if (!record) throw new IncmonError('not-found', whyNoPostmortem(visitor.plan, incident.resolvedAt))
  return { incident, document: merge(record.document, record.edits, record.state) }
}
