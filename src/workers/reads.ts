/** The slow reads by name. Each runs in a worker thread with its own connection. */

import type { Change } from '../domain/correlation/change.ts'
import { timelineOf } from '../domain/incident/timeline.ts'
import { type Reliability, reliability } from '../domain/report/report.ts'
import { rankSuspects, type Suspect } from '../domain/suspect/suspect.ts'
import { listCorrelations } from '../store/correlations.ts'
import { listEvents } from '../store/events.ts'
import { listMatchingAlerts } from '../store/history/alert-search.ts'
import { findTimelineFacts } from '../store/incident-facts.ts'
import { type IncidentRecord, listIncidents } from '../store/incidents.ts'
import { findLikelyCause } from '../store/likely-cause.ts'
import { findLiveIncident } from '../store/live/incidents.ts'
import { listRejections } from '../store/rejections.ts'
import { listReportedIncidents } from '../store/report.ts'
import { findSilencePreview } from '../store/silence-preview.ts'
import { findDamage } from '../store/sqlite/damage.ts'
import type { Db } from '../store/sqlite/open.ts'
import { findSuspectFacts } from '../store/suspect-facts.ts'

/** These may scan all alerts of a service and a period: up to a minute for ten million alerts. */
const SEARCHES = { listMatchingAlerts, findSilencePreview, findDamage }

/** These count rows with an index: up to a second. */
const LISTS = { listEvents }

/** These read firing alerts, or records of incidents and changes. There are few, so they take milliseconds. */
const VIEWS = {
  ...{ listIncidents, listCorrelations, listRejections },
  ...{ findReliability, findCauses, findSuspects, findTimeline, findLikelyCause },
}

/** Arguments (after the store) and results must be plain values that can be passed between threads. */
export const READS = { ...SEARCHES, ...LISTS, ...VIEWS }
export type Reads = typeof READS
export type ReadName = keyof Reads
export type ReadArgs<Name extends ReadName> = Parameters<Reads[Name]> extends [Db, ...infer Args] ? Args : never

/** Each lane is one thread, so that reading events does not wait for a search. */
export const LANES = ['search', 'list', 'view'] as const
export type Lane = (typeof LANES)[number]

export function laneOf(name: ReadName): Lane {
  if (name in SEARCHES) return 'search'
  return name in LISTS ? 'list' : 'view'
}

/** Returns null if there are more than `most` incidents. */
function findReliability(
  db: Db,
  organizationId: number,
  span: { readonly from: number; readonly to: number },
  most: number,
): Reliability | null {
  const incidents = listReportedIncidents(db, organizationId, span, most + 1)
  return incidents.length > most ? null : reliability(incidents, span.from, span.to)
}

/** The suspects of an incident, and the changes near its start, oldest first. */
function findCauses(
  db: Db,
  organizationId: number,
  incident: IncidentRecord,
  now: number,
): { readonly suspects: Suspect[]; readonly changes: readonly Change[] } {
  const facts = findSuspectFacts(db, organizationId, incident, now)
  return { suspects: rankSuspects(facts), changes: facts.changes.toSorted((a, b) => a.startsAt - b.startsAt) }
}

function findSuspects(db: Db, organizationId: number, incident: IncidentRecord, now: number): Suspect[] {
  return rankSuspects(findSuspectFacts(db, organizationId, incident, now))
}

/** Returns null if the incident does not exist. */
function findTimeline(db: Db, organizationId: number, incidentId: string, now: number) {
  const incident = findLiveIncident(db, organizationId, incidentId)
  return incident && timelineOf(findTimelineFacts(db, incident, now))
}
