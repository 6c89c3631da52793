/** Reads what happened before and beside an incident, as far as it is recorded. */
import type { EntryFact } from '../../domain/incident/facts.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { distinct } from '../../domain/order.ts'
import { cutoffsAt } from '../../domain/retention.ts'
import { DAY, HOUR, MINUTE } from '../../domain/units.ts'
import { findOrganization } from '../organizations.ts'
import { findSilence } from '../silences.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import type { AlertRows } from './alert-facts.ts'
import { findIncident } from './incidents.ts'

const MAX_EARLIER = 500
const MAX_OTHERS = 10_000
/** How long before an incident another one can open because of the same trouble. */
const SHORTLY = 5 * MINUTE

/** Lists earlier alerts about the same conditions of the same services. */
export function earlierOf(db: Db, incident: LiveIncident, serviceIds: readonly number[], alerts: AlertRows) {
  const conditions = new Set(alerts.map(({ service, source, name }) => JSON.stringify([service.rowId, source, name])))
  return serviceIds
    .flatMap((rowId) => alertsBefore(db, incident, rowId))
    .sort((a, b) => b.startsAt - a.startsAt)
    .slice(0, MAX_EARLIER)
    .filter(({ service_id, source, name }) => conditions.has(JSON.stringify([service_id, source, name])))
    .map(({ uuid, name, startsAt, incident }) => ({ ref: `alert/${uuidFromBytes(uuid)}`, name, startsAt, incident }))
}

/** Lists the other incidents that opened between shortly before an incident and `until`, earliest first. */
export function openedDuring(db: Db, { rowId, organizationId, createdAt }: LiveIncident, until: number) {
  return db
    .all(openedBetween, { organizationId, from: createdAt - SHORTLY, until, rowId })
    .map(({ uuid, owner, ...incident }) => {
      return { ref: `incident/${uuidFromBytes(uuid)}`, service: uuidFromBytes(owner), ...incident }
    })
}

/** Finds the last incident of a service that was on when another incident began, or that opened soon after. */
export function findIncidentAt(
  db: Db,
  of: { readonly service: number; readonly rowId: number; readonly startedAt: number },
) {
  const { service, rowId, startedAt } = of
  const row = db.first(incidentAt, { service, rowId, since: startedAt, from: startedAt - DAY, until: startedAt + HOUR })
  return (
    row && {
      ref: `incident/${uuidFromBytes(row.uuid)}`,
      number: row.number,
      title: row.title,
      createdAt: row.createdAt,
    }
  )
}

const incidentAt = query<{ service: number; rowId: number; since: number; from: number; until: number }>()(
  (sql, hole) =>
    sql
      .selectFrom('incidents')
      .select(['uuid', 'number', 'title', 'created_at as createdAt'])
      .where('service_id', '=', hole('service'))
      .where('created_at', '>=', hole('from'))
      .where('created_at', '<=', hole('until'))
      .where('id', '!=', hole('rowId'))
      .where((eb) => eb.or([eb('resolved_at', 'is', null), eb('resolved_at', '>=', hole('since'))]))
      .orderBy('created_at', 'desc')
      .limit(1),
)

/** Finds the incidents that the entries about a merge name. */
export function mergedWith(db: Db, organizationId: number, entries: readonly Pick<EntryFact, 'kind' | 'ref'>[]) {
  return entries.flatMap(({ kind, ref }) => {
    const found = kind === 'merged' && ref ? findIncident(db, organizationId, ref.replace('incident/', '')) : null
    return found && ref ? [{ ref, number: found.number, title: found.title, createdAt: found.createdAt }] : []
  })
}

/** Finds the silences that the entries name. */
export function silencesNamed(db: Db, organizationId: number, entries: readonly Pick<EntryFact, 'kind' | 'ref'>[]) {
  const refs = distinct(entries.flatMap(({ kind, ref }) => (kind === 'silence' && ref ? ref : [])))
  return refs.flatMap((ref) => {
    const found = findSilence(db, organizationId, ref.replace('silence/', ''))
    return found
      ? [{ ref, comment: found.comment, createdBy: found.createdBy, startsAt: found.startsAt, endsAt: found.endsAt }]
      : []
  })
}

const openedBetween = query<{ organizationId: number; from: number; until: number; rowId: number }>()((sql, hole) =>
  sql
    .selectFrom('incidents')
    .innerJoin('services', 'services.id', 'incidents.service_id')
    .select(['incidents.uuid', 'number', 'title', 'incidents.created_at as createdAt', 'services.uuid as owner'])
    .where('incidents.organization_id', '=', hole('organizationId'))
    .where('incidents.created_at', '>=', hole('from'))
    .where('incidents.created_at', '<=', hole('until'))
    .where('incidents.id', '!=', hole('rowId'))
    .orderBy('incidents.created_at')
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
    .leftJoin('incidents', 'incidents.id', 'alerts.incident_id')
    .select(['alerts.uuid', 'alerts.service_id', 'source', 'name', 'starts_at as startsAt', 'number as incident'])
    .where('alerts.service_id', '=', serviceId)
    .where('starts_at', '>=', incident.startedAt - 90 * DAY)
    .where('starts_at', '<', incident.startedAt)
    .where((eb) => eb.or([eb('incident_id', 'is', null), eb('incident_id', '!=', incident.rowId)]))
  return db.all(before.orderBy('starts_at', 'desc').limit(MAX_EARLIER))
}
