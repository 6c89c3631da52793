/**
 * Finds the events and alerts that retained records reference, so that pruning keeps these events and alerts: the
 * records on incident pages, in timelines and in postmortems, and the events of pipelines, links and active alerts.
 */
import { type RawBuilder, sql } from 'kysely'
import {
  type AgedIncident,
  type Cutoffs,
  type IncidentReferences,
  isIncidentDue,
  TIMELINE_KINDS,
} from '../../domain/retention.ts'
import { MAX_ALERTS, MAX_EVENTS, searchedSpan } from '../../domain/suspect/searched.ts'
import { MAX_SCALINGS } from '../correlation/links.ts'
import { MAX_EVENTS_PER_SERVICE } from '../incident/timeline-events.ts'
import type { TimeSpan } from '../read.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, query } from '../sqlite/query.ts'
import { AGED_COLUMNS, toAged } from './expired-events.ts'

/**
 * Returns the row ids of events referenced by a pipeline, a link, an active alert or an incident's alert. An active alert
 * references its last event, because the response to a repeat contains that event's id. An incident's alert references
 * its first event, because the timeline quotes it.
 */
export function listEventsOfRecords(db: Db, ids: readonly number[]): number[] {
  const events = listed(JSON.stringify(ids))
  const links = db.sql.selectFrom('correlations')
  const alerts = db.sql
    .selectFrom('events')
    .innerJoin('alerts', 'alerts.id', 'events.alert_id')
    .whereRef('alerts.last_event_id', '=', 'events.id')
    .where('alerts.settled_at', 'is', null)
  const firsts = db.sql
    .selectFrom('events')
    .innerJoin('alerts', 'alerts.id', 'events.alert_id')
    .where('alerts.incident_id', 'is not', null)
    .where('events.kind', '=', 'firing')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('events as earlier')
            .select('earlier.id')
            .whereRef('earlier.alert_id', '=', 'events.alert_id')
            .where('earlier.kind', '=', 'firing')
            .where(sql<boolean>`(earlier.at, earlier.id) < (events.at, events.id)`),
        ),
      ),
    )
  const rows = db.sql
    .selectFrom('pipelines')
    .select('event_id as id')
    .where('event_id', 'in', events)
    .union(links.select('change_event_id as id').where('change_event_id', 'in', events))
    .union(links.select('evidence_event_id as id').where('evidence_event_id', 'in', events))
    .union(alerts.select('events.id').where('events.id', 'in', events))
    .union(firsts.select('events.id').where('events.id', 'in', events))
  return db.all(rows).map(({ id }) => id)
}

/**
 * Returns the references (`event/<uuid>`, `alert/<uuid>`) that occur in a postmortem or in the timeline of a retained
 * incident.
 */
export function listCitedRefs(db: Db, refs: readonly string[], cutoffs: Cutoffs): string[] {
  const asked = listed<string>(JSON.stringify(refs))
  const byPostmortems = db.sql.selectFrom('postmortem_references').select('ref').distinct().where('ref', 'in', asked)
  const byTimelines = db.sql
    .selectFrom('timeline')
    .innerJoin('incidents', 'incidents.id', 'timeline.incident_id')
    .select(['ref', ...AGED_COLUMNS])
    .where(sql`substr(ref, -12)`, 'in', listed<string>(JSON.stringify(refs.map((ref) => ref.slice(-12)))))
    .where('ref', 'in', asked)
  const kept = db.all(byTimelines).filter((row) => !isIncidentDue(toAged(row), cutoffs))
  return [...db.all(byPostmortems), ...kept].flatMap(({ ref }) => ref ?? [])
}

/** The shortest period searched around the start of an incident. */
const SHORTEST = searchedSpan({ startedAt: 0, resolvedAt: 0 }, 0)

/** Returns a function that finds the references of incidents near a period. The function caches the references. */
export function createReferenceFinder(
  db: Db,
  organizationId: number,
  cutoffs: Cutoffs,
): (times: TimeSpan) => IncidentReferences[] {
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
  { from, to }: TimeSpan,
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
