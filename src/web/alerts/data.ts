/** Reads the alerts that the alerts page shows: in groups, or one by one. */
import { listFiringAlerts } from '../../actions/firing.ts'
import { groupAlerts, shortGroup } from '../../domain/alert/groups.ts'
import { SOURCES } from '../../domain/event/event.ts'
import { countedByService } from '../../domain/health/counted-severity.ts'
import type { Listed } from '../../domain/pagination.ts'
import { SEVERITIES, type Severity } from '../../domain/severity.ts'
import { HOUR } from '../../domain/units.ts'
import type { AlertRecord } from '../../store/alerts.ts'
import { type AlikeGroup, findAlertGroups, type GroupCount } from '../../store/history/alert-groups.ts'
import { listAlertsOfIncident, listMatchingAlerts } from '../../store/history/alert-search.ts'
import type { IncidentRecord } from '../../store/incident/incidents.ts'
import { listHealth } from '../../store/service/services.ts'
import type { HistogramBin } from '../drawing/histogram.tsx'
import type { Span } from '../drawing/scale.ts'
import type { IncidentView, ServiceLink } from '../incident/view.ts'
import type { Silenced } from '../kit/silenced.tsx'
import type { Visit } from '../page.ts'
import { choiceOf, pageOf, rangeOf } from '../visit/choice.ts'

/** One row: a single alert, or a group of similar alerts. */
export type AlertRowView = {
  readonly name: string
  readonly href: string
  readonly count: number
  readonly summary: string
  /** The severity that the alert has in its service's score. */
  readonly severity: Severity
  /** The severity that the sender reported, if it differs from `severity`. */
  readonly sentAs?: Severity | undefined
  readonly service: ServiceLink
  /** The number of services. If there are several, the links of the row lead to a row for each. */
  readonly services: number
  readonly incidents: number
  readonly source: string
  readonly startsAt: number
  /** When the newest alert of the group started. */
  readonly lastStartsAt: number
  /** Null while the alert is firing. */
  readonly endsAt: number | null
  /** How long the alert has fired, or the group if it is one, without the breaks in between. */
  readonly lastedMs: number
  readonly hasBreaks: boolean
  /** How the end is known, for example `reported`; '' while the alert is firing. */
  readonly ending: string
  /** Whether nobody reported the end. */
  readonly isGuess: boolean
  readonly incident: { readonly number: string; readonly href: string } | null
  readonly silenced: Silenced | null
}

/** An active filter that has no form field. The filter is shown as a chip that can be removed. */
export type ChipView = { readonly text: string; readonly without: string; readonly field: readonly [string, string] }

export type AlertsView = {
  readonly filters: {
    readonly range: string
    readonly status: string
    readonly severity: string
    readonly source: string
    readonly q: string
    readonly group: boolean
  }
  readonly ranges: readonly (readonly [string, string])[]
  readonly chips: readonly ChipView[]
  readonly span: Span
  readonly bins: readonly HistogramBin[]
  readonly rows: readonly AlertRowView[]
  /** `total` counts all matching alerts, `shown` the alerts in the rows. */
  readonly total: number
  readonly shown: number
  readonly firing: number
  /** The number of rows on all pages: conditions, or alerts on this page if they are not grouped. */
  readonly groups: number
  readonly page: number
  readonly pages: number
  readonly addressOf: (page: number) => string
}

export type AlertPageView = Pick<IncidentView, 'overdue' | 'graph'> & {
  /** The number of firing alerts that a silence of alerts like this one mutes. */
  readonly mutes: number
  readonly alert: AlertRowView & {
    readonly id: string
    readonly occurrences: number
    readonly lastSeenAt: number
  }
  /** The node on which the alert's object runs; null if there is no service for this node. */
  readonly node: { readonly name: string; readonly href: string } | null
  readonly labels: readonly (readonly [string, string])[]
  readonly annotations: readonly (readonly [string, string])[]
  readonly rules: readonly (readonly [string, string])[]
  readonly links: readonly { readonly name: string; readonly address: string }[]
  readonly changes: readonly { readonly ref: string; readonly text: string }[]
  /** Identical events share an entry. `firstAt` is the time of the first event. `at` is the time of the last event. */
  readonly events: readonly {
    readonly at: number
    readonly firstAt: number
    readonly count: number
    readonly name: string
    readonly text: string
    readonly object: string
  }[]
}

