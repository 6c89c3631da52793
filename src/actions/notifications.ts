/** Queues reminders and escalations when they are due. All other notifications are queued by the engine. */

import { stillFiringDueAt } from '../domain/incident/incident.ts'
import type { MessageKind } from '../domain/notification/kind.ts'
import { sendTimeOf } from '../domain/notification/rule.ts'
import { nextReminder } from '../domain/notification/schedule.ts'
import type { LiveIncident } from '../domain/state/live.ts'
import { MINUTE } from '../domain/units.ts'
import { findIncident } from '../store/incident/incidents.ts'
import { listSuppressedIncidents, listUnacknowledgedIncidents } from '../store/live/incidents.ts'
import { type ChannelRecord, listRecipients } from '../store/notification/channels.ts'
import {
  countStillFiring,
  insertNotifications,
  listSentMessages,
  type OutboxEntry,
} from '../store/notification/outbox.ts'
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
  const suppressed = listSuppressedIncidents(deps.db, organizationId, MAX_INCIDENTS)
  const told = listSentMessages(
    deps.db,
    [...open, ...suppressed].map(({ rowId }) => rowId),
  )
  const toldOf = ({ rowId }: LiveIncident) => told.filter(({ incidentId }) => incidentId === rowId)
  return [
    ...open.flatMap((incident) => {
      const due = channels.flatMap((channel) => dueReminder(channel, incident, toldOf(incident), now))
      return entriesFor(deps, incident, due, now)
    }),
    ...suppressed.flatMap((incident) => {
      const due = dueStillFiring(deps, incident, channels, toldOf(incident), now)
      return entriesFor(deps, incident, due, now)
    }),
  ]
}

type SentMessages = ReturnType<typeof listSentMessages>
type Due = { readonly channel: ChannelRecord; readonly kind: MessageKind }

function dueReminder(channel: ChannelRecord, incident: LiveIncident, told: SentMessages, now: number): Due[] {
  const { rowId, settings } = channel
  const known = told.find(({ channelId }) => channelId === rowId)
  const dueAt = known
    ? nextReminder(settings, known.reminders, known.lastAt)
    : escalationOf(settings.escalateAfter, incident)
  return dueAt === null || dueAt > now ? [] : [{ channel, kind: known ? 'reminder' : 'escalation' }]
}

/** Returns the channels to notify again because alerts are still firing after a user resolved their incident. */
function dueStillFiring(
  deps: Deps,
  { id, rowId, organizationId, resolvedAt }: LiveIncident,
  channels: readonly ChannelRecord[],
  told: SentMessages,
  now: number,
): Due[] {
  if (resolvedAt === null || told.length === 0 || stillFiringDueAt(resolvedAt, 0) > now) return []
  if (!findIncident(deps.db, organizationId, id)?.firingAlerts) return []
  const sent = countStillFiring(deps.db, rowId, resolvedAt)
  const involved = channels.filter((channel) => told.some(({ channelId }) => channelId === channel.rowId))
  return involved
    .filter((channel) => stillFiringDueAt(resolvedAt, sent.get(channel.rowId) ?? 0) <= now)
    .map((channel) => ({ channel, kind: 'still-firing' }))
}

/** Returns outbox entries for the channels whose rules match now, or none if all firing alerts are silenced. */
function entriesFor(deps: Deps, incident: LiveIncident, due: readonly Due[], now: number): OutboxEntry[] {
  if (due.length === 0 || isSilenced(deps.db, incident.rowId)) return []
  const { id: serviceId, name: service, namespace } = loadServiceName(deps.db, incident.serviceId)
  const reminder = { kind: null, severity: incident.severity, serviceId, service, namespace }
  // Queues no reminders during quiet hours, because the first message is still pending.
  const wanted = due.filter(({ channel }) => sendTimeOf(channel.settings.rules, reminder, now) === now)
  const { rowId: incidentId, organizationId } = incident
  return wanted.map(({ channel, kind }) => {
    const entry = { organizationId, channelId: channel.rowId, incidentId, kind, actor: null, severityBefore: null }
    return { ...entry, createdAt: now, dueAt: now, id: deps.newId() }
  })
}

function escalationOf(minutes: number, { createdAt }: LiveIncident): number | null {
  return minutes === 0 ? null : createdAt + minutes * MINUTE
}
