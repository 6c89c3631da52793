/** Reads records for an incident's postmortem and timeline. Limits the number of rows. */

import { firstSymptom } from '../../domain/alert/first-symptom.ts'
import { BUDGETS } from '../../domain/budgets.ts'
import type { Change } from '../../domain/correlation/change.ts'
import { rolloutsOf } from '../../domain/correlation/rollout.ts'
import { changeFact, type EntryFact, type PostmortemFacts, withImages } from '../../domain/incident/facts.ts'
import { severeOf } from '../../domain/incident/lasted.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { reportedAtOf } from '../../domain/incident/problem.ts'
import { timelineOf } from '../../domain/incident/timeline.ts'
import type { TimelineRow } from '../../domain/incident/timeline-rows.ts'
import { toldRows } from '../../domain/notification/told.ts'
import { isNodeService, nodeNameOf } from '../../domain/service/node.ts'
import { LIKELY, likelyChanges, topComponent } from '../../domain/suspect/likely-cause.ts'
import { DAY, HOUR, MINUTE } from '../../domain/units.ts'
import { type BestLink, listBestLinksOfIncident } from '../correlation/correlations.ts'
import { listScalings } from '../correlation/links.ts'
import { listPipelinesNear } from '../correlation/pipelines.ts'
import { gapEntries } from '../kubernetes.ts'
import { rejectionsOf } from '../rejections.ts'
import { findServiceRowId, hasSeveralClusters } from '../service/services.ts'
import type { Db } from '../sqlite/open.ts'
import {
  type AlertRows,
  alertsOf,
  alertsOnNode,
  findServiceOf,
  serviceOf,
  timelineAlertsOf,
  withMovesBefore,
} from './alert-facts.ts'
import { findBeside, findIncidentOf, mergedWith } from './beside.ts'
import { findGroupUntil } from './groups.ts'
import { findLiveIncident } from './live-incidents.ts'
import { withUnheard } from './silent-senders.ts'
import { findJudgedSuspects } from './suspects.ts'
import { eventsOf } from './timeline-events.ts'
import { findTold, listNotToldOf, listToldOf } from './told-messages.ts'

/** How long before the first evidence to search for changes. */
export const SEARCHED_BEFORE = 2 * HOUR
/** The alerts of workloads can be older than the report that their node failed. */
const ON_NODE_BEFORE = 5 * MINUTE

const CORDONS: ReadonlySet<string> = new Set(['NodeNotSchedulable', 'NodeSchedulable'])
type Facts = Omit<PostmortemFacts, 'generatedAt' | 'revision'>

/** Reads the facts for an incident's postmortem at `now`. `entries`: timeline entries that are not saved yet. */
export function findIncidentFacts(db: Db, incident: LiveIncident, now: number, entries: Facts['entries']): Facts {
  const alerts = withUnheard(db, incident, alertsOf(db, incident.rowId), now)
  const others = otherServices(db, incident, alerts)
  const searched = searchedAround(incident, now)
  const facts = gather(db, incident, alerts, searched)
  const links = listBestLinksOfIncident(db, incident.organizationId, incident.rowId)
  const all = withMovesBefore(db, incident, alerts, [...facts.entries, ...entries])
  const { service } = facts.incident
  const { isSuppressed, endedAt } = incident.problem
  const shown = hasSeveralClusters(db, incident.organizationId) ? asIs : withoutCluster
  const until = (isSuppressed ? null : endedAt) ?? incident.resolvedAt ?? now
  const first = firstSymptom(alerts)
  return {
    ...facts,
    incident: incidentFact(db, { ...facts.incident, service: shown(service) }, all, now),
    onNode: isNodeService(service) ? alertsOnNodeOf(db, incident, nodeNameOf(service), now) : [],
    entries: all,
    correlations: links.map(linkFact),
    ...suspectsOf(db, { ...incident, serviceId: facts.incident.service.uuid }, links, { now, searched }),
    services: [...others.values()].map(({ rowId: _, ...service }) => shown(service)),
    alerts,
    searched,
    lowestScore: incident.lowestScore,
    ...findBeside(db, incident, alerts, all, { until, now }),
    group: findGroupUntil(db, incident, until),
    told: findTold(db, incident, now),
    arrival: first ? firstArrival(db, first.rowId) : null,
    rejectedEvidence: rejectionsOf(db, incident.organizationId, incident.startedAt, searched.to),
  }
}

