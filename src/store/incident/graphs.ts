/** The graphs of incidents, fetched from Prometheus. */
import type { Graph, GraphRecord, GraphState } from '../../domain/graph/graph.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidAsText, uuidFromBytes, uuidOrNone } from '../sqlite/uuid.ts'

/** `id`: the incident's UUID. */
export type GraphCandidate = GraphState & {
  readonly incidentId: number
  readonly id: string
  readonly startedAt: number
}

/** How many recent incidents can have a graph. */
const MAX_CANDIDATES = 200
const MAX_ALERTS = 50

/** Lists the newest incidents that were created after `since`, with the state of their graphs. */
export function listGraphCandidates(db: Db, organizationId: number, since: number): GraphCandidate[] {
  const newest = db.sql
    .selectFrom('incidents as i')
    .leftJoin('graphs as g', 'g.incident_id', 'i.id')
    .select(['i.id as incidentId', 'i.created_at as createdAt', 'i.started_at as startedAt'])
    .select(['i.resolved_at as resolvedAt', 'g.asked_at as askedAt'])
    .select((eb) => uuidAsText(eb.ref('i.uuid')).as('id'))
    .select((eb) => eb.fn.coalesce('g.tries', eb.lit(0)).as('tries'))
    .where('i.organization_id', '=', organizationId)
    .where('i.created_at', '>', since)
  return db.all(newest.orderBy('i.created_at', 'desc').limit(MAX_CANDIDATES))
}

/** Lists the first alerts of an incident that have a link to the rule in Prometheus. */
export function listGeneratingAlerts(db: Db, incidentId: number) {
  const rows = db.sql
    .selectFrom('alerts')
    .select(['uuid', 'severity', 'starts_at as startsAt', 'links'])
    .where('incident_id', '=', incidentId)
    .where('source', '=', 'metrics')
    .orderBy('starts_at')
  return db.all(rows.limit(MAX_ALERTS)).flatMap(({ uuid, links, ...alert }) => {
    const { generator } = JSON.parse(links) as { generator?: string }
    return generator === undefined ? [] : { ...alert, id: uuidFromBytes(uuid), generator }
  })
}

type Asked = { readonly incidentId: number; readonly alertId: string | null; readonly at: number }

/** Saves a graph, or null if no alert of the incident has an expression. */
export function saveGraph(db: Db, { incidentId, alertId, at }: Asked, graph: Graph | null): void {
  const changed = { alert: alertId, asked_at: at, tries: 0, fault: null, fetched_at: at, graph: JSON.stringify(graph) }
  const insert = db.sql.insertInto('graphs').values({ incident_id: incidentId, ...changed })
  db.run(insert.onConflict((conflict) => conflict.column('incident_id').doUpdateSet(changed)))
}

/** Saves why a request failed. An earlier graph is kept. */
export function saveGraphFault(db: Db, { incidentId, alertId, at }: Asked, tries: number, fault: string): void {
  const changed = { alert: alertId, asked_at: at, tries, fault }
  const insert = db.sql
    .insertInto('graphs')
    .values({ incident_id: incidentId, ...changed, fetched_at: null, graph: null })
  db.run(insert.onConflict((conflict) => conflict.column('incident_id').doUpdateSet(changed)))
}

/** Finds the graph of an incident by the incident's UUID. Returns null if there is none. */
export function findGraph(db: Db, organizationId: number, incidentId: string): GraphRecord | null {
  const found = db.sql
    .selectFrom('graphs as g')
    .innerJoin('incidents as i', 'i.id', 'g.incident_id')
    .select(['g.alert', 'g.graph', 'g.fault', 'g.fetched_at as fetchedAt'])
    .where('i.organization_id', '=', organizationId)
    .where('i.uuid', '=', uuidOrNone(incidentId))
  const row = db.first(found)
  if (!row || row.alert === null) return null
  const { alert, graph, fault, fetchedAt } = row
  return { alertId: alert, graph: graph === null ? null : JSON.parse(graph), fault, fetchedAt }
}
