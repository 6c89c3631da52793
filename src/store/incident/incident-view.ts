/**
 * Reads the data for the incident page. The alerts of a storm are read only once, and the reader thread returns only
 * their groups.
 */
import { shortGroup } from '../../domain/alert/groups.ts'
import { groupsOf, timelineOf } from '../../domain/incident/timeline.ts'
import { findLastGoodDeploy } from '../correlation/pipelines.ts'
import { findService } from '../service/services.ts'
import { listStates } from '../service/states.ts'
import { listSilencedOfIncident } from '../silences.ts'
import type { Db } from '../sqlite/open.ts'
import { findGraph } from './graphs.ts'
import type { IncidentRecord } from './incidents.ts'
import { findLiveIncident } from './live-incidents.ts'
import { findTimelineFacts, withMessages } from './timeline-facts.ts'

/**
 * Finds the groups of similar alerts in an incident, most severe first. Finds the best link between each change and
 * each group (`group` is the group's key). Finds the timeline entries, oldest first. Also finds the service, its states
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
  const links = facts?.correlations ?? []
  const linked = new Set(links.map(({ alertId }) => alertId))
  const keys = new Map(
    groups.flatMap(({ key, members }) => members.flatMap(({ id }) => (linked.has(id) ? [[id, key] as const] : []))),
  )
  const silences = listSilencedOfIncident(db, incident.rowId)
  return {
    groups: groups.map((group) => {
      const members = group.members.map((alert) => ({ ...alert, silencedBy: silences.get(alert.id) ?? [] }))
      return shortGroup({ ...group, members })
    }),
    links: links.map((link) => ({ ...link, group: keys.get(link.alertId) ?? null })),
    timeline: live && facts ? withMessages(db, live, timelineOf(facts, groups)) : [],
    lastGoodDeploy: live && findLastGoodDeploy(db, live.serviceId, live.startedAt),
    service: findService(db, organizationId, incident.serviceId, now),
    graph: findGraph(db, organizationId, incident.id),
    score: listStates(db, organizationId, incident.serviceId, from),
  }
}
