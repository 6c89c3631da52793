/** Conditions: what health and incidents read of the live alerts of a service, and of the nodes they run on. */

import { behind } from '../alert/lag.ts'
import { type Habits, PUNCTUAL } from '../alert/unavailable.ts'
import type { NodeTrouble } from '../health/node-trouble.ts'
import type { SituationAlert } from '../incident/incident.ts'
import { rank, SEVERITIES } from '../severity.ts'
import type { LiveAlert, LiveService } from '../state/live.ts'
import { namesakeKey, type OrganizationState, senderKey } from '../state/state.ts'
import { findService } from './attribution.ts'

export type Condition = SituationAlert & {
  readonly live: LiveAlert
  readonly node: string | null
  readonly summary: string
}

/** The live alerts of a service, in the order in which they were opened. */
export function alertsOf(state: OrganizationState, serviceId: number): LiveAlert[] {
  return [...state.alertsOfService.get(serviceId)].flatMap((rowId) => state.alerts.get(rowId) ?? [])
}

/** The alerts of a service that fire, or ended after `endedSince`. */
export function conditionsOf(state: OrganizationState, serviceId: number, endedSince: number): Condition[] {
  return alertsOf(state, serviceId)
    .filter(({ alert }) => isCurrent(alert, endedSince))
    .map((live) => {
      const habits = live.alert.source === 'cluster' ? habitsOf(state, live) : PUNCTUAL
      return { ...live.alert, uuid: live.id, live, habits, inIncident: isInOpenIncident(state, live) }
    })
}

function isCurrent({ endsAt }: { readonly endsAt: number | null }, endedSince: number): boolean {
  return endsAt === null || endsAt > endedSince
}

/** An alert that fires again after its incident was resolved is free to join the next. */
function isInOpenIncident(state: OrganizationState, { incidentId }: LiveAlert): boolean {
  if (incidentId === null) return false
  const incident = state.incidents.get(incidentId)
  return incident !== undefined && incident.status !== 'resolved'
}

/**
 * When the trouble of each of these nodes began: the alerts of error or worse of `node/<name>` that fire, or ended after
 * `endedSince`.
 */
export function nodeTroublesOf(
  state: OrganizationState,
  cluster: string,
  nodes: readonly string[],
  endedSince: number,
): NodeTrouble[] {
  return nodes.flatMap((node) => {
    const key = { namespace: '', name: `node/${node}` }
    // Not every sender names its cluster.
    const service = findService(state, { cluster, ...key }) ?? findService(state, { cluster: '', ...key })
    const alerts = service ? alertsOf(state, service.rowId) : []
    return alerts
      .filter(({ alert }) => isCurrent(alert, endedSince) && rank(alert.severity) >= rank('error'))
      .map(({ alert }) => ({ node, startsAt: alert.startsAt }))
  })
}

/** A rule of Alertmanager may have seen a little earlier what events then report. */
const EARLIER = 15 * 60_000

/**
 * Whether Alertmanager says that a condition of the service which began with the one of `startsAt`, or later, still
 * fires. A warning that has lasted for days does not show that today's condition goes on.
 */
export function hasFiringMetrics(state: OrganizationState, serviceId: number, startsAt: number): boolean {
  for (const rowId of state.alertsOfService.get(serviceId)) {
    const alert = state.alerts.get(rowId)?.alert
    if (alert?.source !== 'metrics' || alert.status !== 'firing' || alert.severity === 'info') continue
    if (alert.startsAt >= startsAt - EARLIER) return true
  }
  return false
}

/** Whether another alert of the same name fires that is as severe or worse: two hundred pods of one rule are one condition. */
export function hasNamesake(state: OrganizationState, { rowId, serviceId, alert }: LiveAlert): boolean {
  return SEVERITIES.some((severity) => {
    if (rank(severity) < rank(alert.severity)) return false
    const firing = state.namesakes.get(namesakeKey(serviceId, alert, severity))
    return firing.size > (firing.has(rowId) ? 1 : 0)
  })
}

/** The firing conditions of a service that Kubernetes events have shown. */
export function firingEventAlerts(state: OrganizationState, service: Pick<LiveService, 'rowId'>): LiveAlert[] {
  return alertsOf(state, service.rowId).filter(({ alert }) => alert.source === 'cluster' && alert.status === 'firing')
}

/** Returns the habits of the sender of an alert: an exporter that reports no repeats says nothing about another one. */
export function habitsOf(state: OrganizationState, { cluster }: Pick<LiveAlert, 'cluster'>): Habits {
  const sender = state.senders.get(senderKey({ source: 'cluster', cluster, receiver: '' }))
  return { repeats: sender?.reportsRepeats ?? false, lag: behind(sender?.lag ?? null) }
}
