/** /incidents: the list, the page of one incident, and its actions. */

import { setVerdictOfIncident } from '../../actions/correlations.ts'
import { addNote, changeIncident } from '../../domain/decide/incident-changes.ts'
import { countedGroups } from '../../domain/health/counted-severity.ts'
import { INCIDENT_STATUSES } from '../../domain/incident/incident.ts'
import { DAY } from '../../domain/units.ts'
import { required } from '../../http/middleware/problem.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { findIncidentView } from '../../store/incident/incident-view.ts'
import {
  findIncident,
  findIncidentByNumber,
  type IncidentRecord,
  listIncidents,
} from '../../store/incident/incidents.ts'
import { listChannels } from '../../store/notification/channels.ts'
import { findFrame, findServices } from '../../store/views.ts'
import { silencedOfGroup, silenceEndsOfGroups } from '../silences/silenced.ts'
import { choiceOf, pageOf, withQuery } from '../visit/choice.ts'
import { type PageRoute, page, type Visit } from '../visit/page.ts'
import { redirect, show } from '../visit/reply.ts'
import { causesOf } from './causes.ts'
import { headOf, type IncidentFacts, incidentViewOf } from './data.ts'
import { IncidentListPage, incidentListTitle } from './list.tsx'
import { IncidentPage, incidentTitle } from './page.tsx'

const MAX_NOTE = 10_000

export const incidentRoutes: readonly PageRoute[] = [
  page('GET /incidents', 'read', showIncidents, { shared: true }),
  page('GET /incidents/:id', 'read', showIncident, { shared: true }),
  page('POST /incidents/:id/status', 'write', moveIncident),
  page('POST /incidents/:id/notes', 'write', noteIncident),
  page('POST /incidents/:id/verdict', 'write', judgeSuspect),
]

const LIMIT = 50

async function showIncidents(visit: Visit): Promise<Reply> {
  const { store, visitor, viewer, now, query } = visit
  const { organizationId } = visitor
  const status = choiceOf(query('status'), ['all', ...INCIDENT_STATUSES] as const, 'all')
  const number = pageOf(query('page'))
  const wanted = query('service')
  const only = wanted === '' ? undefined : (await store.read(findServices, organizationId, [wanted], now)).get(wanted)
  const filter = { ...(status === 'all' ? {} : { status }), ...(only ? { serviceId: only.id } : {}) }
  const { items, total } = await store.read(listIncidents, organizationId, filter, { page: number, limit: LIMIT })
  const { openIncidents } = await store.read(findFrame, organizationId)
  const ids = items.map(({ serviceId }) => serviceId)
  const services = await store.read(findServices, organizationId, ids, now)
  const heads = items
    .toSorted((a, b) => Number(a.status === 'resolved') - Number(b.status === 'resolved'))
    .map((incident) => {
      const service = services.get(incident.serviceId)
      return headOf({ incident, service, timeline: [], ...incidentLink(incident) }, viewer)
    })
  const view = {
    ...{ reader: viewer, status, unresolved: openIncidents, incidents: heads, total, page: number },
    service: only ? only.name : null,
    pages: Math.ceil(total / LIMIT),
    addressOf: (to: { readonly status?: string; readonly page?: number }) =>
      listAddress({ status, service: only?.id ?? '', ...to }),
  }
  const content = <IncidentListPage view={view} />
  return show(visit, { title: incidentListTitle(view), content, current: 'incidents' })
}

function listAddress(to: { readonly status: string; readonly service: string; readonly page?: number }): string {
  const { status, service, page = 1 } = to
  return withQuery('/incidents', { status: status === 'all' ? '' : status, service, page: page > 1 ? `${page}` : '' })
}

async function showIncident(visit: Visit): Promise<Reply> {
  const { viewer, visitor, query } = visit
  const facts = await incidentFacts(visit, await requireIncident(visit))
  const shown = incidentViewOf(facts, viewer, { range: query('range'), order: query('order') })
  const channels = await visit.store.read(listChannels, visitor.organizationId, { page: 1, limit: 1 })
  const canWrite = visitor.scopes.includes('write')
  const view = { ...shown, csrf: visitor.csrf, canWrite, hasChannel: channels.total > 0 }
  const content = <IncidentPage view={view} />
  return show(visit, { title: incidentTitle(view), content, current: 'incidents', refreshes: true })
}

