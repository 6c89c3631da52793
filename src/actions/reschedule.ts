/** Changes when held messages are sent, after the quiet hours of their channel have changed. */
import { recipientsOf } from '../domain/notification/channel.ts'
import { hasMatchers } from '../domain/notification/rule.ts'
import { findLiveIncident } from '../store/incident/live-incidents.ts'
import type { ChannelRecord } from '../store/notification/channels.ts'
import { rescheduleNotification } from '../store/notification/outbox.ts'
import { listQueue, type QueuedEntry } from '../store/notification/queue.ts'
import { alertsAbout, listRuledAlerts } from '../store/notification/ruled-alerts.ts'
import { loadServiceName } from '../store/service/services.ts'
import type { Deps } from './deps.ts'

const MAX_HELD = 2_000

/**
 * Makes each held message due when the channel's present rules send it. A message that no rule wants any more keeps its
 * time. Whatever waits for another reason is postponed again.
 */
export function rescheduleHeld(deps: Deps, channel: ChannelRecord): void {
  const now = deps.now()
  const queue = listQueue(deps.db, channel.rowId, Number.MAX_SAFE_INTEGER, MAX_HELD)
  for (const entry of queue.filter(({ dueAt }) => dueAt > now)) {
    const dueAt = dueAtOf(deps, channel, entry, now)
    if (dueAt !== null && dueAt !== entry.dueAt) rescheduleNotification(deps.db, entry.rowId, dueAt)
  }
}

function dueAtOf({ db }: Deps, channel: ChannelRecord, entry: QueuedEntry, now: number): number | null {
  const { kind, incidentId, incidentUuid, names } = entry
  const incident = findLiveIncident(db, channel.organizationId, incidentUuid)
  if (!incident || kind === 'test') return null
  const { id: serviceId, name: service, namespace, cluster } = loadServiceName(db, incident.serviceId)
  const all = hasMatchers(channel.settings) ? listRuledAlerts(db, incidentId) : []
  const alerts = alertsAbout(db, { kind, names, ownServiceId: incident.serviceId }, all)
  const ruled = { kind, severity: incident.severity, serviceId, service, namespace, cluster, alerts }
  return recipientsOf([channel], ruled, () => true, now)[0]?.dueAt ?? null
}