/** Returns of what time the first report of an alert was, and when a report arrived first. Both are null if it has none. */
function firstArrival(db: Db, alertId: number) {
  const reports = db.sql.selectFrom('events').where('alert_id', '=', alertId).where('kind', '=', 'firing')
  return db.first(reports.select(({ fn }) => [fn.min('at').as('at'), fn.min('received_at').as('receivedAt')])) ?? null
}

const asIs = <Service>(service: Service) => service
const withoutCluster = <Service extends object>({ cluster: _, ...service }: Service & { readonly cluster: string }) =>
  service

/** A missing heartbeat is no critical state. The problem of a manual incident is on whatever the service's state is. */
function incidentFact(
  db: Db,
  incident: LiveIncident & { uuid: string; service: Facts['incident']['service'] },
  entries: Facts['entries'],
  now: number,
) {
  const { problem, origin, cause } = incident
  const end = incident.resolvedAt ?? now
  const severe = severeOf(incident, end)
  const { onMs: lastedMs, mutedMs } = severe
  const until = problem.isSuppressed ? null : problem.endedAt
  const known =
    cause === 'silence' || origin === 'manual'
      ? { critical: { ms: 0, until: cause === 'silence' ? until : null }, lastedMs }
      : { critical: { ms: lastedMs, until, mutedMs, reportedAt: reportedAtOf(problem) } }
  // Earlier versions recorded a resolution as an acknowledgement. A reopening is none.
  const { acknowledgedAt: at, resolvedAt } = incident
  const answeredAt = at === resolvedAt || entries.some((one) => one.kind === 'reopened' && one.at === at) ? null : at
  const { firstAcknowledgedAt: firstAt } = problem
  const hasLapsed = firstAt !== null && firstAt !== answeredAt
  return {
    ...incident,
    number: findNumber(db, incident.rowId),
    ...known,
    about: problem.about,
    severe,
    declared: problem.hadDeclared,
    acknowledgedAt: firstAt ?? answeredAt,
    hasLapsed,
  }
}

/** Returns the number that people use for an incident; undefined if it is not saved yet. */
function findNumber(db: Db, rowId: number): number | undefined {
  return db.first(db.sql.selectFrom('incidents').select('number').where('id', '=', rowId))?.number ?? undefined
}

function alertsOnNodeOf(db: Db, incident: LiveIncident, node: string, now: number) {
  const period = { from: incident.startedAt - ON_NODE_BEFORE, to: incident.resolvedAt ?? now }
  return alertsOnNode(db, incident.organizationId, { node, ...period })
}

function suspectsOf(
  db: Db,
  incident: Omit<LiveIncident, 'serviceId'> & { readonly serviceId: string },
  links: readonly BestLink[],
  { now, searched }: { readonly now: number; readonly searched: Facts['searched'] },
): Pick<Facts, 'suspects' | 'component' | 'cordons'> {
  const { suspects } = findJudgedSuspects(db, incident.organizationId, incident, now, links)
  const top = topComponent(suspects, incident.startedAt)
  const isLikely = top !== null && top.score >= LIKELY
  const own = isLikely ? findIncidentOf(db, incident, top.serviceId) : undefined
  return {
    cordons: suspects.flatMap(({ kind, serviceId }) => {
      if (kind !== 'node' || !serviceId || serviceId === incident.serviceId) return []
      const rowId = findServiceRowId(db, incident.organizationId, serviceId)
      return rowId === undefined ? [] : eventsOf(db, rowId, searched).filter(({ name }) => CORDONS.has(name))
    }),
    component: isLikely ? { kind: top.kind, ref: top.ref, score: top.score, ...(own ? { incident: own } : {}) } : null,
    suspects: likelyChanges(suspects, incident.startedAt).flatMap((one) => {
      const { kind, ref, change, score, reasons, rollouts = [] } = one
      if (kind !== 'pipeline' && kind !== 'rollout') return []
      const told = reasons.map(({ code, text }) => ({ code, text }))
      return { kind, ref, change: change && changeFact(change), score, reasons: told, rollouts }
    }),
  }
}

