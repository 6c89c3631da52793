/** /alerts: the filterable alert history, and the page of a single alert. */

import { listFiringAlerts } from '../../actions/firing.ts'
import { groupAlerts, type ShortGroup, shortGroup } from '../../domain/alert/groups.ts'
import { resolveAlert } from '../../domain/decide/alerts.ts'
import { SOURCES } from '../../domain/event/event.ts'
import { countedGroups } from '../../domain/health/counted-severity.ts'
import type { Listed } from '../../domain/pagination.ts'
import { ruleText } from '../../domain/service/rule.ts'
import { SEVERITIES, type Severity } from '../../domain/severity.ts'
import { formatClock } from '../../domain/shown-time.ts'
import { formatScore, serviceName } from '../../domain/text.ts'
import { HOUR } from '../../domain/units.ts'
import { notFound, required } from '../../http/middleware/problem.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import type { AlertRecord } from '../../store/alerts.ts'
import { listCorrelationsOfAlert } from '../../store/correlation/correlations.ts'
import type { EventRecord } from '../../store/events.ts'
import { findAlertGroups, type GroupMember } from '../../store/history/alert-groups.ts'
import { listAlertsOfIncident, listMatchingAlerts } from '../../store/history/alert-search.ts'
import type { IncidentRecord } from '../../store/incident/incidents.ts'
import { findService } from '../../store/service/services.ts'
import { findAlertTargets, findAlertView } from '../../store/views.ts'
import { findNamedIncident, incidentLink } from '../incident/routes.tsx'
import { type SilenceEnds, silencedOfGroup, silenceEndsOfGroups } from '../silences/silenced.ts'
import { choiceOf, pageOf, rangeOf, withQuery } from '../visit/choice.ts'
import { type PageRoute, page, type Visit } from '../visit/page.ts'
import { redirect, show } from '../visit/reply.ts'
import { AlertPage } from './alert.tsx'
import { AlertsPage, alertsTitle } from './alerts.tsx'
import { binsOf } from './bins.ts'
import type { AlertPageView, AlertRowView, AlertsView, ChipView } from './view.ts'

const RANGES = [
  ['1h', 'Last hour', HOUR],
  ['6h', 'Last 6 hours', 6 * HOUR],
  ['24h', 'Last 24 hours', 24 * HOUR],
  ['7d', 'Last 7 days', 7 * 24 * HOUR],
  ['30d', 'Last 30 days', 30 * 24 * HOUR],
] as const
const USUAL = RANGES[2]
const MAX_ROWS = 40
const MAX_PAGE = 1_000_000
const EVENTS = 50

export const alertRoutes: readonly PageRoute[] = [
  page('GET /alerts', 'read', showAlerts, { shared: true }),
  page('GET /alerts/:id', 'read', showAlert, { shared: true }),
  page('POST /alerts/:id/end', 'write', endAlert),
]

async function showAlerts(visit: Visit): Promise<Reply> {
  const view = await alertsView(visit)
  return show(visit, { title: alertsTitle(view), content: <AlertsPage view={view} />, current: 'alerts' })
}

/** Parses the filters from the query. Unknown values are ignored. */
function wanted({ query, now }: Visit) {
  const [range, , length] = rangeOf(RANGES, query('range'), USUAL)
  const [from, to] = [Date.parse(query('from')), Date.parse(query('to'))]
  const own = Number.isFinite(from) && Number.isFinite(to) && to > from
  const severity = SEVERITIES.find((one) => one === query('severity'))
  const source = SOURCES.find((one) => one === query('source'))
  const status = choiceOf(query('status'), ['firing', 'ended', ''] as const, '')
  return {
    ...{ range, severity, source, status, q: query('q'), group: query('group') !== '0', own },
    span: own ? { from, to } : { from: now - length, to: now },
    page: pageOf(query('page'), MAX_PAGE),
  }
}

type Wanted = ReturnType<typeof wanted>

