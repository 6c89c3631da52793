/** What the forms about an incident do: declare, edit, merge, and action items. */
import { addActionItem, changeActionItem } from '../../actions/action-items.ts'
import { IncmonError } from '../../domain/error.ts'
import { ACTION_STATES } from '../../domain/postmortem/document.ts'
import { SEVERITIES } from '../../domain/severity.ts'
import {
  changeIncident,
  createIncident,
  mergeIncidents,
  noteChange,
} from '../../engine/changes/incidents/incident-changes.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { findIncident, findIncidentByNumber, type IncidentRecord } from '../../store/incident/incidents.ts'
import { listServices } from '../../store/service/services.ts'
import { type PageRoute, page, type Visit } from '../page.ts'
import { choiceOf } from '../visit/choice.ts'
import { redirect } from '../visit/reply.ts'
import { incidentPath, requireIncident } from './find.ts'

const MAX_TITLE = 200
const MAX_TEXT = 2_000
const MAX_OWNER = 200

export const incidentEditRoutes: readonly PageRoute[] = [
  page('POST /incidents', 'write', declareIncident),
  page('POST /incidents/:id/edit', 'write', editIncident),
  page('POST /incidents/:id/merge', 'write', mergeIncident),
  page('POST /incidents/:id/actions', 'write', addItem),
  page('POST /incidents/:id/action', 'write', changeItem),
]

async function declareIncident(visit: Visit): Promise<Reply> {
  const { deps, store, visitor, form, now } = visit
  const { organizationId } = visitor
  const name = form.text('service')
  const services = await store.read(listServices, organizationId, now, true)
  const [service, second] = services.filter((one) => {
    return [one.id, one.name, `${one.namespace}/${one.name}`].includes(name)
  })
  if (!service) throw invalid(`There is no service named ${name}. Enter the name that the page Services shows.`)
  if (second) throw invalid(`Several services are named ${name}. Enter namespace/name.`)
  const title = titleOf(form.text('title'))
  const severity = choiceOf(form.text('severity'), SEVERITIES, 'critical')
  const id = await deps.engine.run(organizationId, (ctx, at) =>
    createIncident(ctx, { title, serviceId: service.id, severity }, visitor.actor, at),
  )
  const opened = await store.read(findIncident, organizationId, id)
  return redirect(visit, opened ? incidentPath(opened) : '/incidents', 'declared')
}

function titleOf(text: string): string {
  const title = text.replace(/\s+/g, ' ').slice(0, MAX_TITLE)
  if (title === '') throw invalid('The title is empty. Enter what is wrong.')
  return title
}

async function editIncident(visit: Visit): Promise<Reply> {
  const { deps, visitor, form } = visit
  const incident = await requireIncident(visit)
  const title = titleOf(form.text('title'))
  const severity = choiceOf(form.text('severity'), SEVERITIES, incident.severity)
  await deps.engine.run(visitor.organizationId, (ctx, now) =>
    changeIncident(ctx, incident.id, { title, severity }, visitor.actor, now),
  )
  return redirect(visit, incidentPath(incident), 'saved')
}

async function mergeIncident(visit: Visit): Promise<Reply> {
  const { deps, store, visitor, form } = visit
  const from = await requireIncident(visit)
  const number = form.text('into').replace(/^#/, '')
  const isNumber = /^\d{1,9}$/.test(number)
  const into = isNumber ? await store.read(findIncidentByNumber, visitor.organizationId, Number(number)) : undefined
  if (!into) throw invalid(`There is no incident ${number}. Enter the number of an unresolved incident.`)
  const ids = { from: from.id, into: into.id }
  await deps.engine.run(visitor.organizationId, (ctx, now) => mergeIncidents(ctx, ids, visitor.actor, now))
  return redirect(visit, incidentPath(into), 'merged')
}

async function addItem(visit: Visit): Promise<Reply> {
  const { store, visitor, form } = visit
  const incident = await requireIncident(visit)
  const text = form.text('text').slice(0, MAX_TEXT)
  if (text === '') return back(visit, incident)
  const [owner, due] = [form.text('owner').slice(0, MAX_OWNER), form.text('due')]
  const item = { text, ...(owner === '' ? {} : { owner }), ...(due === '' ? {} : { due }) }
  await store.run(addActionItem, visitor.organizationId, incident.id, item)
  await note(visit, incident, `action item added: ${text}`)
  return back(visit, incident)
}

async function changeItem(visit: Visit): Promise<Reply> {
  const { store, visitor, form } = visit
  const incident = await requireIncident(visit)
  const state = ACTION_STATES.find((one) => one === form.text('state'))
  const owner = form.text('owner').slice(0, MAX_OWNER)
  const change = state === undefined ? { owner: owner === '' ? null : owner } : { state }
  await store.run(changeActionItem, visitor.organizationId, incident.id, { id: form.text('item'), ...change })
  await note(visit, incident, 'action item changed')
  return back(visit, incident)
}

function note({ deps, visitor }: Visit, { id }: IncidentRecord, text: string): Promise<void> {
  return deps.engine.run(visitor.organizationId, (ctx, now) => noteChange(ctx, id, text, visitor.actor, now))
}

function back(visit: Visit, incident: IncidentRecord): Reply {
  return redirect(visit, `${incidentPath(incident)}#actions`, 'saved')
}

function invalid(message: string): IncmonError {
  return new IncmonError('invalid', message)
}
