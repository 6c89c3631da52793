/** Collects the live alerts of services and nodes as input for health and incident rules. */
import type { Alert, LiveAlert } from '../../domain/alert/alert.ts'
import { begunAtOf } from '../../domain/alert/ending.ts'
import { severeTimesOf } from '../../domain/alert/fingerprints.ts'
import { lastBegunAt } from '../../domain/alert/firing-period.ts'
import { PUNCTUAL_SENDER, type SenderBehavior } from '../../domain/alert/unavailable.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import { isAnew } from '../../domain/incident/incident.ts'
import type { SituationAlert } from '../../domain/incident/situation.ts'
import { once } from '../../domain/memoize.ts'
import { type Beat, withShared } from '../../domain/sender/beats.ts'
import { delayOf, isRepeating, type LiveSender, PROMETHEUS } from '../../domain/sender/sender.ts'
import { isNodeService } from '../../domain/service/node.ts'
import { rank, SEVERITIES } from '../../domain/severity.ts'
import { HOUR } from '../../domain/units.ts'
import { WATCH } from '../../domain/watch/object.ts'
import { namesakeKey, type OrganizationState, senderKey } from '../state/state.ts'

export type Condition = SituationAlert & { readonly live: LiveAlert; readonly node: string | null }

/** Returns the live alerts of a service in the order in which they were opened. */
export function alertsOf(state: OrganizationState, serviceId: number): LiveAlert[] {
  const found: LiveAlert[] = []
  for (const rowId of state.alertsOfService.get(serviceId)) {
    const live = state.alerts.get(rowId)
    if (live) found.push(live)
  }
  return found
}

/** Returns the alerts of a service that are firing or ended after `endedSince`. */
export function conditionsOf(state: OrganizationState, serviceId: number, endedSince: number): Condition[] {
  const found: Condition[] = []
  const metricsFire = firingMetricsOf(state, serviceId)
  for (const live of alertsOf(state, serviceId)) {
    // The end of an inferred alert lies in the past when it becomes known.
    if (isCurrent(live.alert, endedSince) || (live.alert.endedAt ?? 0) > endedSince)
      found.push(conditionOf(state, live, metricsFire))
  }
  return found
}

/** Copies only the fields that the rules use, because a service can have thousands of alerts. */
function conditionOf(state: OrganizationState, live: LiveAlert, metricsFire: FiringMetrics): Condition {
  const { alert } = live
  const times = timesOf(live)
  const behavior = senderBehaviorOf(state, live)
  const begunAt =
    alert.source === 'cluster'
      ? Math.max(alert.startsAt, lastBegunAt(alert.evidence, { name: alert.name, ...behavior }))
      : begunAtOf(alert, live.fingerprints)
  return {
    source: alert.source,
    name: alert.name,
    severity: alert.severity,
    status: alert.status,
    resolution: alert.resolution,
    failure: alert.failure,
    node: alert.node,
    startsAt: alert.startsAt,
    endsAt: alert.endsAt,
    lastSeenAt: alert.lastSeenAt,
    receivedAt: alert.receivedAt,
    evidence: alert.evidence,
    uuid: live.id,
    live,
    // A condition that a metrics alert keeps firing also keeps the problem of its incident.
    sender: alert.source === 'cluster' ? { ...behavior, metricsFiring: metricsFire(alert.startsAt) } : PUNCTUAL_SENDER,
    inIncident: isInOpenIncident(state, live),
    hasIncident: live.incidentId !== null,
    isLeft: isLeft(state, live, { startsAt: alert.startsAt, begunAt, since: times.since }),
    ...times,
    begunAt,
    freed: null,
    wasSilenced: begunAt > times.since && hadSilence(state, times.since, begunAt),
    summary: alert.summary,
  }
}

/** Expired silences are known for an hour, and an alert fires anew within ten minutes. */
function hadSilence({ silences }: OrganizationState, from: number, to: number): boolean {
  return [...silences.values()].some(({ silence }) => silence.startsAt < to && silence.endsAt > from)
}

function timesOf({ alert, fingerprints }: LiveAlert): Pick<SituationAlert, 'since' | 'onset'> {
  const { startsAt: since, lastSeenAt } = alert
  return alert.source === 'cluster' ? { since, onset: Math.max(since, lastSeenAt) } : severeTimesOf(alert, fingerprints)
}

export function isCurrent({ endsAt }: { readonly endsAt: number | null }, endedSince: number): boolean {
  return endsAt === null || endsAt > endedSince
}

/** An alert whose incident is resolved can join another incident. */
function isInOpenIncident(state: OrganizationState, { incidentId }: LiveAlert): boolean {
  if (incidentId === null) return false
  const incident = state.incidents.get(incidentId)
  return incident !== undefined && incident.status !== 'resolved'
}