async function alertsView(visit: Visit): Promise<AlertsView> {
  const { store, visitor, viewer: reader, query, now } = visit
  const what = wanted(visit)
  const incident = query('incident') === '' ? null : ((await findNamedIncident(visit, query('incident'))) ?? null)
  const found = await (what.group ? findGroups(visit, what, incident) : findSingle(visit, what, incident))
  const newestMembers = found.groups.flatMap(({ members }) => members.slice(0, 1))
  const targets = await store.read(findAlertTargets, visitor.organizationId, newestMembers, now)
  const ends = await silenceEndsOfGroups(visit, found.groups)
  const groups = countedIn(found.groups, targets).toSorted((a, b) => b.lastStartsAt - a.lastStartsAt)
  const rows = what.group ? groups.slice((what.page - 1) * MAX_ROWS, what.page * MAX_ROWS) : groups
  const address = (change: Readonly<Record<string, string>>) => addressOf(visit, change)
  return {
    ...{ reader, span: what.span, total: found.total, shown: found.shown, page: what.page },
    filters: { ...what, severity: what.severity ?? '', source: what.source ?? '' },
    ranges: RANGES.map(([word, text]) => [word, text] as const),
    chips: await chipsOf(visit, what, incident),
    bins: binsOf(groups, what.span, address),
    rows: rows.map((group) => rowOf(group, targets, ends)),
    groups: groups.length,
    firing: groups.reduce((sum, { firing }) => sum + firing, 0),
    pages: Math.ceil((what.group ? groups.length : found.total) / MAX_ROWS),
    addressOf: (page) => address({ page: page === 1 ? '' : `${page}` }),
  }
}

/** `shown` is the number of alerts in the groups. */
type Found = { readonly groups: readonly ShortGroup<GroupMember>[]; readonly shown: number; readonly total: number }

/** Finds all matching alerts in groups. If no period is selected, firing alerts are found regardless of their start. */
async function findGroups(visit: Visit, what: Wanted, incident: IncidentRecord | null): Promise<Found> {
  const { store, visitor } = visit
  const filter = filterOf(visit, what, incident)
  const from = what.own || what.status !== 'firing' ? filter.from : undefined
  const withFiring = !what.own && what.status === ''
  const found = await store.read(findAlertGroups, visitor.organizationId, { ...filter, from, withFiring })
  return { ...found, shown: found.grouped }
}

/** Finds one page of matching alerts, each in a group of its own. */
async function findSingle(visit: Visit, what: Wanted, incident: IncidentRecord | null): Promise<Found> {
  const { store, visitor } = visit
  const { organizationId } = visitor
  const part = { page: what.page, limit: MAX_ROWS }
  const { incidentId, ...filter } = filterOf(visit, what, incident)
  const found = ({ items, total }: Listed<AlertRecord>): Found => ({
    groups: items.flatMap((one) => groupAlerts([one])).map(shortGroup),
    shown: items.length,
    total,
  })
  if (incidentId !== undefined) {
    return found(await store.read(listAlertsOfIncident, organizationId, { ...filter, incidentId }, part))
  }
  const from = what.own ? filter.from : undefined
  if (what.status === 'firing')
    return found(await store.run(listFiringAlerts, organizationId, { ...filter, from }, part))
  const begun = await store.read(listMatchingAlerts, organizationId, filter, part)
  if (what.status === 'ended' || what.own) return found(begun)
  const before = { ...filter, from, to: what.span.from }
  const older = await store.run(listFiringAlerts, organizationId, before, { page: 1, limit: MAX_ROWS })
  const items = what.page === 1 ? [...begun.items, ...older.items] : begun.items
  return found({ items, total: begun.total + older.total })
}

/** An incident's alerts are found regardless of their start. */
function filterOf({ query }: Visit, what: Wanted, incident: IncidentRecord | null) {
  const { severity, source, q, span } = what
  const status = what.status === '' ? undefined : what.status === 'firing' ? ('firing' as const) : ('resolved' as const)
  const service = query('service') === '' ? {} : { serviceId: query('service') }
  if (incident) return { severity, source, q, status, ...service, incidentId: incident.id, from: undefined }
  return { severity, source, q, status, ...service, ...span, incidentId: undefined }
}

/** Returns the URL of this view with some parameters changed. '' removes a parameter. */
function addressOf({ c }: Visit, change: Readonly<Record<string, string>>): string {
  const current = Object.fromEntries(new URL(c.req.url).searchParams)
  return withQuery('/alerts', { ...current, done: '', page: '', ...change })
}

async function chipsOf(visit: Visit, { own, span }: Wanted, incident: IncidentRecord | null): Promise<ChipView[]> {
  const { store, visitor, query, now } = visit
  const chips: ChipView[] = []
  const add = (text: string, name: string, more: Readonly<Record<string, string>> = {}) =>
    chips.push({ text, without: addressOf(visit, { [name]: '', ...more }), field: [name, query(name)] })
  if (query('service') !== '') {
    const service = await store.read(findService, visitor.organizationId, query('service'), now)
    add(`service ${service ? serviceName(service) : 'that does not exist'}`, 'service')
  }
  if (incident) add(`incident ${incident.number}`, 'incident')
  if (own) {
    add(`started ${formatClock(span.from, visit.viewer.zone)} to ${formatClock(span.to, visit.viewer.zone)}`, 'from', {
      to: '',
    })
    chips.push({ text: '', without: '', field: ['to', query('to')] })
  }
  return chips
}

