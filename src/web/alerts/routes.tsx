/** /alerts: the filterable alert history, and the page of a single alert. */

import { type AlertGroup, firingMs, groupAlerts, mayFlap, shortGroup, withGaps } from '../../domain/alert/groups.ts'
import { rulesText } from '../../domain/alert/rules.ts'
import { countedGroups } from '../../domain/health/counted-severity.ts'
import type { Severity } from '../../domain/severity.ts'
import { formatSpan } from '../../domain/shown-time.ts'
import { likelihoodOfLink } from '../../domain/suspect/likely-cause.ts'
import { countOf, formatScore, serviceName } from '../../domain/text.ts'
import { resolveAlert } from '../../engine/changes/alerts.ts'
import { notFound, required } from '../../http/middleware/problem.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { listCorrelationsOfAlert } from '../../store/correlation/correlations.ts'
import type { EventRecord } from '../../store/events.ts'
import { findAlertGaps } from '../../store/history/alert-gaps.ts'
import type { AlikeGroup } from '../../store/history/alert-groups.ts'
import type { IncidentRecord } from '../../store/incident/incidents.ts'
import { findService } from '../../store/service/services.ts'
import { findAlertTargets, findAlertView } from '../../store/views.ts'
import type { HistogramBin } from '../drawing/histogram.tsx'
import type { Span } from '../drawing/scale.ts'
import { findNamedIncident, incidentLink } from '../incident/find.ts'
import { overdueOf } from '../incident/recovery.ts'
import { isoOf } from '../kit/time.tsx'
import { type PageRoute, page, type Visit } from '../page.ts'
import { mutedCount, type SilenceEnds, silencedOfGroup, silenceEndsOfGroups } from '../silences/silenced.ts'
import { withQuery } from '../visit/choice.ts'
import { redirect, show } from '../visit/reply.ts'
import { AlertPage } from './alert.tsx'
import { AlertsPage } from './alerts.tsx'
import {
  type AlertPageView,
  type AlertRowView,
  type AlertsView,
  type ChipView,
  findShown,
  MAX_ROWS,
  RANGES,
  type Wanted,
  wanted,
} from './data.ts'

const EVENTS = 50

export const alertRoutes: readonly PageRoute[] = [
  page('GET /alerts', 'read', showAlerts, { shared: true, early: true }),
  page('GET /alerts/:id', 'read', showAlert, { shared: true }),
  page('POST /alerts/:id/end', 'write', endAlert),
]

async function showAlerts(visit: Visit): Promise<Reply> {
  const view = await alertsView(visit)
  return show(visit, { title: alertsTitle(view), content: <AlertsPage view={view} />, current: 'alerts' })
}

/** Returns the page title, for example `7 alerts fire now` or `Alerts`. */
function alertsTitle({ firing }: AlertsView): string {
  return firing === 0 ? 'Alerts' : `(${firing}) ${countOf(firing, 'alert')} ${firing === 1 ? 'is' : 'are'} firing`
}

async function alertsView(visit: Visit): Promise<AlertsView> {
  const { own, query, now } = visit
  const what = wanted(visit)
  const incident = query('incident') === '' ? null : ((await findNamedIncident(visit, query('incident'))) ?? null)
  const found = await findShown(visit, what, incident)
  const { counts } = found
  const groups = withGaps(found.groups, await own.read(findAlertGaps, mayFlap(found.groups)))
  const newestMembers = groups.flatMap(({ members }) => members.slice(0, 1))
  const targets = await own.read(findAlertTargets, newestMembers, now)
  const ends = await silenceEndsOfGroups(visit, groups)
  const address = (change: Readonly<Record<string, string>>) => addressOf(visit, change)
  return {
    ...{ span: what.span, total: found.total, shown: found.shown, page: what.page },
    filters: { ...what, severity: what.severity ?? '', source: what.source ?? '' },
    ranges: RANGES.map(([word, text]) => [word, text] as const),
    chips: await chipsOf(visit, what, incident),
    bins: binsOf(counts, what.span, address),
    rows: groups.map((group) => rowOf(group, targets, ends, { now, address })),
    groups: counts.length,
    firing: counts.reduce((sum, { firing }) => sum + firing, 0),
    pages: Math.ceil((what.group ? counts.length : found.total) / MAX_ROWS),
    addressOf: (page) => address({ page: page === 1 ? '' : `${page}` }),
  }
}

/** Returns the URL of this view with some parameters changed. '' removes a parameter. */
function addressOf({ c }: Visit, change: Readonly<Record<string, string>>): string {
  const current = Object.fromEntries(new URL(c.req.url).searchParams)
  return withQuery('/alerts', { ...current, done: '', page: '', ...change })
}

async function chipsOf(
  visit: Visit,
  { own: isOwn, span }: Wanted,
  incident: IncidentRecord | null,
): Promise<ChipView[]> {
  const { own, query, now } = visit
  const chips: ChipView[] = []
  const add = (text: string, name: string, more: Readonly<Record<string, string>> = {}) =>
    chips.push({ text, without: addressOf(visit, { [name]: '', ...more }), field: [name, query(name)] })
  if (query('service') !== '') {
    const service = await own.read(findService, query('service'), now)
    add(`service ${service ? serviceName(service) : 'that does not exist'}`, 'service')
  }
  if (query('name') !== '') add(`alert ${query('name')}`, 'name')
  if (incident) add(`incident ${incident.number}`, 'incident')
  if (isOwn) {
    add(`started ${formatSpan(span, visit.viewer)}`, 'from', {
      to: '',
    })
    chips.push({ text: '', without: '', field: ['to', query('to')] })
  }
  return chips
}

