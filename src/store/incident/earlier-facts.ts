/** What happened before and beside an incident, as far as it is recorded. */
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { cutoffsAt } from '../../domain/retention.ts'
import { DAY } from '../../domain/units.ts'
import { findOrganization } from '../organizations.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import type { alertsOf } from './alert-facts.ts'

const MAX_EARLIER = 500
const MAX_OTHERS = 100

export type AlertRows = ReturnType<typeof alertsOf>

/** Lists earlier alerts about the same conditions of the same services. */
export function earlierOf(db: Db, incident: LiveIncident, serviceIds: readonly number[], alerts: AlertRows) {
  const conditions = new Set(alerts.map(({ service, source, name }) => JSON.stringify([service.rowId, source, name])))
  return serviceIds
    .flatMap((rowId) => alertsBefore(db, incident, rowId))
    .sort((a, b) => b.startsAt - a.startsAt)
    .slice(0, MAX_EARLIER)
    .filter(({ service_id, source, name }) => conditions.has(JSON.stringify([service_id, source, name])))
    .map(({ uuid, name, startsAt }) => ({ ref: `alert/${uuidFromBytes(uuid)}`, name, startsAt }))
}

/** Lists the other incidents that opened during an incident, earliest first. */
export function openedDuring(db: Db, { rowId, organizationId, createdAt, resolvedAt }: LiveIncident, now: number) {
  const until = resolvedAt ?? now
  return db.all(openedBetween, { organizationId, from: createdAt, until, rowId }).map(({ uuid, ...incident }) => {
    return { ref: `incident/${uuidFromBytes(uuid)}`, ...incident }
  })
}

const openedBetween = query<{ organizationId: number; from: number; until: number; rowId: number }>()((sql, hole) =>
  sql
    .selectFrom('incidents')
    .select(['uuid', 'title', 'created_at as createdAt'])
    .where('organization_id', '=', hole('organizationId'))
    .where('created_at', '>=', hole('from'))
    .where('created_at', '<=', hole('until'))
    .where('id', '!=', hole('rowId'))
    .orderBy('created_at')
    .limit(MAX_OTHERS),
)

/**
 * Returns the start of the period for which the organization's alerts are complete at `now`. Older alerts have expired.
 */
export function recordedSince(db: Db, organizationId: number, now: number): number {
  const organization = findOrganization(db, organizationId)
  return organization ? Math.max(organization.createdAt, cutoffsAt(organization.settings, now).alerts) : now
}

// One query per service, because the index on service_id is already in the right order.
function alertsBefore(db: Db, incident: LiveIncident, serviceId: number) {
  const before = db.sql
    .selectFrom('alerts')
    .select(['uuid', 'service_id', 'source', 'name', 'starts_at as startsAt'])
    .where('service_id', '=', serviceId)
    .where('starts_at', '>=', incident.startedAt - 90 * DAY)
    .where('starts_at', '<', incident.startedAt)
    .where((eb) => eb.or([eb('incident_id', 'is', null), eb('incident_id', '!=', incident.rowId)]))
  return db.all(before.orderBy('starts_at', 'desc').limit(MAX_EARLIER))
}
