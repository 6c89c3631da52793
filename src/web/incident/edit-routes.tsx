/** What the forms about an incident do: declare, edit, merge, notes and action items. */
import { addActionItem, changeActionItem } from '../../actions/action-items.ts'
import { type FieldError, IncmonError } from '../../domain/error.ts'
import { ACTION_STATES } from '../../domain/postmortem/document.ts'
import { SEVERITIES } from '../../domain/severity.ts'
import { formatCount } from '../../domain/text.ts'
import { addNote, changeIncident, createIncident, noteChange } from '../../engine/changes/incidents/incident-changes.ts'
import { mergeIncidents } from '../../engine/changes/incidents/merge.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { findIncident, findIncidentByNumber, type IncidentRecord } from '../../store/incident/incidents.ts'
import { type PageRoute, page, type Visit } from '../page.ts'
import { type FieldNames, withFormErrors } from '../visit/apply.ts'
import { choiceOf } from '../visit/choice.ts'
import { namedServices } from '../visit/named-service.ts'
import { redirect } from '../visit/reply.ts'
import { incidentPath, requireIncident } from './find.ts'
import { showIncident, showIncidents } from './routes.tsx'
import type { Typed } from './view.ts'

const MAX_TITLE = 200
const MAX_NOTE = 10_000
const MAX_TEXT = 2_000
const MAX_OWNER = 200

export const incidentEditRoutes: readonly PageRoute[] = [
  page('POST /incidents', 'write', (visit) => attempt(visit, 'declare', () => declare(visit), showIncidents)),
  page('POST /incidents/:id/edit', 'write', editIncident),
  page('POST /incidents/:id/merge', 'write', mergeIncident),
  page('POST /incidents/:id/notes', 'write', noteIncident),
  page('POST /incidents/:id/actions', 'write', addItem),
  page('POST /incidents/:id/action', 'write', changeItem),
]

/** The fields have the same ids as in the API. */
const FIELDS: FieldNames = {
  title: ['title', 'Title'],
  service: ['service', 'Service'],
  into: ['into', 'Merge into incident'],
  note: ['note', 'Note'],
  text: ['text', 'Action item'],
  owner: ['owner', 'Owner'],
  due: ['due', 'Due'],
}

/** Does what a form asks for. If the input is refused, shows the page again with what was typed. */
async function attempt(
  visit: Visit,
  form: Typed['form'],
  work: () => Promise<Reply>,
  showAgain: (visit: Visit, typed: Typed) => Promise<Reply> = showIncident,
): Promise<Reply> {
  const found = await withFormErrors(FIELDS, work)
  if ('done' in found) return found.done
  return showAgain(visit, { form, values: Object.fromEntries(visit.form.fields), faults: found.faults })
}

async function declare(visit: Visit): Promise<Reply> {
  const { own, form } = visit
  const name = form.text('service')
  const title = titleIn(form.text('title'))
  const services = await namedServices(visit, name)
  const [service] = services
  refuse([...titleFaults(title), ...serviceFaults(name, services.length)])
  if (!service) throw new TypeError('a service without a fault is missing')
  const severity = choiceOf(form.text('severity'), SEVERITIES, 'critical')
  const id = await own.change((ctx, at, actor) =>
    createIncident(ctx, { title, serviceId: service.id, severity }, actor, at),
  )
  const opened = await own.read(findIncident, id)
  return redirect(visit, opened ? incidentPath(opened) : '/incidents', 'declared')
}

function titleIn(text: string): string {
  return text.replace(/\s+/g, ' ')
}

function titleFaults(title: string): FieldError[] {
  if (title === '') return [{ path: 'title', message: 'empty; enter what is wrong' }]
  return tooLong('title', title, MAX_TITLE)
}

function serviceFaults(name: string, found: number): FieldError[] {
  const message =
    found === 0
      ? `no service is named ${name === '' ? 'like this' : name}; enter a name that the page Services shows`
      : `${found} services are named ${name}; enter namespace/name`
  return found === 1 ? [] : [{ path: 'service', message }]
}

