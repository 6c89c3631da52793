/** Compares incidents with the rules of channels, and tells a channel what it missed while they did not match. */
import type { LiveIncident } from '../domain/incident/live-incident.ts'
import { phaseOf } from '../domain/incident/problem.ts'
import { recipientsOf } from '../domain/notification/channel.ts'
import { type NotificationKind, ruledSeverityOf } from '../domain/notification/kind.ts'
import { readsAlerts } from '../domain/notification/rule.ts'
import { listOpenIncidents } from '../store/incident/live-incidents.ts'
import { listMissedEnds, listToldChannels } from '../store/incident/told.ts'
import type { ChannelRecord } from '../store/notification/channels.ts'
import { alertsAbout, listRuledAlerts } from '../store/notification/items.ts'
import { insertNotifications, NO_FACTS, type OutboxEntry } from '../store/notification/outbox.ts'
import { loadServiceName } from '../store/service/services.ts'
import type { Deps } from './deps.ts'

/** A message about an incident. `names`: the critical conditions that it names. */
type About = { readonly incident: LiveIncident; readonly kind: NotificationKind; readonly names?: readonly string[] }

/** Returns when a channel gets a message about an incident, or null if its rules do not want it. */
export function dueAtOf(
  { db }: Pick<Deps, 'db'>,
  channel: ChannelRecord,
  { incident, kind, names = [] }: About,
  now: number,
  isTold = true,
): number | null {
  const { id: serviceId, name: service, namespace, cluster } = loadServiceName(db, incident.serviceId)
  const all = readsAlerts(channel.settings) ? listRuledAlerts(db, incident.rowId) : []
  const alerts = alertsAbout(db, { kind, names, ownServiceId: incident.serviceId }, all)
  const ruled = { kind, severity: ruledSeverityOf(kind, incident), serviceId, service, namespace, cluster, alerts }
  return recipientsOf([channel], ruled, () => isTold, now)[0]?.dueAt ?? null
}

/** Returns the notification for a channel that is not caused by a change of the incident. */
export function entryOf(
  { newId }: Pick<Deps, 'newId'>,
  { rowId: channelId, organizationId }: ChannelRecord,
  { incident: { rowId: incidentId }, kind, names = [] }: About,
  now: number,
  dueAt = now,
): OutboxEntry {
  const about = { organizationId, channelId, incidentId, kind, actor: null, severityBefore: null, isDigest: false }
  return { ...about, facts: { ...NO_FACTS, names }, createdAt: now, dueAt, id: newId() }
}

/** The maximum number of incidents that a channel is told when it is switched on, and of ends. */
const MAX_MISSED = 200

/**
 * Tells a channel that was added, switched on or given other rules what burns that it was never told of, and what ended
 * while it was off.
 */
export function catchUp(deps: Deps, channel: ChannelRecord): void {
  if (!channel.enabled) return
  const now = deps.now()
  const open = listOpenIncidents(deps.db, channel.organizationId, MAX_MISSED)
  const told = listToldChannels(
    deps.db,
    open.map(({ rowId }) => rowId),
  )
  const known = new Set(told.flatMap(({ channelId, incidentId }) => (channelId === channel.rowId ? incidentId : [])))
  const burning = open.filter(({ rowId, problem }) => {
    return !known.has(rowId) && ['on', 'settling'].includes(phaseOf(problem, now))
  })
  const news = burning.map((incident): About => {
    return { incident, kind: incident.cause === 'silence' ? 'sender-silent' : 'opened', names: incident.problem.firing }
  })
  const ends = listMissedEnds(deps.db, channel.rowId, MAX_MISSED).flatMap((incident): About[] => {
    const { status, origin, problem } = incident
    // What was merged goes on in another incident.
    const isMerged = problem.isSuppressed && problem.since === null
    const isLeft = status === 'resolved' && (origin === 'manual' || problem.isSuppressed)
    if (isMerged || (status !== 'resolved' && phaseOf(problem, now) !== 'off')) return []
    return [{ incident, kind: isLeft ? 'resolved' : 'recovered' }]
  })
  const entries = [...news, ...ends].flatMap((one) => {
    const dueAt = dueAtOf(deps, channel, one, now, ends.includes(one))
    return dueAt === null ? [] : [entryOf(deps, channel, one, now, dueAt)]
  })
  insertNotifications(deps.db, entries)
}
