/**
 * The slow queries, which run in worker threads with their own connections. All other queries run on the main thread.
 */
import { findAlertsJson } from '../store/alertmanager/alerts.ts'
import { findGroupsJson } from '../store/alertmanager/groups.ts'
import { listCorrelations } from '../store/correlation/correlations.ts'
import { listEvents } from '../store/events.ts'
import { findAlertGroups, findServiceGroups } from '../store/history/alert-groups.ts'
import { listConditions, listMatchingAlerts } from '../store/history/alert-search.ts'
import { findGroup, findGroups } from '../store/incident/groups.ts'
import { findIncidentBrief, findIncidentView } from '../store/incident/incident-view.ts'
import { listIncidents } from '../store/incident/incidents.ts'
import { findLikelyCause } from '../store/incident/likely-cause.ts'
import { findReliability } from '../store/incident/report.ts'
import { findCauses, findSuspects } from '../store/incident/suspects.ts'
import { findTimeline } from '../store/incident/timeline-facts.ts'
import { generateDuePostmortem } from '../store/live/postmortem.ts'
import type { Query } from '../store/read.ts'
import { listRejections } from '../store/rejections.ts'
import { findMutedCount, findSilencePreview } from '../store/silence-preview.ts'
import { findDamage } from '../store/sqlite/sound.ts'
import { findIncidentRecords } from '../store/views.ts'

/** Each lane has its own thread, so that a list of events does not wait for a search. */
export const LANES = ['search', 'list', 'view', 'postmortem'] as const
export type Lane = (typeof LANES)[number]

/** Arguments and results must be plain values that can be passed between threads. */
const QUERIES: Readonly<Record<Lane, Readonly<Record<string, Query>>>> = {
  /** Queries that can scan all alerts of a service or period, which takes up to a minute for ten million alerts. */
  search: { listMatchingAlerts, listConditions, findSilencePreview, findDamage },
  /** Queries that count rows with an index, or list all live alerts, which takes up to a second. */
  list: { listEvents, findAlertGroups, findAlertsJson, findGroupsJson },
  /** Queries for incidents and changes. There are few such records, so these queries take milliseconds. */
  view: {
    ...{ listIncidents, listCorrelations, listRejections, findReliability, findIncidentRecords },
    ...{ findCauses, findSuspects, findTimeline, findIncidentView, findIncidentBrief, findLikelyCause, findGroup },
    ...{ findGroups, findMutedCount, findServiceGroups },
  },
  /** Whoever resolves an incident waits for this query, so the query must not wait for pages. */
  postmortem: { generateDuePostmortem },
}

/** A slow query, with the name by which the worker thread finds the query. */
type SlowQuery = { readonly lane: Lane; readonly name: string; readonly query: Query }

const ALL = LANES.flatMap((lane) => Object.entries(QUERIES[lane]).map(([name, query]) => ({ lane, name, query })))
const BY_QUERY: ReadonlyMap<Query, SlowQuery> = new Map(ALL.map((one) => [one.query, one]))
const BY_NAME: ReadonlyMap<string, SlowQuery> = new Map(ALL.map((one) => [one.name, one]))

/** Returns undefined if the query is not slow. */
export function slowQuery(query: Query): SlowQuery | undefined {
  return BY_QUERY.get(query)
}

export function queryByName(name: string): Query {
  const found = BY_NAME.get(name)
  if (!found) throw new Error(`there is no slow query ${name}`)
  return found.query
}
