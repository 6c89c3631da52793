/**
 * Reads records of all services from the time around an incident, in order to rank the incident's suspects. Limits the
 * number of rows.
 */
import { sql } from 'kysely'
import type { Change } from '../../domain/correlation/change.ts'
import { rolloutsOf } from '../../domain/correlation/rollout.ts'
import { assignedNode } from '../../domain/event/reason-message.ts'
import { wordsOf } from '../../domain/suspect/accused.ts'
import { type Judged, judgeSuspects } from '../../domain/suspect/judged.ts'
import { isChange, orderSuspects, standingOf } from '../../domain/suspect/likely-cause.ts'
import { MAX_ALERTS, MAX_EVENTS, START, searchedSpan } from '../../domain/suspect/searched.ts'
import { fixesOf, rankSuspects, type Suspect, type SuspectFacts } from '../../domain/suspect/suspect.ts'
import { DAY } from '../../domain/units.ts'
import { type BestLink, listBestLinksOfIncident } from '../correlation/correlations.ts'
import { listDeployed } from '../correlation/pipelines.ts'
import { findServiceRowId } from '../service/services.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import { withIncident } from './beside.ts'
import type { IncidentRecord } from './incidents.ts'

const MAX_SERVICES = 5_000
const MAX_ASSIGNED = 200

/** The incident fields that determine its suspects. `serviceId`: a UUID. */
type Incident = Pick<IncidentRecord, 'rowId' | 'serviceId' | 'startedAt' | 'resolvedAt' | 'problem'>

/**
 * Returns an incident's suspects with users' verdicts, most probable first.
 * @param links of the incident. Default: read from the database
 * @param presentOf returns the facts that count. Default: all
 */
export function findJudgedSuspects(
  db: Db,
  organizationId: number,
  incident: Incident,
  now: number,
  links: readonly BestLink[] = listBestLinksOfIncident(db, organizationId, incident.rowId),
  presentOf: (facts: SuspectFacts) => SuspectFacts = (facts) => facts,
): { readonly suspects: readonly Judged<BestLink>[]; readonly alerts: SuspectFacts['alerts'] } {
  const facts = presentOf(findSuspectFacts(db, organizationId, incident, now))
  const judged = judgeSuspects(rankSuspects(facts), facts.changes, links, incident.serviceId)
  return { suspects: orderSuspects(judged, incident.startedAt), alerts: facts.alerts }
}

/** Returns an incident's suspects, most probable first. */
export function findSuspects(
  db: Db,
  organizationId: number,
  incident: Incident,
  now: number,
): Required<Omit<Suspect, 'since' | 'callers'>>[] {
  const { suspects } = findJudgedSuspects(db, organizationId, incident, now)
  return withIncident(db, { ...incident, organizationId }, suspects).map((one) => {
    const { kind, ref, serviceId, score, reasons, evidence, verdict, rollouts = [] } = one
    const judged = verdict ? [{ code: verdict, text: `a user ${verdict} this change as the cause` }] : []
    const isLate = isChange(one) && standingOf(one, incident.startedAt) === 'began later'
    const late = isLate ? [{ code: 'late_change', text: 'this change began later than the incident' }] : []
    const told = [...judged, ...late, ...reasons.map(({ code, text }) => ({ code, text }))]
    return { kind, ref, serviceId, score, reasons: told, evidence, rollouts }
  })
}

/** Returns an incident's suspects, the changes around its start, oldest first, and those that probably ended it. */
export function findCauses(
  db: Db,
  organizationId: number,
  incident: IncidentRecord,
  now: number,
): { readonly suspects: readonly Suspect[]; readonly changes: readonly Change[]; readonly fixes: readonly Change[] } {
  const facts = findSuspectFacts(db, organizationId, incident, now)
  const changes = facts.changes.toSorted((a, b) => a.startsAt - b.startsAt)
  const suspects = withIncident(db, { ...incident, organizationId }, rankSuspects(facts))
  return { suspects, changes, fixes: [...fixesOf(facts)] }
}

/** Reads the changes, alerts and events in the searched period. */
function findSuspectFacts(db: Db, organizationId: number, incident: Incident, now: number): SuspectFacts {
  const { scalingsFrom, from, to } = searchedSpan(incident, now)
  const services = servicesOf(db, organizationId)
  return {
    incident: {
      ...{ service: incident.serviceId, startedAt: incident.startedAt, endedAt: incident.resolvedAt },
      endedItself: incident.problem.endedAt === incident.resolvedAt && !wasEndedByUser(db, incident),
    },
    services,
    changes: [
      ...listDeployed(db, organizationId, services, { from, to }),
      ...rolloutsIn(db, organizationId, scalingsFrom, to).filter(({ startsAt }) => startsAt >= from),
      ...newestRollout(db, organizationId, incident.serviceId, from),
    ],
    alerts: alertsIn(db, organizationId, incident, from, to),
    events: eventsIn(db, organizationId, from, to),
    images: imagesLike(db, organizationId, incident.serviceId),
    assigned: assignedOf(db, organizationId, incident.serviceId, scalingsFrom, to),
  }
}