function tooLong(path: string, text: string, most: number): FieldError[] {
  const message = `too long; at most ${formatCount(most)} characters, and this has ${formatCount(text.length)}`
  return text.length > most ? [{ path, message }] : []
}

/** @throws IncmonError `invalid` if there are faults */
function refuse(faults: readonly FieldError[]): void {
  const [first] = faults
  if (first) throw new IncmonError('invalid', `${first.path}: ${first.message}`, faults)
}

async function editIncident(visit: Visit): Promise<Reply> {
  const { own, form } = visit
  const incident = await requireIncident(visit)
  return attempt(visit, 'edit', async () => {
    const title = titleIn(form.text('title'))
    refuse(titleFaults(title))
    const severity = choiceOf(form.text('severity'), SEVERITIES, incident.severity)
    await own.change((ctx, now, actor) => changeIncident(ctx, incident.id, { title, severity }, actor, now))
    return redirect(visit, incidentPath(incident), 'saved')
  })
}

async function mergeIncident(visit: Visit): Promise<Reply> {
  const { own, form } = visit
  const from = await requireIncident(visit)
  return attempt(visit, 'merge', async () => {
    const number = form.text('into').replace(/^#/, '')
    const isNumber = /^\d{1,9}$/.test(number)
    const into = isNumber ? await own.read(findIncidentByNumber, Number(number)) : undefined
    const message = `there is no incident ${number}; enter the number of an unresolved incident`
    if (!into) throw new IncmonError('invalid', `into: ${message}`, [{ path: 'into', message }])
    const ids = { from: from.id, into: into.id }
    await own.change((ctx, now, actor) => mergeIncidents(ctx, ids, actor, now))
    return redirect(visit, incidentPath(into), 'merged')
  })
}

async function noteIncident(visit: Visit): Promise<Reply> {
  const { own, form } = visit
  const incident = await requireIncident(visit)
  return attempt(visit, 'note', async () => {
    const text = form.text('text')
    if (text === '') return redirect(visit, `${incidentPath(incident)}#timeline`)
    refuse(tooLong('note', text, MAX_NOTE))
    await own.change((ctx, now, actor) => addNote(ctx, incident.id, text, actor, now))
    return redirect(visit, `${incidentPath(incident)}#timeline`, 'noted')
  })
}

async function addItem(visit: Visit): Promise<Reply> {
  const { own, form } = visit
  const incident = await requireIncident(visit)
  return attempt(visit, 'item', async () => {
    const { text, owner, due } = form.record(['text', 'owner', 'due'])
    const empty = text === '' ? [{ path: 'text', message: 'empty; enter what has to be done' }] : []
    refuse([...empty, ...tooLong('text', text, MAX_TEXT), ...tooLong('owner', owner, MAX_OWNER)])
    const item = { text, ...(owner === '' ? {} : { owner }), ...(due === '' ? {} : { due }) }
    await own.run(addActionItem, incident.id, item)
    await note(visit, incident, `action item added: ${text}`)
    return back(visit, incident)
  })
}

async function changeItem(visit: Visit): Promise<Reply> {
  const { own, form } = visit
  const incident = await requireIncident(visit)
  return attempt(visit, 'assign', async () => {
    const state = ACTION_STATES.find((one) => one === form.text('state'))
    const owner = form.text('owner')
    refuse(tooLong('owner', owner, MAX_OWNER))
    const change = state === undefined ? { owner: owner === '' ? null : owner } : { state }
    const text = await own.run(changeActionItem, incident.id, { id: form.text('item'), ...change })
    await note(visit, incident, `action item ${state ?? 'changed'}: ${text}`)
    return back(visit, incident)
  })
}

function note({ own }: Visit, { id }: IncidentRecord, text: string): Promise<void> {
  return own.change((ctx, now, actor) => noteChange(ctx, id, text, actor, now))
}

function back(visit: Visit, incident: IncidentRecord): Reply {
  return redirect(visit, `${incidentPath(incident)}#actions`, 'saved')
}