/** Loads the data for an incident page. */
export async function incidentFacts(visit: Visit, incident: IncidentRecord): Promise<IncidentFacts> {
  const { store, visitor, now } = visit
  const { organizationId } = visitor
  const [view, causes] = await Promise.all([
    store.read(findIncidentView, organizationId, incident, { from: incident.startedAt - DAY, now }),
    causesOf(visit, incident),
  ])
  const ends = await silenceEndsOfGroups(visit, view.groups)
  const groups = countedGroups(view.groups, view.service).map((group) => ({
    ...group,
    silenced: silencedOfGroup(group, ends),
  }))
  const others = groups.map(({ serviceId }) => serviceId).filter((id) => id !== incident.serviceId)
  const names = new Map(others.length === 0 ? [] : await store.read(findServices, organizationId, others, now))
  if (view.service) names.set(view.service.id, view.service)
  return { incident, ...view, ...causes, groups, names, ...incidentLink(incident) }
}

export function incidentPath({ number }: IncidentRecord): string {
  return `/incidents/${number}`
}

/** Returns the incident's number as it is shown to people, and the URL of its page. */
export function incidentLink(incident: IncidentRecord) {
  return { number: `${incident.number}`, href: incidentPath(incident) }
}

async function moveIncident(visit: Visit): Promise<Reply> {
  const { deps, visitor, form } = visit
  const incident = await requireIncident(visit)
  const status = choiceOf(form.text('status'), INCIDENT_STATUSES, incident.status)
  await deps.engine.run(visitor.organizationId, (ctx, now) =>
    changeIncident(ctx, incident.id, { status }, visitor.actor, now),
  )
  const back = form.text('back') === '/' ? '/' : incidentPath(incident)
  if (incident.status === 'resolved' && status !== 'resolved') return redirect(visit, back, 'reopened')
  if (status === 'resolved') return redirect(visit, back, incident.firingAlerts > 0 ? 'resolved-early' : 'resolved')
  return redirect(visit, back, incident.status === 'open' ? 'acknowledged' : 'status-changed')
}

async function noteIncident(visit: Visit): Promise<Reply> {
  const { deps, visitor, form } = visit
  const incident = await requireIncident(visit)
  const text = form.text('text').slice(0, MAX_NOTE)
  if (text === '') return redirect(visit, `${incidentPath(incident)}#timeline`)
  await deps.engine.run(visitor.organizationId, (ctx, now) => addNote(ctx, incident.id, text, visitor.actor, now))
  return redirect(visit, `${incidentPath(incident)}#timeline`, 'noted')
}

/** Stores a verdict about a suspect, and about all links between the suspect and the incident's alerts. */
async function judgeSuspect(visit: Visit): Promise<Reply> {
  const { store, visitor, form } = visit
  const incident = await requireIncident(visit)
  const word = form.text('verdict')
  const verdict = word === 'confirmed' || word === 'rejected' ? word : null
  const change = { kind: form.text('kind'), ref: form.text('ref') }
  const { suspects } = await causesOf(visit, incident)
  const { rollouts = [] } = suspects.find(({ kind, ref }) => kind === change.kind && ref === change.ref) ?? {}
  const changes = [change, ...rollouts.map((ref) => ({ kind: 'rollout', ref }))]
  await store.run(setVerdictOfIncident, visitor.organizationId, incident, changes, verdict)
  return redirect(visit, incidentPath(incident), 'judged')
}

/** Finds an incident by its number or its UUID. */
export function findNamedIncident({ store, visitor }: Visit, name: string): Promise<IncidentRecord | undefined> {
  const { organizationId } = visitor
  return /^\d{1,9}$/.test(name)
    ? store.read(findIncidentByNumber, organizationId, Number(name))
    : store.read(findIncident, organizationId, name)
}

/** Returns the incident whose ID is in the path. @throws IncmonError `not-found` */
export function requireIncident(visit: Visit): Promise<IncidentRecord> {
  return required(findNamedIncident(visit, visit.id), 'incident', 'the page Incidents')
}
