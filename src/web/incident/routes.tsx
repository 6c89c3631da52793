/** /incidents: the list, the page of one incident, and its actions. */

import { setVerdictOfIncident } from '../../actions/correlations.ts'
import { INCIDENT_STATUSES } from '../../domain/incident/incident.ts'
import { beganText, type Cluster } from '../../domain/incident/storm.ts'
import { acknowledgeIncidents, changeIncident } from '../../engine/changes/incidents/incident-changes.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { listActionItems } from '../../store/incident/action-items.ts'
import { findIncident, findIncidentIds, type IncidentRecord } from '../../store/incident/incidents.ts'
import { listChannels } from '../../store/notification/channels.ts'
import { type PageRoute, page, type Visit } from '../page.ts'
import { mutedCount } from '../silences/silenced.ts'
import { choiceOf, pageOf, withQuery } from '../visit/choice.ts'
import { redirect, show } from '../visit/reply.ts'
import { incidentViewOf } from './data.ts'
import { incidentFacts, incidentPath, requireIncident } from './find.ts'
import { IncidentListPage, incidentListTitle } from './list/list.tsx'
import { findClusters, findListed, wentFirst } from './list/list-data.ts'
import { IncidentPage } from './page.tsx'
import { mutedText, overdueOf } from './recovery.ts'
import { type IncidentView, lastedText, type Typed } from './view.ts'

const MAX_TOGETHER = 1_000

export const incidentRoutes: readonly PageRoute[] = [
  page('GET /incidents', 'read', (visit) => showIncidents(visit), { shared: true, early: true }),
  page('GET /incidents/:id', 'read', (visit) => showIncident(visit), { shared: true, early: requireIncident }),
  page('POST /incidents/acknowledge', 'write', acknowledgeAll),
  page('POST /incidents/unacknowledge', 'write', unacknowledgeAll),
  page('POST /incidents/:id/status', 'write', moveIncident),
  page('POST /incidents/:id/verdict', 'write', judgeSuspect),
]

/** @param typed the form that was refused */
export async function showIncidents(visit: Visit, typed: Typed | null = null): Promise<Reply> {
  const { query } = visit
  const status = choiceOf(query('status'), ['all', ...INCIDENT_STATUSES] as const, 'all')
  const found = await findListed(visit, { status, service: query('service'), page: pageOf(query('page')) })
  const addressOf = (to: { readonly status?: string; readonly page?: number }) =>
    listAddress({ status, service: found.service?.id ?? '', ...to })
  const view = { ...found, typed, status, service: found.service?.name ?? null, addressOf }
  const content = <IncidentListPage view={view} />
  return show(visit, { ...refused(typed, incidentListTitle(view)), content, current: 'incidents' })
}

function listAddress(to: { readonly status: string; readonly service: string; readonly page?: number }): string {
  const { status, service, page = 1 } = to
  return withQuery('/incidents', { status: status === 'all' ? '' : status, service, page: page > 1 ? `${page}` : '' })
}

/** @param typed the form that was refused */
export async function showIncident(visit: Visit, typed: Typed | null = null): Promise<Reply> {
  const { viewer, visitor, query } = visit
  const facts = await incidentFacts(visit, await requireIncident(visit))
  const shown = incidentViewOf(facts, viewer, { range: query('range'), order: query('order') })
  const channels = await visit.own.read(listChannels, { page: 1, limit: 1 })
  const items = await visit.own.read(listActionItems, facts.incident.id)
  const related = await relatedOf(visit, facts.incident)
  const { incident, service } = facts
  const isOver = incident.resolvedAt !== null
  const workload = service && !isOver ? visit.server.workloadNow(visitor.organizationId, service) : null
  const hasChannel = channels.total > 0
  const { name, namespace } = shown.incident.service
  const mutes = !isOver ? await mutedCount(visit, { service: name, namespace }) : 0
  const allSuspects = query('suspects') === 'all'
  const muted = shown.incident.mutedSince !== null ? await mutedText(visit, facts.incident) : null
  const view = { ...shown, ...related, muted, items, workload, hasChannel, typed, mutes, allSuspects }
  const content = <IncidentPage view={view} />
  const refreshes = typed === null
  return show(visit, { ...refused(typed, incidentTitle(view)), content, current: 'incidents', refreshes })
}

