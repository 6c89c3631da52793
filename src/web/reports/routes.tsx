/** /reports: reliability over 30 days, 90 days or a year, as a web page or CSV. */

import { sinceStart, stripOf, stripText, unhealthyMs } from '../../domain/health/strip.ts'
import type { Reliability } from '../../domain/report/report.ts'
import { formatDate, formatLasted, type Reader } from '../../domain/shown-time.ts'
import { DAY } from '../../domain/units.ts'
import { type Reply, text } from '../../http/middleware/reply.ts'
import { type IncidentRecord, listIncidents } from '../../store/incident/incidents.ts'
import { findReliability, findReportCharts, type WeekCount } from '../../store/incident/report.ts'
import { findOrganization } from '../../store/organizations.ts'
import { listStatesOfServices } from '../../store/service/states.ts'
import type { ReportWeek, ResolutionMark } from '../drawing/report.tsx'
import { incidentPath } from '../incident/find.ts'
import { type PageRoute, page, type Visit } from '../page.ts'
import { rangeLinks, rangeOf } from '../visit/choice.ts'
import { show } from '../visit/reply.ts'
import { ReportPage, reportTitle } from './page.tsx'
import { MAX_SERVICES, type ServiceHealth } from './services.tsx'

const WEEK = 7 * DAY
const RANGES = [
  ['30d', '30 days', 30 * DAY],
  ['90d', '90 days', 90 * DAY],
  ['1y', '1 year', 365 * DAY],
] as const
const USUAL = RANGES[1]
const MAX_INCIDENTS = 10_000
/** With more incidents than this, the charts use bars instead of one mark per incident. */
const MAX_MARKS = 60

export const reportRoutes: readonly PageRoute[] = [
  page('GET /reports', 'read', showReport, { shared: true, early: true }),
  page('GET /reports.csv', 'read', showCsv),
]

function wanted({ query, now }: Visit) {
  const range = rangeOf(RANGES, query('range'), USUAL)
  return { range, span: { from: now - range[2], to: now } }
}

async function showReport(visit: Visit): Promise<Reply> {
  const { own } = visit
  const { range, span } = wanted(visit)
  const [name, words, length] = range
  const earlier = { from: span.from - length, to: span.from }
  const [report, before, charts, listed, organization] = await Promise.all([
    own.read(findReliability, span, MAX_INCIDENTS),
    own.read(findReliability, earlier, MAX_INCIDENTS),
    own.read(findReportCharts, span),
    own.read(listIncidents, span, { page: 1, limit: MAX_MARKS }),
    own.read(findOrganization),
  ])
  const ids = (report?.services ?? []).slice(0, MAX_SERVICES).map(({ service }) => service.uuid)
  const states = await own.read(listStatesOfServices, ids, span.from)
  const incidentsOf = Map.groupBy(listed.items, ({ serviceId }) => serviceId)
  const marked = listed.total > MAX_MARKS ? [] : listed.items
  const since = organization?.createdAt ?? 0
  // A period before the organization existed has no records. Such a period must not count as free of incidents.
  const isComparable = since <= earlier.from || (before?.organization.incidents ?? 0) > 0
  const view = {
    ...{ span: words, report, before: isComparable ? before : null },
    preceding: `previous ${name === '1y' ? 'year' : words}`,
    since: since > span.from ? since : null,
    ranges: rangeLinks(RANGES, '/reports', range, USUAL),
    csvHref: `/reports.csv?range=${name}`,
    weeks: weeksOf(charts.weeks, marked, { ...span, since }, visit.viewer),
    durations: charts.durations,
    resolutions: marked.flatMap(resolutionOf),
    health: new Map([...states].map(([id, changes]) => [id, healthOf(changes, span, incidentsOf.get(id) ?? [])])),
  }
  return show(visit, { title: reportTitle(view), content: <ReportPage view={view} />, current: 'reports' })
}

/** The problem of an incident can have begun before anything was recorded. */
function healthOf(
  recorded: Parameters<typeof stripOf>[0],
  { from, to }: { from: number; to: number },
  incidents: readonly IncidentRecord[],
): ServiceHealth {
  const changes = incidents.reduce(sinceStart, recorded)
  return { bins: stripOf(changes, from, to), text: stripText(changes, from, to), illMs: unhealthyMs(changes, from, to) }
}

/** Returns the weeks of the span, oldest first. The last week ends now. A week is labeled with its last day. */
function weeksOf(
  counted: readonly WeekCount[],
  marked: readonly IncidentRecord[],
  { from, to, since }: { from: number; to: number; since: number },
  reader: Reader,
): ReportWeek[] {
  const count = Math.ceil((to - from) / WEEK)
  return Array.from({ length: count }, (_, index) => {
    const start = to - (count - index) * WEEK
    const marks = marked.filter(({ createdAt }) => createdAt >= start && createdAt < start + WEEK)
    const counts = counted.filter(({ week }) => week === count - index - 1)
    // The year is omitted because the labels of a one-year report have no space for it.
    const last = start + WEEK - 1
    const isRecorded = last >= since || counts.length > 0
    return { label: formatDate(last, { ...reader, now: last }), counts, marks: marks.map(markOf), isRecorded }
  })
}

function markOf(incident: IncidentRecord) {
  const { severity, title } = incident
  return { severity, title: `${incident.number} ${title}, ${severity}`, href: incidentPath(incident) }
}

function resolutionOf(incident: IncidentRecord): ResolutionMark[] {
  if (incident.resolvedAt === null) return []
  const resolveMs = Math.max(0, incident.resolvedAt - incident.startedAt)
  const mark = markOf(incident)
  return [{ ...mark, title: `${mark.title}, ${formatLasted(resolveMs)}`, resolveMs }]
}

async function showCsv(visit: Visit): Promise<Reply> {
  const { own } = visit
  const { span, range } = wanted(visit)
  const report = await own.read(findReliability, span, MAX_INCIDENTS)
  const headers = { 'content-disposition': `attachment; filename="incmon-${range[0]}.csv"` }
  return text(csvOf(report), 'text/csv; charset=UTF-8', headers)
}

/** Returns one line per service. Durations are medians in seconds, or empty if unknown. */
function csvOf(report: Reliability | null): string {
  const head = [
    'namespace',
    'service',
    'incidents',
    'recurrences',
    'detect_seconds',
    'acknowledge_seconds',
    'resolve_seconds',
  ]
  const rows = (report?.services ?? []).map(({ service, incidents, recurrences, mttd, mtta, mttr }) =>
    [service.namespace, service.name, incidents, recurrences, mttd.median, mtta.median, mttr.median].map(cell),
  )
  return [head, ...rows].map((row) => `${row.join(',')}\r\n`).join('')
}

/** Prefixes text with an apostrophe if a spreadsheet would interpret it as a formula. */
function cell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : `${value}`
  const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
