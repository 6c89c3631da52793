/** Reads groups of similar alerts. Every page gets its groups from here, so that all pages show the same counts. */
import {
  type AlertGroup,
  type GroupedAlert,
  groupAlerts,
  groupForIncident,
  type ShortGroup,
  shortGroup,
} from '../../domain/alert/groups.ts'
import { countedByService } from '../../domain/health/counted-severity.ts'
import { ordered } from '../../domain/order.ts'
import { offsetOf, type Page } from '../../domain/pagination.ts'
import { rank, type Severity } from '../../domain/severity.ts'
import { type AlertRecord, alertHeadColumns, toAlertHead } from '../alerts.ts'
import { listHealth } from '../service/services.ts'
import type { Db } from '../sqlite/open.ts'
import { listed } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import { type AlertFilter, listMatchingAlerts, matchingAlerts } from './alert-search.ts'

/** A member of a group, without the long texts of the alert. */
type GroupMember = GroupedAlert & Pick<AlertRecord, 'resolution' | 'incidentId' | 'silencedBy'>

/** `withFiring`: also includes alerts that are firing now and started before `from`. */
type GroupFilter = AlertFilter & {
  readonly incidentId?: string | undefined
  readonly withFiring?: boolean
}

/** The maximum number of alerts to group, newest first. */
const MAX_ALERTS = 20_000
/** Only of groups with at most this many alerts, the labels of all alerts are read and compared. */
const MAX_COMPARED = 500

/**
 * One row of the alerts: a condition of one service, or of several services that have it alike. `severity` is the one that
 * the scores count, and `sentAs` the severity of the alerts if it differs.
 */
export type GroupCount = Pick<
  AlertGroup,
  'serviceId' | 'name' | 'source' | 'severity' | 'count' | 'firing' | 'lastStartsAt'
> & {
  readonly sentAs?: Severity
  /** The number of services, and of incidents. */
  readonly services: number
  readonly incidents: number
}

export type AlikeGroup = ShortGroup<GroupMember> & Pick<GroupCount, 'sentAs' | 'services' | 'incidents'>

/**
 * Counts the groups of all matching alerts, worst first, and reads those on the page. Services that have a condition
 * alike share a group, unless the filter names the condition. `grouped` is the number of alerts in the groups, and
 * `total` the number of matching alerts.
 */
export function findAlertGroups(
  db: Db,
  organizationId: number,
  { withFiring = false, ...filter }: GroupFilter,
  page: Page,
): {
  readonly counts: readonly GroupCount[]
  readonly groups: readonly AlikeGroup[]
  readonly grouped: number
  readonly total: number
} {
  const begun = rowsOf(db, organizationId, filter)
  const { from } = filter
  const earlier = { ...filter, from: undefined, to: from, status: 'firing' as const }
  const older = withFiring && from !== undefined ? rowsOf(db, organizationId, earlier) : []
  const total = begun.length < MAX_ALERTS ? begun.length : totalOf(db, organizationId, filter)
  const rows = [...begun, ...older]
  const conditions = countedByService(conditionsOf(db, rows), listHealth(db, organizationId))
  const counts = countsOf(conditions, filter.name === undefined)
  const groups = groupsOf(db, counts.slice(offsetOf(page), offsetOf(page) + page.limit))
  const grouped = rows.length
  return { counts: counts.map(({ rows: _, ...count }) => count), groups, grouped, total: total + older.length }
}

type Row = ReturnType<typeof rowsOf>[number]

/** Reads only what the counts need, because a storm has thousands of alerts. */
function rowsOf(db: Db, organizationId: number, filter: GroupFilter) {
  const alerts = matchingAlerts(db, organizationId, filter)
  if (!alerts) return []
  const columns = ['id', 'service_id', 'incident_id', 'name', 'source', 'severity', 'status'] as const
  const newest = alerts
    .select([...columns, 'starts_at', 'ends_at'])
    .orderBy('starts_at', 'desc')
    .orderBy('id', 'desc')
  return db.all(newest.limit(MAX_ALERTS))
}

/** A condition of one service. `rows`: its alerts, latest start first. */
type Condition = Pick<GroupCount, 'serviceId' | 'name' | 'source' | 'severity' | 'sentAs'> & {
  readonly firing: number
  readonly rows: readonly Row[]
}

function conditionsOf(db: Db, rows: readonly Row[]): readonly Condition[] {
  const ids = JSON.stringify([...new Set(rows.map(({ service_id }) => service_id))])
  const services = db.all(db.sql.selectFrom('services').select(['id', 'uuid']).where('id', 'in', listed(ids)))
  const uuids = new Map(services.map(({ id, uuid }) => [id, uuidFromBytes(uuid)]))
  const groups = Map.groupBy(rows, (row) => `${row.service_id} ${row.source} ${row.severity} ${row.name}`)
  return [...groups.values()].flatMap((of) => {
    const [newest] = of
    if (!newest) return []
    const { name, source, severity } = newest
    const serviceId = uuids.get(newest.service_id) ?? ''
    const firing = of.filter(({ status }) => status === 'firing').length
    return { serviceId, name, source, severity, firing, rows: of }
  })
}

function latestFirst(a: Row, b: Row): number {
  return b.starts_at - a.starts_at || b.id - a.id
}