/** Returns whether a user resolved an incident last, or merged it into another one. */
function wasEndedByUser(db: Db, { rowId }: Incident): boolean {
  const ends = db.sql.selectFrom('timeline').select('actor').where('incident_id', '=', rowId)
  const last = ends.where('kind', '=', 'status').where('code', '=', 'resolved').orderBy('id', 'desc')
  return (db.first(last.limit(1))?.actor ?? null) !== null
}

function servicesOf(db: Db, organizationId: number): SuspectFacts['services'] {
  const rows = db.sql
    .selectFrom('services')
    .select(['uuid', 'cluster', 'namespace', 'name'])
    .where('organization_id', '=', organizationId)
  return db.all(rows.limit(MAX_SERVICES)).map(({ uuid, ...service }) => ({ id: uuidFromBytes(uuid), ...service }))
}

/** The maximum number of a service's earlier scalings in which to look for its last rollout. */
const MAX_SCALINGS = 100

/** Lists the rollouts of all services in a period. */
function rolloutsIn(db: Db, organizationId: number, from: number, to: number) {
  const rows = db.all(
    db.sql
      .selectFrom('events')
      .innerJoin('services', 'services.id', 'events.service_id')
      .select(['events.uuid', 'object', 'text', 'at', 'services.uuid as service', 'services.namespace'])
      .where('events.organization_id', '=', organizationId)
      .where('kind', '=', 'change')
      .where('at', '>=', from)
      .where('at', '<=', to)
      .orderBy('at', 'desc')
      .limit(MAX_EVENTS),
  )
  const byService = Map.groupBy(rows, ({ service }) => service.toString('hex'))
  return [...byService.values()].flatMap((events) => {
    const [first] = events
    const scalings = events.map(({ uuid, ...event }) => ({ ...event, eventId: uuidFromBytes(uuid) }))
    return first ? rolloutsOf(scalings, { id: uuidFromBytes(first.service), namespace: first.namespace }) : []
  })
}

/** Returns the last rollout of a service before a time. Its pods may run out of memory much later. */
function newestRollout(db: Db, organizationId: number, serviceId: string, before: number): Change[] {
  const rowId = findServiceRowId(db, organizationId, serviceId)
  if (rowId === undefined) return []
  const rows = db.sql
    .selectFrom('events')
    .innerJoin('services', 'services.id', 'events.service_id')
    .select(['events.uuid', 'object', 'text', 'at', 'services.namespace'])
    .where('service_id', '=', rowId)
    .where('kind', '=', 'change')
    .where('at', '<', before)
    .orderBy('at', 'desc')
    .limit(MAX_SCALINGS)
  const scalings = db.all(rows).map(({ uuid, ...event }) => ({ ...event, eventId: uuidFromBytes(uuid) }))
  const [first] = scalings
  const rollouts = first ? rolloutsOf(scalings, { id: serviceId, namespace: first.namespace }) : []
  return rollouts.filter(({ emptied }) => emptied === undefined).slice(-1)
}

/**
 * Lists the alerts that overlap the period, latest start first. Skips alerts that started more than a day before the
 * period, except live alerts and alerts that settled between the start of the period and a day after its end. With this
 * restriction, all three queries use an index, and none scans the entire history.
 */
function alertsIn(
  db: Db,
  organizationId: number,
  incident: Incident,
  from: number,
  to: number,
): SuspectFacts['alerts'] {
  const ends = endsBeforeResolution(db, incident)
  const rows = () =>
    db.sql
      .selectFrom('alerts')
      .innerJoin('services', 'services.id', 'alerts.service_id')
      .select(['alerts.uuid', 'services.uuid as service', 'source', 'alerts.name', 'severity', 'summary'])
      .select(['node', 'labels', 'annotations', 'incident_id', 'resolution'])
      .select(['starts_at as startsAt', 'ends_at as endsAt', 'last_seen_at as lastSeenAt'])
      .where('alerts.organization_id', '=', organizationId)
      .where('last_seen_at', '>=', from)
      .limit(MAX_ALERTS)
  const late = rows()
    .where('starts_at', '<=', to)
    .where('starts_at', '>=', from - DAY)
    .orderBy('starts_at', 'desc')
  // The unary plus keeps SQLite from scanning all earlier alerts.
  const early = rows().where(sql`+starts_at`, '<', from - DAY)
  const settled = early.where('settled_at', '>=', from).where('settled_at', '<=', to + DAY)
  const live = early.where('settled_at', 'is', null)
  return [...db.all(late), ...db.all(settled), ...db.all(live)]
    .toSorted((a, b) => b.startsAt - a.startsAt)
    .slice(0, MAX_ALERTS)
    .map(({ uuid, service, labels, annotations, incident_id, ...alert }) => {
      const id = uuidFromBytes(uuid)
      return {
        ...alert,
        endsAt: ends.get(`alert/${id}`) ?? alert.endsAt,
        inIncident: incident_id === incident.rowId,
        id,
        service: uuidFromBytes(service),
        labels: JSON.parse(labels),
        words: wordsOf(alert.summary, JSON.parse(annotations)),
      }
    })
}