/** Returns the page title, with the most important fact first. */
function incidentTitle({ incident }: IncidentView): string {
  const { title, resolvedAt, endedAt, mutedSince, firingAlerts } = incident
  if (resolvedAt !== null && firingAlerts === 0) return `Resolved: ${title}`
  if (mutedSince !== null) return `Silenced: ${title}`
  if (endedAt !== null) return `Recovered: ${title}`
  return `${title}, ${lastedText(incident)}`
}

/** A page with a refused form is not refreshed, because its address is that of the form. */
function refused(typed: Typed | null, title: string) {
  return typed === null ? { title } : { title: `Error: ${title}`, status: 400, still: true }
}

/** Returns the previous incident and the group of an incident, and since when its alerts were not repeated. */
async function relatedOf(visit: Visit, { id, rowId, previous, resolvedAt }: IncidentRecord) {
  const before = previous === null ? undefined : await visit.own.read(findIncident, previous)
  const { clusters } = resolvedAt === null ? await findClusters(visit) : { clusters: [] }
  const group = clusters.find(({ members }) => members.length > 1 && members.some((one) => one.id === id))
  return {
    previous: before ? { number: before.number, href: incidentPath(before) } : null,
    group: group ? groupView(group, id) : null,
    overdue: resolvedAt === null ? await overdueOf(visit, rowId) : null,
  }
}

function groupView(group: Cluster<IncidentRecord>, id: string): NonNullable<IncidentView['group']> {
  const { leader, cause, members } = group
  const unowned = members.flatMap(({ status, number }) => (status === 'open' ? [number] : []))
  const first = { number: leader.number, href: incidentPath(leader), isThis: leader.id === id }
  const began = beganText(members)
  return { cause, size: members.length, leader: first, wentFirst: wentFirst(group), began, unowned }
}

async function moveIncident(visit: Visit): Promise<Reply> {
  const { own, form } = visit
  const incident = await requireIncident(visit)
  const status = choiceOf(form.text('status'), INCIDENT_STATUSES, incident.status)
  await own.change((ctx, now, actor) => changeIncident(ctx, incident.id, { status }, actor, now))
  const back = form.text('back') === '/' ? '/' : incidentPath(incident)
  if (incident.status === 'resolved' && status !== 'resolved') return redirect(visit, back, 'reopened')
  if (status === 'resolved') return redirect(visit, back, incident.firingAlerts > 0 ? 'resolved-early' : 'resolved')
  if (incident.status !== 'open' || status !== 'investigating') return redirect(visit, back, 'status-changed')
  return redirect(visit, `${back}?undo=${incident.number}`, 'acknowledged')
}

/** Acknowledges the incidents whose numbers the form names. Incidents that somebody has acknowledged stay unchanged. */
async function acknowledgeAll(visit: Visit): Promise<Reply> {
  const { own, form } = visit
  const numbers = numbersOf(form.text('incidents'))
  const found = await own.read(findIncidentIds, numbers)
  await own.change((ctx, now, actor) => acknowledgeIncidents(ctx, found, actor, now))
  const back = /^\/(?:incidents\/\d{1,9})?$/.test(form.text('back')) ? form.text('back') : '/incidents'
  return redirect(visit, `${back}?undo=${numbers.join()}`, 'acknowledged')
}

/** Takes back acknowledgements, for the button Undo. */
async function unacknowledgeAll(visit: Visit): Promise<Reply> {
  const { own, form } = visit
  const numbers = numbersOf(form.text('incidents'))
  const found = await own.read(findIncidentIds, numbers)
  await own.change((ctx, now, actor) => acknowledgeIncidents(ctx, found, actor, now, true))
  const back = numbers.length === 1 && found.length === 1 ? `/incidents/${numbers[0]}` : '/incidents'
  return redirect(visit, back, 'unacknowledged')
}

function numbersOf(text: string): readonly number[] {
  const words = text.split(',').slice(0, MAX_TOGETHER)
  return words.filter((word) => /^\d{1,9}$/.test(word)).map(Number)
}

/** Stores a verdict about a suspect, and about all links between the suspect and the incident's alerts. */
async function judgeSuspect(visit: Visit): Promise<Reply> {
  const { own, visitor, form } = visit
  const incident = await requireIncident(visit)
  const word = form.text('verdict')
  const verdict = word === 'confirmed' || word === 'rejected' ? word : null
  const change = { kind: form.text('kind'), ref: form.text('ref') }
  await own.run(setVerdictOfIncident, incident, change, { verdict, by: visitor.actor })
  return redirect(visit, incidentPath(incident), 'judged')
}
