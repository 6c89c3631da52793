/** Reads groups of similar alerts. Every page gets its groups from here, so that all pages show the same counts. */
import { type GroupedAlert, groupAlerts, type ShortGroup, shortGroup } from '../../domain/alert/groups.ts'
import { type AlertRecord, alertHeadColumns, toAlertHead } from '../alerts.ts'
import type { Db } from '../sqlite/open.ts'
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

/**
 * Returns the groups of all matching alerts, most severe first. `grouped` is the number of alerts in the groups, and
 * `total` the number of matching alerts.
 */
export function findAlertGroups(
  db: Db,
  organizationId: number,
  { withFiring = false, ...filter }: GroupFilter,
): { readonly groups: readonly ShortGroup<GroupMember>[]; readonly grouped: number; readonly total: number } {
  const begun = membersOf(db, organizationId, filter)
  const { from } = filter
  const earlier = { ...filter, from: undefined, to: from, status: 'firing' as const }
  const older = withFiring && from !== undefined ? membersOf(db, organizationId, earlier) : []
  const members = [...begun, ...older]
  const total = begun.length < MAX_ALERTS ? begun.length : totalOf(db, organizationId, filter)
  return { groups: groupAlerts(members).map(shortGroup), grouped: members.length, total: total + older.length }
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
