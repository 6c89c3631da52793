/** Reads what happened before and beside an incident, as far as it is recorded. */
import type { EntryFact } from '../../domain/incident/facts.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { distinct } from '../../domain/order.ts'
import { cutoffsAt } from '../../domain/retention.ts'
import { isChange, isOnlyTime, LIKELY } from '../../domain/suspect/likely-cause.ts'
import type { Suspect } from '../../domain/suspect/suspect.ts'
import { incidentName } from '../../domain/text.ts'
import { DAY, HOUR, MINUTE } from '../../domain/units.ts'
import { findOrganization } from '../organizations.ts'
import { findServiceRowId } from '../service/services.ts'
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

/** Reads what a postmortem says about other incidents, alerts and silences at `now`. `until`: when the problem ended. */
export function findBeside(
  db: Db,
  incident: LiveIncident,
  alerts: AlertRows,
  entries: Entries,
  { until, now }: { readonly until: number; readonly now: number },
) {
  const { organizationId } = incident
  return {
    meanwhile: openedDuring(db, incident, until),
    merged: mergedWith(db, organizationId, entries),
    silences: silencesNamed(db, organizationId, entries),
    earlier: earlierOf(db, incident, alerts),
    recordedSince: recordedSince(db, organizationId, now),
  }
}

type Entries = readonly Pick<EntryFact, 'kind' | 'ref'>[]

/** Lists earlier alerts about the same conditions of the same services. */
function earlierOf(db: Db, incident: LiveIncident, alerts: AlertRows) {
  const conditions = new Set(alerts.map(({ service, source, name }) => JSON.stringify([service.rowId, source, name])))
  return [...new Set([incident.serviceId, ...alerts.map(({ service }) => service.rowId)])]
    .flatMap((rowId) => alertsBefore(db, incident, rowId))
    .sort((a, b) => b.startsAt - a.startsAt)
    .slice(0, MAX_EARLIER)
    .filter(({ service_id, source, name }) => conditions.has(JSON.stringify([service_id, source, name])))
    .map(({ uuid, name, startsAt, incident }) => ({ ref: `alert/${uuidFromBytes(uuid)}`, name, startsAt, incident }))
}

/**
 * Lists the other incidents that opened between shortly before an incident and `until`, earliest first. What was merged
 * into an incident that was merged into this one is part of this one.
 */
function openedDuring(db: Db, { rowId, organizationId, createdAt, problem }: LiveIncident, until: number) {
  return db
    .all(openedBetween, { organizationId, from: createdAt - SHORTLY, until, rowId })
    .filter(({ id }) => !problem.merged.includes(id))
    .map(({ id: _, uuid, owner, ...incident }) => {
      return { ref: `incident/${uuidFromBytes(uuid)}`, service: uuidFromBytes(owner), ...incident }
    })
}

type Beside = Pick<LiveIncident, 'organizationId' | 'rowId' | 'startedAt'>

/** Finds the last incident of a service that was on when another incident began, or that opened soon after. */
export function findIncidentOf(db: Db, { organizationId, rowId, startedAt }: Beside, serviceId: string | null) {
  const service = serviceId === null ? undefined : findServiceRowId(db, organizationId, serviceId)
  if (service === undefined) return undefined
  const row = db.first(incidentAt, { service, rowId, since: startedAt, from: startedAt - DAY, until: startedAt + HOUR })
  if (!row) return undefined
  const { uuid, ...known } = row
  return { ref: `incident/${uuidFromBytes(uuid)}`, ...known }
}

/** Adds which incident is about the most likely suspect that is no change, unless that is the service of the incident. */
export function withIncident<One extends Suspect>(
  db: Db,
  incident: Beside & { readonly serviceId: string },
  suspects: readonly One[],
): readonly One[] {
  const top = suspects.find(
    ({ serviceId, ...one }) => !isChange(one) && serviceId !== incident.serviceId && !isOnlyTime(one.reasons),
  )
  const found = top && top.score >= LIKELY && findIncidentOf(db, incident, top.serviceId)
  if (!found) return suspects
  const reason = { code: 'incident', text: `${incidentName(found)} is about it` }
  return suspects.map((one) => (one === top ? { ...one, reasons: [reason, ...one.reasons] } : one))
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
export function mergedWith(db: Db, organizationId: number, entries: Entries) {
  return entries.flatMap(({ kind, ref }) => {
    const found = kind === 'merged' && ref ? findIncident(db, organizationId, ref.replace('incident/', '')) : null
    return found && ref ? [{ ref, number: found.number, title: found.title, createdAt: found.createdAt }] : []
  })
}

/** Finds the silences that the entries name. */
function silencesNamed(db: Db, organizationId: number, entries: Entries) {
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
    .select(['incidents.id', 'incidents.uuid', 'number', 'title'])
    .select(['incidents.created_at as createdAt', 'services.uuid as owner'])
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
function recordedSince(db: Db, organizationId: number, now: number): number {
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