/** `address` returns the URL of the list with some parameters changed. */
function rowOf(
  group: AlikeGroup,
  targets: ReturnType<typeof findAlertTargets>,
  ends: SilenceEnds,
  { now, address }: { now: number; address: (change: Readonly<Record<string, string>>) => string },
): AlertRowView {
  const [newest] = group.members
  const { name, count, summary, severity, sentAs, services, incidents, source, serviceId } = group
  const service = targets.services.get(serviceId)
  const incident = targets.incidents.get(newest?.incidentId ?? '')
  const alike = address({ name, source, severity: sentAs ?? severity, q: '' })
  const own = `/alerts?${new URLSearchParams({ service: serviceId, name, group: '0' })}`
  return {
    ...{ name, count, summary, severity, sentAs, services, incidents, source },
    service: {
      ...{ namespace: service?.namespace ?? '', name: service?.name ?? 'unknown service' },
      href: services > 1 ? alike : `/services/${serviceId}`,
    },
    incident: incident ? incidentLink(incident) : null,
    href: services > 1 ? alike : count === 1 ? `/alerts/${newest?.id}` : own,
    ...{ startsAt: group.firstStartsAt, lastStartsAt: group.lastStartsAt, endsAt: group.endsAt },
    ...{ lastedMs: firingMs(group, group.endsAt ?? now), hasBreaks: group.gaps.length > 0 },
    silenced: silencedOfGroup(group, ends),
    ending: group.endsAt === null ? '' : (newest?.resolution ?? ''),
    isGuess: group.isGuess,
  }
}

async function showAlert(visit: Visit): Promise<Reply> {
  const { own, now } = visit
  const { alert, events, onNode, graph } = await requireAlert(visit)
  const links = await own.read(listCorrelationsOfAlert, alert.id)
  const targets = await own.read(findAlertTargets, [alert], now)
  const alone = groupAlerts([alert]).map(shortGroup)
  const gaps = await own.read(findAlertGaps, mayFlap(alone))
  const [group] = countedGroups(withGaps(alone, gaps), targets.services.get(alert.serviceId))
  if (!group) throw notFound('alert', 'the page Alerts')
  const rules = rulesText(alert.rules)
  const ends = await silenceEndsOfGroups(visit, [group])
  const row = rowOf({ ...group, services: 1, incidents: 1 }, targets, ends, { now, address: () => '' })
  const { name: service, namespace } = row.service
  const mutes = alert.endsAt === null ? await mutedCount(visit, { service, namespace, alertname: alert.name }) : 0
  const view: AlertPageView = {
    mutes,
    alert: { ...alert, ...row },
    overdue: alert.endsAt === null ? await overdueOf(visit, alert.id) : null,
    node: onNode?.nodeServiceId
      ? { name: `node/${onNode.alert.node}`, href: `/services/${onNode.nodeServiceId}` }
      : null,
    labels: Object.entries(alert.labels),
    annotations: Object.entries(alert.annotations),
    rules: [
      ['Service', rules.service],
      ['Severity', rules.severity],
      ['Identity', rules.identity],
    ],
    graph,
    links: Object.entries(alert.links).map(([name, address]) => ({ name, address })),
    changes: links.map(({ change, score, reasons }) => ({
      ref: change.ref,
      text: `Link score ${formatScore(score)}, ${likelihoodOfLink(score)}: ${reasons.map(({ text }) => text).join('; ')}`,
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
  const { own } = visit
  const { alert } = await requireAlert(visit)
  await own.change((ctx, now, actor) => resolveAlert(ctx, alert.id, actor, now))
  return redirect(visit, `/alerts/${alert.id}`, 'alert-ended')
}

function requireAlert({ own, id }: Visit) {
  return required(own.read(findAlertView, id, EVENTS), 'alert', 'the page Alerts')
}

const BINS = 48

/** Counts the rows by start time. An alert storm is a single row, so its bin does not dwarf all other bins. */
function binsOf(
  groups: readonly Pick<AlertGroup, 'lastStartsAt' | 'severity'>[],
  { from, to }: Span,
  address: (change: Readonly<Record<string, string>>) => string,
): HistogramBin[] {
  const length = (to - from) / BINS
  const counts = Array.from(
    { length: BINS },
    (): Record<Severity, number> => ({ critical: 0, error: 0, warning: 0, info: 0 }),
  )
  for (const { lastStartsAt, severity } of groups) {
    if (lastStartsAt < from) continue
    const bin = counts[Math.min(BINS - 1, Math.max(0, Math.floor((lastStartsAt - from) / length)))]
    if (bin) bin[severity] += 1
  }
  return counts.map((of, index) => {
    const bin = { from: from + index * length, to: from + (index + 1) * length }
    return { ...bin, counts: of, href: address({ from: isoOf(bin.from), to: isoOf(bin.to) }) }
  })
}
