/** Reminders and escalations: written to the outbox when they are due. The engine's commits write all other news. */
import { stillFiringDueAt } from '../domain/incident/incident.ts'
import type { MessageKind } from '../domain/notification/news.ts'
import { sendTimeOf } from '../domain/notification/rule.ts'
import { nextReminder } from '../domain/notification/schedule.ts'
import type { LiveIncident } from '../domain/state/live.ts'
import { type ChannelRecord, listRecipients } from '../store/channels.ts'
import { findIncident } from '../store/incidents.ts'
import { listSuppressedIncidents, listUnacknowledgedIncidents } from '../store/live/incidents.ts'
import { listOrganizations } from '../store/organizations.ts'
import { countStillFiring, insertNews, listTold } from '../store/outbox.ts'
import { loadServiceName, type ServiceName } from '../store/services.ts'
import type { Deps } from './deps.ts'

const MINUTE = 60_000
/** So many unacknowledged incidents of one organization are looked at: more are a storm, of which one reminder is enough. */
const MOST_INCIDENTS = 200

/** Writes the reminders and escalations that are due now to the outbox. */
export function remind(deps: Deps): void {
  const now = deps.now()
  for (const { key } of listOrganizations(deps.db)) {
    const channels = listRecipients(deps.db, key).filter(({ enabled }) => enabled)
    if (channels.length === 0) continue
    for (const incident of listUnacknowledgedIncidents(deps.db, key, MOST_INCIDENTS)) {
      deps.db.transaction(() => remindOf(deps, incident, channels, now))
    }
    for (const incident of listSuppressedIncidents(deps.db, key, MOST_INCIDENTS)) {
      deps.db.transaction(() => tellStillFiring(deps, incident, channels, now))
    }
  }
}

function remindOf(deps: Deps, incident: LiveIncident, channels: readonly ChannelRecord[], now: number): void {
  const told = new Map(listTold(deps.db, incident.rowId).map((one) => [one.channelId, one]))
  const service = loadServiceName(deps.db, incident.serviceId)
  for (const { rowId, settings } of channels) {
    const known = told.get(rowId)
    const kind = known ? 'reminder' : 'escalation'
    const dueAt = known
      ? nextReminder(settings, known.reminders, known.lastAt)
      : escalationOf(settings.escalateAfter, incident)
    // In quiet hours nobody is reminded: the first message waits for their end already.
    if (dueAt === null || dueAt > now || wantedAt(settings.rules, incident, service, now) !== now) continue
    insertReminder(deps, incident, rowId, kind, now)
  }
}

/** Tells the channels that heard of an incident that its alerts still fire, though a person has resolved it. */
function tellStillFiring(deps: Deps, incident: LiveIncident, channels: readonly ChannelRecord[], now: number): void {
  const { resolvedAt } = incident
  const record = findIncident(deps.db, incident.organizationId, incident.id)
  if (resolvedAt === null || !record || record.firingAlerts === 0) return
  const told = new Set(listTold(deps.db, incident.rowId).map(({ channelId }) => channelId))
  const sent = countStillFiring(deps.db, incident.rowId, resolvedAt)
  const service = loadServiceName(deps.db, incident.serviceId)
  for (const { rowId, settings } of channels) {
    const isDue = told.has(rowId) && stillFiringDueAt(resolvedAt, sent.get(rowId) ?? 0) <= now
    if (!isDue || wantedAt(settings.rules, incident, service, now) !== now) continue
    insertReminder(deps, incident, rowId, 'still-firing', now)
  }
}

function escalationOf(minutes: number, { createdAt }: LiveIncident): number | null {
  return minutes === 0 ? null : createdAt + minutes * MINUTE
}

function wantedAt(
  rules: Parameters<typeof sendTimeOf>[0],
  { severity }: LiveIncident,
  { id, name, namespace }: ServiceName,
  now: number,
): number | null {
  return sendTimeOf(rules, { kind: null, severity, serviceId: id, service: name, namespace }, now)
}

function insertReminder(
  deps: Deps,
  { rowId: incidentId, organizationId }: LiveIncident,
  channelId: number,
  kind: MessageKind,
  now: number,
) {
  const news = { organizationId, channelId, incidentId, kind, actor: null, severityBefore: null }
  insertNews(deps.db, [{ ...news, createdAt: now, dueAt: now, id: deps.newId() }])
}