/**
 * Returns, by `alert/<uuid>`, the ends of the incident's alerts that were not firing when the incident was resolved. An
 * alert that fired again after the resolution has lost its first end, but the timeline still contains it.
 */
function endsBeforeResolution(db: Db, { rowId, resolvedAt }: Incident): ReadonlyMap<string | null, number> {
  if (resolvedAt === null) return new Map()
  const entries = db.sql
    .selectFrom('timeline')
    .select(['ref', 'kind', 'at'])
    .where('incident_id', '=', rowId)
    .where('at', '<=', resolvedAt)
    .where('kind', 'in', ['alert', 'ended'])
  const last = new Map(db.all(entries.orderBy('at').orderBy('id')).map((entry) => [entry.ref, entry]))
  return new Map([...last].flatMap(([ref, { kind, at }]) => (kind === 'ended' ? [[ref, at] as const] : [])))
}

/** Lists the failures and changes that the cluster reported, and the starts of components of nodes. */
function eventsIn(db: Db, organizationId: number, from: number, to: number): SuspectFacts['events'] {
  const rows = () =>
    db.sql
      .selectFrom('events')
      .leftJoin('services', 'services.id', 'events.service_id')
      .leftJoin('alerts', 'alerts.id', 'events.alert_id')
      .select(['events.uuid', 'services.uuid as service', 'alerts.uuid as alert', 'events.kind', 'events.name'])
      .select(['events.object', 'events.text', 'events.at', 'events.count', 'events.first_seen_at'])
      .where('events.organization_id', '=', organizationId)
      .where('events.at', '>=', from)
      .where('events.at', '<=', to)
      .where('events.source', '=', sql.lit('cluster'))
      .orderBy('events.at', 'desc')
      .limit(MAX_EVENTS)
  const found = [
    ...db.all(rows().where('events.kind', 'in', ['firing', 'change'])),
    ...db.all(rows().where('events.name', '=', sql.lit(START))),
  ]
  return found.map(({ uuid, service, alert, kind, first_seen_at, ...event }) => ({
    ...event,
    firstSeenAt: first_seen_at ?? event.at,
    id: uuidFromBytes(uuid),
    service: service && uuidFromBytes(service),
    alertId: alert && uuidFromBytes(alert),
    kind: kind as SuspectFacts['events'][number]['kind'],
  }))
}

/** Lists a service's images and, for each image, all services that pulled it. */
function imagesLike(db: Db, organizationId: number, serviceId: string): SuspectFacts['images'] {
  const rowId = findServiceRowId(db, organizationId, serviceId)
  if (rowId === undefined) return []
  const rows = db.all(
    db.sql
      .selectFrom('images as own')
      .innerJoin('services', (join) => join.on('services.organization_id', '=', organizationId))
      .innerJoin('images', (join) =>
        join.onRef('images.service_id', '=', 'services.id').onRef('images.path', '=', 'own.path'),
      )
      .select(['services.uuid as service', 'images.path'])
      .distinct()
      .where('own.service_id', '=', rowId)
      .limit(MAX_SERVICES),
  )
  return rows.map(({ service, path }) => ({ service: uuidFromBytes(service), path }))
}

/** Lists the nodes of a service's pods, from events such as `Successfully assigned shop/cart-1 to worker-1`. */
function assignedOf(db: Db, organizationId: number, serviceId: string, from: number, to: number) {
  const rowId = findServiceRowId(db, organizationId, serviceId)
  if (rowId === undefined) return []
  const rows = db.sql
    .selectFrom('events')
    .select(['object', 'text', 'at'])
    .where('service_id', '=', rowId)
    .where('at', '>=', from)
    .where('at', '<=', to)
    .where('name', '=', 'Scheduled')
    .orderBy('at', 'desc')
    .limit(MAX_ASSIGNED)
  return db
    .all(rows)
    .reverse()
    .flatMap(({ object, text, at }) => {
      const node = assignedNode(text)
      return node === null ? [] : [{ pod: object.replace(/^Pod\//, ''), node, at }]
    })
}
