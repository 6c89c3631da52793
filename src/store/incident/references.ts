/**
 * Finds the records that retained incidents refer to, so that pruning keeps the events and alerts shown on incident
 * pages and in postmortems.
 */
import { type RawBuilder, sql } from 'kysely'
import { type AgedIncident, type Cutoffs, type IncidentReferences, isIncidentDue } from '../../domain/retention.ts'
import { MAX_ALERTS, MAX_EVENTS, searchedSpan } from '../../domain/suspect/suspect.ts'
import { MAX_SCALINGS } from '../correlation/links.ts'
import { AGED_COLUMNS, toAged } from '../retention/expired-alerts.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { MAX_EVENTS_PER_SERVICE, TIMELINE_KINDS } from './timeline-facts.ts'

/** The shortest period searched around the start of an incident. */
const SHORTEST = searchedSpan({ startedAt: 0, resolvedAt: 0 }, 0)

/** Returns a function that finds the references of incidents near a period. The function caches the references. */
export function createReferenceFinder(
  db: Db,
  organizationId: number,
  cutoffs: Cutoffs,
): (times: { readonly from: number; readonly to: number }) => IncidentReferences[] {
  const measured = new Map<string, IncidentReferences>()
  return (times) =>
    spansNear(db, organizationId, times)
      .filter((incident) => !isIncidentDue(incident, cutoffs))
      .map(({ id, serviceId, startedAt, resolvedAt }) => {
        const incident = { startedAt, resolvedAt, services: servicesOf(db, id, serviceId) }
        const key = JSON.stringify([id, ...Object.values(incident)])
        // The cached period of an unresolved incident can be slightly too long, which is harmless.
        const reach = measured.get(key) ?? reachOf(db, organizationId, incident, cutoffs.now)
        measured.set(key, reach)
        return reach
      })
}

function spansNear(
  db: Db,
  organizationId: number,
  { from, to }: { readonly from: number; readonly to: number },
): (AgedIncident & { readonly id: number; readonly serviceId: number })[] {
  const endedFrom = from - SHORTEST.to
  const near = db.sql
    .selectFrom('incidents')
    .select(['incidents.id', 'incidents.service_id as serviceId', ...AGED_COLUMNS])
    .where('organization_id', '=', organizationId)
    .where('started_at', '<=', to - SHORTEST.scalingsFrom)
    .where(({ eb, or }) =>
      or([eb('resolved_at', 'is', null), eb('resolved_at', '>=', endedFrom), eb('started_at', '>=', endedFrom)]),
    )
  return db.all(near).map(toAged)
}

const alertServices = query<{ id: number }>()((builder, hole) =>
  builder.selectFrom('alerts').select('service_id as id').distinct().where('incident_id', '=', hole('id')),
)

/** Lists the row ids of an incident's service and of its alerts' services. */
function servicesOf(db: Db, id: number, serviceId: number): number[] {
  return [...new Set([serviceId, ...db.all(alertServices, { id }).map((service) => service.id)])]
}

function reachOf(
  db: Db,
  organizationId: number,
  incident: { readonly startedAt: number; readonly resolvedAt: number | null; readonly services: readonly number[] },
  now: number,
): IncidentReferences {
  const { scalingsFrom: changesFrom, from, to } = searchedSpan(incident, now)
  const [span, wide] = [
    { owner: organizationId, from, to, nth: MAX_EVENTS - 1 },
    { owner: organizationId, from: changesFrom, to, nth: MAX_EVENTS - 1 },
  ]
  const services = incident.services.map((serviceId) => {
    const eventsTo = db.first(nthTold, { owner: serviceId, from, to, nth: MAX_EVENTS_PER_SERVICE - 1 })?.at ?? to
    const newest = db.first(nthScaling, { owner: serviceId, from: changesFrom, to, nth: MAX_SCALINGS - 1 })
    return [serviceId, { eventsTo, scalingsFrom: newest?.at ?? changesFrom }] as const
  })
  return {
    ...{ from, to, changesFrom },
    troublesFrom: db.first(nthTrouble, span)?.at ?? from,
    scalingsFrom: db.first(nthChange, wide)?.at ?? changesFrom,
    alertsFrom: db.first(nthAlert, { ...span, nth: MAX_ALERTS - 1 })?.at ?? 0,
    services: new Map(services),
  }
}

/** `owner`: the row id of an organization or a service. */
type Nth = { owner: number; from: number; to: number; nth: number }

// Uses literals instead of parameters, so that SQLite can use the partial indexes.
const isTrouble = sql<boolean>`source = 'cluster' AND kind = 'firing'`
const isChange = sql<boolean>`kind = 'change'`
const isTold = sql<boolean>`kind IN (${sql.join(TIMELINE_KINDS.map((kind) => sql.lit(kind)))})`
const nthTrouble = nthEvent('organization_id', isTrouble, 'desc')
const nthChange = nthEvent('organization_id', isChange, 'desc')
const nthScaling = nthEvent('service_id', isChange, 'desc')
const nthTold = nthEvent('service_id', isTold, 'asc')
const nthAlert = query<Nth>()((builder, hole) =>
  builder
    .selectFrom('alerts')
    .select('starts_at as at')
    .where('organization_id', '=', hole('owner'))
    .where('starts_at', '>=', hole('from'))
    .where('starts_at', '<=', hole('to'))
    .where('last_seen_at', '>=', hole('from'))
    .orderBy('starts_at', 'desc')
    .limit(1)
    .offset(hole('nth')),
)

function nthEvent(owner: 'organization_id' | 'service_id', condition: RawBuilder<boolean>, order: 'asc' | 'desc') {
  return query<Nth>()((builder, hole) =>
    builder
      .selectFrom('events')
      .select('at')
      .where(owner, '=', hole('owner'))
      .where('at', '>=', hole('from'))
      .where('at', '<=', hole('to'))
      .where(condition)
      .orderBy('at', order)
      .limit(1)
      .offset(hole('nth')),
  )
}