type Targets = ReturnType<typeof findAlertTargets>

type Group = ShortGroup<GroupMember> & { readonly sentAs?: Severity }

/** Returns the groups, each with the severity that it has in its service's score. */
function countedIn(groups: readonly Group[], { services }: Targets): readonly Group[] {
  return groups.flatMap((group) => countedGroups([group], services.get(group.serviceId)))
}

function rowOf(group: Group, targets: Targets, ends: SilenceEnds): AlertRowView {
  const [newest] = group.members
  const one = group.count === 1
  const serviceId = group.serviceId
  const service = targets.services.get(serviceId)
  const incident = targets.incidents.get(newest?.incidentId ?? '')
  return {
    ...{ name: group.name, count: group.count, summary: group.summary, severity: group.severity },
    sentAs: group.sentAs,
    service: {
      ...{ namespace: service?.namespace ?? '', name: service?.name ?? 'unknown service' },
      href: `/services/${serviceId}`,
    },
    incident: incident ? incidentLink(incident) : null,
    href: one
      ? `/alerts/${newest?.id}`
      : `/alerts?${new URLSearchParams({ service: serviceId, q: group.name, group: '0' })}`,
    ...{ source: group.source, startsAt: group.firstStartsAt, lastStartsAt: group.lastStartsAt, endsAt: group.endsAt },
    silenced: silencedOfGroup(group, ends),
    ending: group.endsAt === null ? '' : (newest?.resolution ?? ''),
  }
}

async function showAlert(visit: Visit): Promise<Reply> {
  const { store, visitor, now } = visit
  const { organizationId } = visitor
  const { alert, events, onNode } = await requireAlert(visit)
  const own = await store.read(listCorrelationsOfAlert, organizationId, alert.id)
  const targets = await store.read(findAlertTargets, organizationId, [alert], now)
  const [group] = countedIn(groupAlerts([alert]).map(shortGroup), targets)
  if (!group) throw notFound('alert', 'the page Alerts')
  const { rules } = alert
  const view: AlertPageView = {
    ...{ reader: visit.viewer, csrf: visitor.csrf, canWrite: visitor.scopes.includes('write') },
    alert: { ...alert, ...rowOf(group, targets, await silenceEndsOfGroups(visit, [group])) },
    node: onNode?.nodeServiceId
      ? { name: `node/${onNode.alert.node}`, href: `/services/${onNode.nodeServiceId}` }
      : null,
    labels: Object.entries(alert.labels),
    annotations: Object.entries(alert.annotations),
    rules: [
      ['Service', ruleText(rules.service)],
      ['Severity', rules.severity],
      ['Identity', rules.identity],
    ],
    links: Object.entries(alert.links).map(([name, address]) => ({ name, address })),
    changes: own.map(({ change, score, band, reasons }) => ({
      ref: change.ref,
      text: `Score ${formatScore(score)}, ${band} link: ${reasons.map(({ text }) => text).join('; ')}`,
    })),
    events: withoutRepeats(events),
  }
  return show(visit, { title: alert.name, content: <AlertPage view={view} />, current: 'alerts' })
}

/** Merges events that have the same text and object. `events` is sorted from newest to oldest. */
function withoutRepeats(events: readonly EventRecord[]): AlertPageView['events'] {
  const alike = Map.groupBy(events, ({ name, text, object }) => JSON.stringify([name, text, object]))
  return [...alike.values()].flatMap((of) => {
    const [newest, oldest] = [of[0], of.at(-1)]
    return newest && oldest ? [{ ...newest, firstAt: oldest.at, count: of.length }] : []
  })
}

async function endAlert(visit: Visit): Promise<Reply> {
  const { deps, visitor } = visit
  const { alert } = await requireAlert(visit)
  await deps.engine.run(visitor.organizationId, (ctx, now) => resolveAlert(ctx, alert.id, visitor.actor, now))
  return redirect(visit, `/alerts/${alert.id}`, 'alert-ended')
}

function requireAlert({ store, visitor, id }: Visit) {
  return required(store.read(findAlertView, visitor.organizationId, id, EVENTS), 'alert', 'the page Alerts')
}