type Counted = GroupCount & { readonly rows: readonly Row[] }

/** What fires comes first, then what is more severe, has more firing alerts, and started later. */
function countsOf(conditions: readonly Condition[], alike: boolean): readonly Counted[] {
  const groups = Map.groupBy(conditions, ({ serviceId, source, severity, sentAs = '', name }) =>
    JSON.stringify([alike ? '' : serviceId, source, severity, sentAs, name]),
  )
  const counts = [...groups.values()].flatMap((of): Counted[] => {
    const [first] = of
    if (!first) return []
    const rows = of.length === 1 ? first.rows : of.flatMap((one) => one.rows).toSorted(latestFirst)
    const firing = of.reduce((sum, one) => sum + one.firing, 0)
    const lastStartsAt = rows[0]?.starts_at ?? 0
    const incidents = new Set(rows.flatMap(({ incident_id }) => incident_id ?? [])).size
    return [{ ...first, rows, firing, lastStartsAt, incidents, count: rows.length, services: of.length }]
  })
  return ordered(counts, (one) => [
    ...[Number(one.firing === 0), -rank(one.severity), -one.firing, -one.lastStartsAt],
    ...[one.serviceId, one.name, one.source],
  ])
}

/** Reads only the newest alert of a large group, because a storm has thousands of alerts. */
function groupsOf(db: Db, shown: readonly Counted[]): readonly AlikeGroup[] {
  const alerts = db.sql.selectFrom('alerts').select(['id', ...alertHeadColumns])
  const rowIds = shown.flatMap(({ rows }) => headsOf(rows)).map(({ id }) => id)
  const found = db.all(alerts.where('id', 'in', listed(JSON.stringify(rowIds))))
  const heads = new Map(found.map((row) => [row.id, toAlertHead(row)]))
  return shown.flatMap(({ rows, severity, sentAs, services, incidents, count, firing }) => {
    const members = headsOf(rows).flatMap(({ id }) => heads.get(id) ?? [])
    const [group] = groupAlerts(members, new Map([['', members]])).map(shortGroup)
    if (!group) return []
    const counted = { ...group, severity, ...(sentAs ? { sentAs } : {}), services, incidents }
    if (count <= MAX_COMPARED) return [counted]
    const { summary = '' } = members[0] ?? {}
    const firstStartsAt = rows.at(-1)?.starts_at ?? 0
    const endsAt = firing > 0 ? null : group.endsAt
    const silencedBy = silencesOf(db, rows)
    return [{ ...counted, count, firing, firstStartsAt, endsAt, gaps: [], summary, silencedBy }]
  })
}

/** Returns the alerts of a group; of a large one the newest alert and, if it is over, the one that ended last. */
function headsOf(rows: readonly Row[]): readonly Row[] {
  if (rows.length <= MAX_COMPARED) return rows
  const last = rows.reduce((a, b) => ((b.ends_at ?? 0) > (a.ends_at ?? 0) ? b : a))
  return [...new Set([...rows.slice(0, 1), last])]
}

/** Returns the silences of each firing alert that is silenced. */
function silencesOf(db: Db, rows: readonly Row[]): readonly (readonly string[])[] {
  const ids = rows.flatMap(({ id, status }) => (status === 'firing' ? [id] : []))
  const silenced = db.sql
    .selectFrom('silenced_alerts')
    .innerJoin('silences', 'silences.id', 'silence_id')
    .select(['alert_id', 'silences.uuid'])
    .where('alert_id', 'in', listed(JSON.stringify(ids)))
  const byAlert = Map.groupBy(db.all(silenced), ({ alert_id }) => alert_id)
  return [...byAlert.values()].map((of) => of.map(({ uuid }) => uuidFromBytes(uuid)))
}

/**
 * Returns the groups of a service as its incidents list them: those that are firing, and those that are firing or started
 * at `from` or later. `starts` has the start of each firing alert by id, and the first start by name.
 */
export function findServiceGroups(db: Db, organizationId: number, serviceId: string, from: number) {
  const live = membersOf(db, organizationId, { serviceId, status: 'firing' })
  const ended = membersOf(db, organizationId, { serviceId, status: 'resolved', from })
  const firing = listedGroups(live)
  const starts = new Map(live.flatMap(({ id, name, startsAt }) => [[name, startsAt] as const, [id, startsAt] as const]))
  return { firing, starts, groups: ended.length === 0 ? firing : listedGroups([...live, ...ended]) }
}

function listedGroups(members: readonly GroupMember[]): readonly ShortGroup<GroupMember>[] {
  return groupAlerts(members, groupForIncident(members)).map(shortGroup)
}

function totalOf(db: Db, organizationId: number, filter: GroupFilter): number {
  return listMatchingAlerts(db, organizationId, filter, { page: 1, limit: 1 }).total
}

function membersOf(db: Db, organizationId: number, filter: GroupFilter): readonly GroupMember[] {
  const alerts = matchingAlerts(db, organizationId, filter)
  if (!alerts) return []
  const rows = alerts.select(alertHeadColumns).orderBy('starts_at', 'desc').orderBy('id', 'desc').limit(MAX_ALERTS)
  return db.all(rows).map(toAlertHead)
}
