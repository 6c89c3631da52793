/**
 * Reads the data for the incident page. The alerts of a storm are read only once, and the reader thread returns only
 * their groups.
 */
import { sql } from 'kysely'
import { shortGroup } from '../../domain/alert/groups.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { groupsOf, timelineOf } from '../../domain/incident/timeline.ts'
import { listBestLinksOfIncident } from '../correlation/correlations.ts'
import { findLastGoodDeploy } from '../correlation/pipelines.ts'
import { findService } from '../service/services.ts'
import { listStates } from '../service/states.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import { findGraph } from './graphs.ts'
import type { IncidentRecord } from './incidents.ts'
import { findLiveIncident } from './live-incidents.ts'
import { findTimelineFacts, SEARCHED_BEFORE, withMessages } from './timeline-facts.ts'
import { findWhoWasTold } from './told-messages.ts'

/**
 * Finds the groups of similar alerts in an incident, most severe first. Finds the best link between each change and
 * each group. Finds the timeline entries, oldest first. Also finds the service, its states
 * since `from`, its last good deploy before the incident, and the graph from Prometheus.
 */
export function findIncidentView(
  db: Db,
  organizationId: number,
  incident: IncidentRecord,
  { from, now }: { readonly from: number; readonly now: number },
) {
  const live = findLiveIncident(db, organizationId, incident.id)
  const facts = live ? findTimelineFacts(db, live, now) : null
  const groups = groupsOf(facts?.alerts ?? [])
  const events = Map.groupBy(facts?.events ?? [], ({ alertId }) => alertId)
  const silences = listSilencedOfIncident(db, incident.rowId)
  return {
    groups: groups.map((group) => {
      const members = group.members.map((alert) => ({ ...alert, silencedBy: silences.get(alert.id) ?? [] }))
      return { ...shortGroup({ ...group, members }), pods: podsOf(group.members, events) }
    }),
    links: facts?.correlations ?? [],
    timeline: live && facts ? withMessages(db, live, timelineOf(facts, groups)) : [],
    lastGoodDeploy: live && findLastGoodDeploy(db, live.serviceId, goodUntil(live)),
    service: findService(db, organizationId, incident.serviceId, now),
    graph: findGraph(db, organizationId, incident.id),
    score: listStates(db, organizationId, incident.serviceId, from),
    told: findWhoWasTold(db, organizationId, [incident.rowId], now).get(incident.rowId) ?? null,
  }
}

/** Lists the silences of each silenced alert in an incident. Keys and values are UUIDs. */
function listSilencedOfIncident(db: Db, incidentRowId: number): ReadonlyMap<string, readonly string[]> {
  const silenced = db.sql
    .selectFrom('alerts')
    .innerJoin('silenced_alerts', 'silenced_alerts.alert_id', 'alerts.id')
    .innerJoin('silences', 'silences.id', 'silenced_alerts.silence_id')
    .select(['alerts.uuid as alert', 'silences.uuid as silence'])
    .where('alerts.incident_id', '=', incidentRowId)
  const byAlert = Map.groupBy(db.all(silenced), ({ alert }) => uuidFromBytes(alert))
  return new Map([...byAlert].map(([id, of]) => [id, of.map(({ silence }) => uuidFromBytes(silence))]))
}

/** Links are made for alerts. What was deployed just before a user declared an incident was linked to nothing. */
function goodUntil({ origin, startedAt }: LiveIncident): number {
  return origin === 'manual' ? startedAt - SEARCHED_BEFORE : startedAt
}

function podsOf(
  alerts: readonly { readonly uuid: string }[],
  events: ReadonlyMap<string | null, readonly { readonly object: string }[]>,
): readonly string[] {
  const objects = alerts.flatMap(({ uuid }) => events.get(uuid) ?? []).map(({ object }) => object)
  return [...new Set(objects)].flatMap((object) => (object.startsWith('Pod/') ? object.slice(4) : []))
}

/**
 * Finds what a page says about an incident in one line: the starts of its alerts by service and source, its links, and
 * its service, and who was told. The alerts of a storm are only counted.
 */
export function findIncidentBrief(db: Db, organizationId: number, incident: IncidentRecord, now: number) {
  const { rowId, serviceId } = incident
  return {
    groups: db.all(starts, { rowId }).map(({ uuid, ...group }) => ({ ...group, serviceId: uuidFromBytes(uuid) })),
    links: listBestLinksOfIncident(db, organizationId, rowId),
    service: findService(db, organizationId, serviceId, now),
    told: findWhoWasTold(db, organizationId, [rowId], now).get(rowId) ?? null,
  }
}

const starts = query<{ rowId: number }>()((builder, hole) =>
  builder
    .selectFrom('alerts')
    .select(sql<Buffer>`(SELECT uuid FROM services WHERE services.id = alerts.service_id)`.as('uuid'))
    .select('source')
    .select((eb) => [
      eb.fn.min<number>('starts_at').as('firstStartsAt'),
      eb.fn.max<number>('starts_at').as('lastStartsAt'),
    ])
    .where('incident_id', '=', hole('rowId'))
    .groupBy(['service_id', 'source']),
)
