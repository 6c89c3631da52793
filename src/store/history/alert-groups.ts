/** Reads groups of similar alerts. Every page gets its groups from here, so that all pages show the same counts. */
import {
  type AlertGroup,
  type GroupedAlert,
  groupAlerts,
  groupForIncident,
  type ShortGroup,
  shortGroup,
} from '../../domain/alert/groups.ts'
import { ordered } from '../../domain/order.ts'
import { offsetOf, type Page } from '../../domain/pagination.ts'
import { rank } from '../../domain/severity.ts'
import { type AlertRecord, alertHeadColumns, serviceUuid, toAlertHead } from '../alerts.ts'
import type { Db } from '../sqlite/open.ts'
import { listed } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import { type AlertFilter, listMatchingAlerts, matchingAlerts } from './alert-search.ts'

/** A member of a group, without the long texts of the alert. */
export type GroupMember = GroupedAlert & Pick<AlertRecord, 'resolution' | 'incidentId' | 'silencedBy'>

/** `withFiring`: also includes alerts that are firing now and started before `from`. */
type GroupFilter = AlertFilter & {
  readonly incidentId?: string | undefined
  readonly withFiring?: boolean
}

/** The maximum number of alerts to group, newest first. */
const MAX_ALERTS = 20_000

/** What is read of every group. */
export type GroupCount = Pick<
  AlertGroup,
  'serviceId' | 'name' | 'source' | 'severity' | 'count' | 'firing' | 'lastStartsAt'
>

/**
 * Counts the groups of all matching alerts, latest start first, and reads those on the page. `grouped` is the number of
 * alerts in the groups, and `total` the number of matching alerts.
 */
export function findAlertGroups(
  db: Db,
  organizationId: number,
  { withFiring = false, ...filter }: GroupFilter,
  page: Page,
): {
  readonly counts: readonly GroupCount[]
  readonly groups: readonly ShortGroup<GroupMember>[]
  readonly grouped: number
  readonly total: number
} {
  const begun = rowsOf(db, organizationId, filter)
  const { from } = filter
  const earlier = { ...filter, from: undefined, to: from, status: 'firing' as const }
  const older = withFiring && from !== undefined ? rowsOf(db, organizationId, earlier) : []
  const total = begun.length < MAX_ALERTS ? begun.length : totalOf(db, organizationId, filter)
  const rows = [...begun, ...older]
  const counts = countsOf(rows)
  const shown = counts.slice(offsetOf(page), offsetOf(page) + page.limit).flatMap(({ rowIds }) => rowIds)
  const groups = groupAlerts(membersById(db, shown)).map(shortGroup)
  const grouped = rows.length
  return { counts: counts.map(({ rowIds: _, ...count }) => count), groups, grouped, total: total + older.length }
}

type Row = ReturnType<typeof rowsOf>[number]

/** Reads only what the counts need, because a storm has thousands of alerts. */
function rowsOf(db: Db, organizationId: number, filter: GroupFilter) {
  const alerts = matchingAlerts(db, organizationId, filter)
  if (!alerts) return []
  const columns = ['id', 'service_id', 'name', 'source', 'severity', 'status', 'starts_at', serviceUuid] as const
  return db.all(alerts.select(columns).orderBy('starts_at', 'desc').orderBy('id', 'desc').limit(MAX_ALERTS))
}

/** `rowIds`: the alerts of the group, latest start first. */
function countsOf(rows: readonly Row[]): readonly (GroupCount & { readonly rowIds: readonly number[] })[] {
  const groups = Map.groupBy(rows, (row) => `${row.service_id} ${row.source} ${row.severity} ${row.name}`)
  const counts = [...groups.values()].flatMap((of) => {
    const [newest] = of
    if (!newest) return []
    const { name, source, severity, service } = newest
    const firing = of.filter(({ status }) => status === 'firing').length
    const group = { serviceId: uuidFromBytes(service), name, source, severity, count: of.length, firing }
    return { ...group, lastStartsAt: newest.starts_at, rowIds: of.map(({ id }) => id) }
  })
  return ordered(counts, (one) => [-one.lastStartsAt, -rank(one.severity), one.serviceId, one.name, one.source])
}

function membersById(db: Db, rowIds: readonly number[]): readonly GroupMember[] {
  const alerts = db.sql.selectFrom('alerts').select(alertHeadColumns)
  return db.all(alerts.where('id', 'in', listed(JSON.stringify(rowIds)))).map(toAlertHead)
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
