/** Queues reminders and escalations when they are due. All other notifications are queued by the engine. */

import { STILL_FIRING_AFTER } from '../domain/incident/incident.ts'
import type { LiveIncident } from '../domain/incident/live-incident.ts'
import { phaseOf } from '../domain/incident/problem.ts'
import { recipientsOf } from '../domain/notification/channel.ts'
import type { NotificationKind } from '../domain/notification/kind.ts'
import { hasMatchers } from '../domain/notification/rule.ts'
import { nextReminder } from '../domain/notification/schedule.ts'
import { MINUTE } from '../domain/units.ts'
import { findIncident } from '../store/incident/incidents.ts'
import { listSuppressedIncidents, listUnacknowledgedIncidents } from '../store/incident/live-incidents.ts'
import { listStillFiring, listToldSince } from '../store/incident/told.ts'
import { type ChannelRecord, listRecipients } from '../store/notification/channels.ts'
import { insertNotifications, NO_FACTS, type OutboxEntry } from '../store/notification/outbox.ts'
import { listRuledAlerts } from '../store/notification/ruled-alerts.ts'
import { listOrganizations } from '../store/organizations.ts'
import { loadServiceName } from '../store/service/services.ts'
import { isSilenced } from '../store/silences.ts'
import type { Deps } from './deps.ts'

/**
 * The maximum number of unacknowledged incidents to check. In a larger storm, the reminders for these incidents are
 * enough.
 */
const MAX_INCIDENTS = 200

/** Queues all due reminders and escalations in one transaction. Does not write if nothing is due. */
export function remind(deps: Deps): void {
  const now = deps.now()
  const due = listOrganizations(deps.db).flatMap(({ rowId }) => remindersOf(deps, rowId, now))
  if (due.length > 0) deps.db.transaction(() => insertNotifications(deps.db, due))
}

function remindersOf(deps: Deps, organizationId: number, now: number): OutboxEntry[] {
  const channels = listRecipients(deps.db, organizationId).filter(({ enabled }) => enabled)
  if (channels.length === 0) return []
  const open = listUnacknowledgedIncidents(deps.db, organizationId, MAX_INCIDENTS)
  const burning = open.filter(({ problem }) => phaseOf(problem, now) === 'on')
  const suppressed = listSuppressedIncidents(deps.db, organizationId, MAX_INCIDENTS)
  return [
    ...burning.flatMap((incident) => entriesFor(deps, incident, dueReminders(deps, channels, incident, now), now)),
    ...suppressed.flatMap((incident) => entriesFor(deps, incident, dueStillFiring(deps, incident, channels, now), now)),
  ]
}

type Due = { readonly channel: ChannelRecord; readonly kind: NotificationKind }

/** Returns the channels to remind. Reminders and escalations count from the moment at which the problem last began. */
function dueReminders(deps: Deps, channels: readonly ChannelRecord[], incident: LiveIncident, now: number): Due[] {
  const told = listToldSince(deps.db, incident.rowId, incident.problem.alarmedAt)
  return channels.flatMap((channel): Due[] => {
    const { rowId, settings } = channel
    const known = told.find(({ channelId }) => channelId === rowId)
    const dueAt = known
      ? nextReminder(settings, known.reminders, known.lastAt)
      : escalationOf(settings.escalateAfter, incident)
    return dueAt === null || dueAt > now ? [] : [{ channel, kind: known ? 'reminder' : 'escalation' }]
  })
}

/** Returns the channels to tell, once, that alerts are still firing after a user resolved their incident. */
function dueStillFiring(
  deps: Deps,
  { id, rowId, organizationId, resolvedAt }: LiveIncident,
  channels: readonly ChannelRecord[],
  now: number,
): Due[] {
  if (resolvedAt === null || resolvedAt + STILL_FIRING_AFTER > now) return []
  if (!findIncident(deps.db, organizationId, id)?.firingAlerts) return []
  const sent = listStillFiring(deps.db, rowId, resolvedAt)
  const involved = new Set(listToldSince(deps.db, rowId, 0).map(({ channelId }) => channelId))
  return channels.flatMap((channel) =>
    involved.has(channel.rowId) && !sent.includes(channel.rowId) ? [{ channel, kind: 'still-firing' }] : [],
  )
}

/** Returns outbox entries for the channels whose rules match now, or none if all firing alerts are silenced. */
function entriesFor(deps: Deps, incident: LiveIncident, due: readonly Due[], now: number): OutboxEntry[] {
  if (due.length === 0 || isSilenced(deps.db, incident.rowId)) return []
  const { id: serviceId, name: service, namespace, cluster } = loadServiceName(deps.db, incident.serviceId)
  const { severity, rowId: incidentId, organizationId } = incident
  const alerts = due.some(({ channel }) => hasMatchers(channel.settings)) ? listRuledAlerts(deps.db, incidentId) : []
  // Queues no reminders during quiet hours, because the first message is still pending.
  const wanted = due.filter(({ channel, kind }) => {
    const ruled = { kind, severity, serviceId, service, namespace, cluster, alerts }
    return recipientsOf([channel], ruled, () => true, now)[0]?.dueAt === now
  })
  return wanted.map(({ channel, kind }) => {
    const entry = { organizationId, channelId: channel.rowId, incidentId, kind, actor: null, severityBefore: null }
    return { ...entry, facts: NO_FACTS, isDigest: false, createdAt: now, dueAt: now, id: deps.newId() }
  })
}

function escalationOf(minutes: number, { problem }: LiveIncident): number | null {
  return minutes === 0 ? null : problem.alarmedAt + minutes * MINUTE
}