/** Returns an incident's timeline, oldest first, or null if the incident does not exist. */
export function findTimeline(
  db: Db,
  organizationId: number,
  incidentId: string,
  now: number,
): readonly TimelineRow[] | null {
  const incident = findLiveIncident(db, organizationId, incidentId)
  return incident && withMessages(db, incident, timelineOf(findTimelineFacts(db, incident, now)))
}

/** Adds what channels were told, and why they were not. The timeline of a postmortem has no such rows. */
export function withMessages(
  db: Db,
  { rowId, id }: LiveIncident,
  rows: readonly TimelineRow[],
): readonly TimelineRow[] {
  return toldRows(rows, id, listToldOf(db, rowId, id), listNotToldOf(db, rowId))
}

/** Reads the facts needed for the timeline. */
export function findTimelineFacts(db: Db, incident: LiveIncident, now: number) {
  const alerts = timelineAlertsOf(db, incident.rowId)
  const links = listBestLinksOfIncident(db, incident.organizationId, incident.rowId)
  const facts = gather(db, incident, alerts, searchedAround(incident, now), incident.rowId)
  const merged = mergedWith(db, incident.organizationId, facts.entries)
  const entries = withMovesBefore(db, incident, alerts, facts.entries)
  return { ...facts, entries, alerts, merged, correlations: links.map(linkFact) }
}

type WithService = Pick<AlertRows[number], 'service'>

/** @param counted the row id of an incident whose alerts count their events, so that most of these are not read */
function gather(
  db: Db,
  incident: LiveIncident,
  alerts: readonly WithService[],
  searched: Facts['searched'],
  counted = 0,
) {
  const rowIds = [incident.serviceId, ...otherServices(db, incident, alerts).keys()]
  const changes = rowIds.flatMap((rowId) => changesOf(db, rowId, searched))
  const events = rowIds.flatMap((rowId) => eventsOf(db, rowId, searched, counted))
  return {
    incident: { ...incident, uuid: incident.id, service: serviceOf(db, incident.serviceId) },
    entries: [...entriesOf(db, incident.rowId), ...gapEntries(db, incident, searched.to)],
    events,
    changes: withImages(changes.map(changeFact), events),
  }
}

function linkFact(link: BestLink) {
  return { ...link, uuid: link.id, alertId: link.evidence.alertId }
}

function searchedAround(incident: LiveIncident, now: number): Facts['searched'] {
  return { from: incident.startedAt - SEARCHED_BEFORE, to: incident.resolvedAt ?? now }
}

/** Returns the services of the alerts and of merged incidents by row id, except the incident's own service. */
function otherServices(db: Db, incident: LiveIncident, alerts: readonly WithService[]) {
  const merged = incident.problem.others.flatMap((rowId) => findServiceOf(db, rowId) ?? [])
  const others = new Map([...alerts.map(({ service }) => service), ...merged].map((one) => [one.rowId, one]))
  others.delete(incident.serviceId)
  return others
}

const MAX_ENTRIES = BUDGETS.timeline.value

function entriesOf(db: Db, incidentId: number) {
  const entries = db.sql.selectFrom('timeline').select(['at', 'kind', 'code', 'text', 'facts', 'actor', 'ref'])
  const newest = entries.where('incident_id', '=', incidentId).orderBy('id', 'desc').limit(MAX_ENTRIES)
  return db
    .all(newest)
    .reverse()
    .map(({ facts, ...entry }): EntryFact => ({ ...entry, facts: facts === null ? null : JSON.parse(facts) }))
}

function changesOf(db: Db, serviceId: number, { from, to }: Facts['searched']): Change[] {
  const service = serviceOf(db, serviceId)
  const named = { id: service.uuid, namespace: service.namespace }
  // The previous day's events show which ReplicaSet is new. Pruning keeps these events for as long as it keeps the
  // incident.
  const scalings = listScalings(db, serviceId, to).filter(({ at }) => at >= from - DAY)
  const rollouts = rolloutsOf(scalings, named)
  // A pipeline can run for up to a day, so a pipeline that started before the period can end within it.
  const pipelines = listPipelinesNear(db, serviceId, from - DAY, to)
  return [...pipelines, ...rollouts].filter(({ startsAt, endsAt }) => endsAt >= from && startsAt <= to)
}