/**
 * Returns whether a user merged the incident of an alert into that of another service, or resolved it while the alert fired,
 * and it has not begun anew since.
 */
function isLeft(
  state: OrganizationState,
  { incidentId, serviceId }: LiveAlert,
  times: Parameters<typeof isAnew>[0],
): boolean {
  const incident = state.incidents.get(incidentId ?? 0)
  const service = state.services.get(incident?.serviceId ?? 0)
  if (!incident || !service) return false
  const isElsewhere = incident.serviceId !== serviceId
  // What a failed node explained counts by itself.
  const isMerged = (id: number) => state.incidents.get(id)?.serviceId === serviceId
  if (isElsewhere && isNodeService(service) && !incident.problem.merged.some(isMerged)) return false
  if (incident.status !== 'resolved') return isElsewhere && incident.problem.others.includes(serviceId)
  return incident.problem.isSuppressed && !isAnew(times, incident)
}

/** An Alertmanager rule can fire this many milliseconds before the Kubernetes event for the same problem. */
const EARLIER = 15 * 60_000

type FiringMetrics = (startsAt: number) => boolean

/**
 * Returns a function that says whether the service has a firing metrics alert that started around or after `startsAt`. A
 * warning that has been firing for days does not prove that today's condition persists. Reads the alerts at most once.
 */
export function firingMetricsOf(state: OrganizationState, serviceId: number): FiringMetrics {
  const latest = once(() =>
    alertsOf(state, serviceId).reduce((last, { alert }) => {
      const counts = alert.source === 'metrics' && alert.status === 'firing' && alert.severity !== 'info'
      return counts ? Math.max(last, alert.startsAt) : last
    }, Number.NEGATIVE_INFINITY),
  )
  return (startsAt) => latest() >= startsAt - EARLIER
}

/** Returns whether a live alert of the service has the same name and is firing at the same or a higher severity. */
export function hasNamesake(state: OrganizationState, serviceId: number, alert: Alert): boolean {
  return SEVERITIES.some(
    (severity) =>
      rank(severity) >= rank(alert.severity) &&
      state.namesakes.get(namesakeKey(serviceId, alert, severity)) !== undefined,
  )
}

/** Returns the firing alerts of a service that were opened by Kubernetes events. */
export function firingEventAlerts(state: OrganizationState, service: Pick<LiveService, 'rowId'>): LiveAlert[] {
  return alertsOf(state, service.rowId).filter(({ alert }) => alert.source === 'cluster' && alert.status === 'firing')
}

/** A watch that has saved nothing for this long does not vouch for the state of its cluster any more. */
const TRUSTED = HOUR

/**
 * Returns the delay of the Kubernetes event exporter in the alert's cluster, and whether the exporter reports repeats.
 * If the cluster is watched, the watch counts instead.
 */
export function senderBehaviorOf(state: OrganizationState, { cluster }: Pick<LiveAlert, 'cluster'>): SenderBehavior {
  const watch = state.senders.get(senderKey({ source: 'cluster', cluster, receiver: WATCH }))
  if (watch) return { repeats: true, lag: 0, watchedUntil: (watch.lastEventAt ?? 0) + TRUSTED }
  const sender = state.senders.get(senderKey({ source: 'cluster', cluster, receiver: '' }))
  return { repeats: isRepeating(sender), lag: delayOf(sender?.lag ?? null) }
}

/**
 * Returns the group and the sender of an alert. An alert without a group comes from Prometheus, or is imported and not
 * repeated.
 */
export function senderOf(state: OrganizationState, { groupId, cluster, alert }: Sent) {
  const group = groupId === null ? null : (state.groups.get(state.groupKeys.get(groupId) ?? '') ?? null)
  const isDirect = groupId === null && alert.source === 'metrics'
  const direct = isDirect ? senderKey({ source: 'metrics', cluster, receiver: PROMETHEUS }) : ''
  return { group, sender: state.senders.get(group ? (state.senderKeys.get(group.senderId) ?? '') : direct) }
}

/** Returns the heartbeats of a sender, also as its organization's other receivers report them. */
export function beatsOf({ senders }: OrganizationState, sender: LiveSender | null | undefined): readonly Beat[] {
  if (!sender || sender.beats.length === 0) return []
  const others = [...senders.values()].filter(({ rowId }) => rowId !== sender.rowId)
  return withShared(
    sender.beats,
    others.flatMap(({ beats }) => beats),
  )
}

type Sent = Pick<LiveAlert, 'groupId' | 'cluster' | 'alert'>