export const RANGES = [
  ['1h', 'Last hour', HOUR],
  ['6h', 'Last 6 hours', 6 * HOUR],
  ['24h', 'Last 24 hours', 24 * HOUR],
  ['7d', 'Last 7 days', 7 * 24 * HOUR],
  ['30d', 'Last 30 days', 30 * 24 * HOUR],
] as const
const USUAL = RANGES[2]
export const MAX_ROWS = 40
const MAX_PAGE = 1_000_000

/** Parses the filters from the query. Unknown values are ignored. */
export function wanted({ query, now }: Visit) {
  const [range, , length] = rangeOf(RANGES, query('range'), USUAL)
  const [from, to] = [Date.parse(query('from')), Date.parse(query('to'))]
  const own = Number.isFinite(from) && Number.isFinite(to) && to > from
  const severity = SEVERITIES.find((one) => one === query('severity'))
  const source = SOURCES.find((one) => one === query('source'))
  const status = choiceOf(query('status'), ['firing', 'ended', ''] as const, '')
  return {
    ...{ range, severity, source, status, q: query('q'), name: query('name'), group: query('group') !== '0', own },
    span: own ? { from, to } : { from: now - length, to: now },
    page: pageOf(query('page'), MAX_PAGE),
  }
}

export type Wanted = ReturnType<typeof wanted>

/** `counts` are those of all groups, `groups` those on the page. `shown` is the number of alerts in `counts`. */
type Found = {
  readonly counts: readonly GroupCount[]
  readonly groups: readonly AlikeGroup[]
  readonly shown: number
  readonly total: number
}

/** Finds the alerts that the page shows. */
export function findShown(visit: Visit, what: Wanted, incident: IncidentRecord | null): Promise<Found> {
  return what.group ? findGroups(visit, what, incident) : findSingle(visit, what, incident)
}

/**
 * Counts all matching alerts in groups, and reads one page of groups. If no period is selected, firing alerts are found
 * regardless of their start.
 */
async function findGroups(visit: Visit, what: Wanted, incident: IncidentRecord | null): Promise<Found> {
  const { own } = visit
  const filter = filterOf(visit, what, incident)
  const from = what.own || what.status !== 'firing' ? filter.from : undefined
  const withFiring = !what.own && what.status === ''
  const found = await own.read(findAlertGroups, { ...filter, from, withFiring }, { page: what.page, limit: MAX_ROWS })
  return { ...found, shown: found.grouped }
}

/** Finds one page of matching alerts, each in a group of its own. */
async function findSingle(visit: Visit, what: Wanted, incident: IncidentRecord | null): Promise<Found> {
  const { own } = visit
  const health = await own.read(listHealth)
  const part = { page: what.page, limit: MAX_ROWS }
  const { incidentId, ...filter } = filterOf(visit, what, incident)
  const found = ({ items, total }: Listed<AlertRecord>): Found => {
    const alone = items.flatMap((one) => groupAlerts([one])).map(shortGroup)
    const counted = countedByService(alone, health).toSorted((a, b) => b.lastStartsAt - a.lastStartsAt)
    const groups = counted.map((one) => ({ ...one, services: 1, incidents: one.members[0]?.incidentId ? 1 : 0 }))
    return { counts: groups, groups, shown: items.length, total }
  }
  if (incidentId !== undefined) {
    return found(await own.read(listAlertsOfIncident, { ...filter, incidentId }, part))
  }
  const from = what.own ? filter.from : undefined
  if (what.status === 'firing') return found(await own.run(listFiringAlerts, { ...filter, from }, part))
  const begun = await own.read(listMatchingAlerts, filter, part)
  if (what.status === 'ended' || what.own) return found(begun)
  const before = { ...filter, from, to: what.span.from }
  const older = await own.run(listFiringAlerts, before, { page: 1, limit: MAX_ROWS })
  const items = what.page === 1 ? [...begun.items, ...older.items] : begun.items
  return found({ items, total: begun.total + older.total })
}

/** An incident's alerts are found regardless of their start. */
function filterOf({ query }: Visit, what: Wanted, incident: IncidentRecord | null) {
  const { severity, source, q, span } = what
  const status = what.status === '' ? undefined : what.status === 'firing' ? ('firing' as const) : ('resolved' as const)
  const service = query('service') === '' ? {} : { serviceId: query('service') }
  const name = what.name === '' ? undefined : what.name
  if (incident) return { severity, source, q, name, status, ...service, incidentId: incident.id, from: undefined }
  return { severity, source, q, name, status, ...service, ...span, incidentId: undefined }
}
