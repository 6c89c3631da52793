/** /incidents/:id/postmortem: shows and edits the postmortem, and serves it as Markdown. */

import { editPostmortem, requireWritten, whyNoPostmortem } from '../../actions/postmortems.ts'
import { IncmonError } from '../../domain/error.ts'
import { hasPostmortems } from '../../domain/organization.ts'
import type { Postmortem } from '../../domain/postmortem/document.ts'
import { type Edits, merge } from '../../domain/postmortem/edits.ts'
import { markdown } from '../../domain/postmortem/markdown.ts'
import { inZone } from '../../domain/shown-time.ts'
import { type Reply, text } from '../../http/middleware/reply.ts'
import { findGraph } from '../../store/incident/graphs.ts'
import type { IncidentRecord } from '../../store/incident/incidents.ts'
import { findPostmortem, type PostmortemRecord } from '../../store/incident/postmortems.ts'
import type { LanePicture } from '../drawing/lane-model.ts'
import { incidentViewOf } from '../incident/data.ts'
import { incidentFacts, incidentLink, incidentPath, requireIncident } from '../incident/find.ts'
import { type PageRoute, page, type Visit } from '../page.ts'
import { redirect, show } from '../visit/reply.ts'
import { NO_POSTMORTEM, NoPostmortemPage, PostmortemPage } from './page.tsx'
import { PARTS, type PartName, type PostmortemView } from './parts.tsx'

const NAMES = Object.keys(PARTS) as PartName[]
const MAX_LENGTH = 65_536

export const postmortemRoutes: readonly PageRoute[] = [
  page('GET /incidents/:id/postmortem', 'read', showPostmortem),
  page('GET /incidents/:id/postmortem.md', 'read', showMarkdown),
  page('POST /incidents/:id/postmortem', 'write', savePostmortem),
]

async function showPostmortem(visit: Visit): Promise<Reply> {
  const { incident, record } = await findRecord(visit)
  if (!record) return showNone(visit, incident)
  const editing = NAMES.find((name) => name === visit.query('edit')) ?? null
  return showDocument(visit, incident, record, { editing, refused: null })
}

async function showDocument(
  visit: Visit,
  incident: IncidentRecord,
  record: PostmortemRecord,
  written: Pick<PostmortemView, 'editing' | 'refused'>,
): Promise<Reply> {
  const document = documentOf(record, visit.viewer.zone)
  const shown = incidentViewOf(await incidentFacts(visit, incident), visit.viewer, { range: '', order: 'oldest' })
  const { incident: head, graph } = shown
  const view = { incident: head, picture: pictureIn(document, shown.picture), graph, document, ...written }
  const title = `Postmortem of ${incident.title}, ${document.header.state}`
  const status = written.refused ? 409 : 200
  // A refresh would replace the text that the form was opened with, so that a conflict could not be detected.
  const still = written.editing !== null
  return show(visit, { title, content: <PostmortemPage view={view} />, status, current: 'incidents', still })
}

/** Returns the picture without the changes that the document does not name. */
function pictureIn(document: Postmortem, picture: LanePicture): LanePicture {
  const text = JSON.stringify(document)
  const isTold = ({ lane, id }: LanePicture['bars'][number]) =>
    (lane !== 'ci' && lane !== 'rollouts') || text.includes(JSON.stringify(id).slice(1, -1))
  return { ...picture, bars: picture.bars.filter(isTold) }
}

function showNone(visit: Visit, incident: IncidentRecord): Promise<Reply> {
  const named = { ...incidentLink(incident), resolved: incident.resolvedAt !== null }
  const content = <NoPostmortemPage incident={named} hasPlan={hasPostmortems(visit.visitor.plan)} />
  return show(visit, { title: NO_POSTMORTEM, content, status: 404, current: 'incidents' })
}

async function showMarkdown(visit: Visit): Promise<Reply> {
  const { incident, document } = await requirePostmortem(visit)
  const found = await visit.own.read(findGraph, incident.id)
  const graph = found && { found, startedAt: incident.startedAt }
  return text(markdown(document, graph), 'text/markdown; charset=UTF-8')
}

/** Stores the edited section or the state. Rejected text is shown again so that it is not lost. */
async function savePostmortem(visit: Visit): Promise<Reply> {
  const { own, form } = visit
  const { incident } = await requirePostmortem(visit)
  const name = NAMES.find((one) => form.fields.some(([field]) => field === one))
  const state = form.text('state')
  const address = `${incidentPath(incident)}/postmortem`
  if (name) {
    const written = form.text(name).slice(0, MAX_LENGTH)
    const seen = form.fields.some(([field]) => field === 'seen') ? editsOf(name, form.text('seen')) : undefined
    try {
      await own.run(editPostmortem, incident.id, editsOf(name, written), seen)
    } catch (error) {
      if (error instanceof IncmonError && error.code === 'conflict') return showRefused(visit, name, written, error)
      throw error
    }
    return redirect(visit, `${address}#part-${name}`, 'saved')
  }
  if (state === 'draft' || state === 'final') await own.run(editPostmortem, incident.id, { state })
  return redirect(visit, address, 'saved')
}

async function showRefused(visit: Visit, name: PartName, text: string, error: IncmonError): Promise<Reply> {
  const { incident, record } = await findRecord(visit)
  if (!record) throw error
  const why =
    record.state === 'draft'
      ? 'Somebody else changed this part while you were writing. The new version is below. Merge both versions and save again.'
      : 'Somebody marked this postmortem as final while you were writing. Open it in another tab, make it a draft again, and save.'
  return showDocument(visit, incident, record, { editing: name, refused: { text, why } })
}

function editsOf(name: PartName, text: string): Edits {
  const written = text === '' ? null : text
  if (name === 'customers') return { impact: { customers: written } }
  return name === 'summary' || name === 'rootCause' ? { [name]: written } : { lessons: { [name]: written } }
}

async function requirePostmortem(visit: Visit) {
  const { incident, record } = await findRecord(visit)
  if (!record) throw new IncmonError('not-found', whyNoPostmortem(visit.visitor.plan, incident.resolvedAt))
  return { incident, document: documentOf(record) }
}

async function findRecord(visit: Visit) {
  const { own } = visit
  const incident = await requireIncident(visit)
  await own.run(requireWritten, incident.id)
  return { incident, record: await own.read(findPostmortem, incident.id) }
}

/** `zone`: the time zone in which the generated sentences give times. What people wrote is left as it is. */
function documentOf({ document, edits, state }: PostmortemRecord, zone = 'UTC'): Postmortem {
  return merge(zone === 'UTC' ? document : documentIn(document, zone), edits, state)
}

function documentIn(document: Postmortem, zone: string): Postmortem {
  return JSON.parse(JSON.stringify(document), function (this: { kind?: string }, key, value) {
    const isSentence = (key === 'text' || key === 'definition') && typeof value === 'string' && this.kind !== 'note'
    return isSentence ? inZone(value, zone) : value
  })
}
