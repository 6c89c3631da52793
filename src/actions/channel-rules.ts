/** Compares incidents with the rules of channels, and tells a channel what it missed while they did not match. */
import { BUDGETS } from '../domain/budgets.ts'
import type { LiveIncident } from '../domain/incident/live-incident.ts'
import { phaseOf, problemAt } from '../domain/incident/problem.ts'
import { recipientsOf } from '../domain/notification/channel.ts'
import { type MessageKind, type NotificationKind, OVER, ruledSeverityOf } from '../domain/notification/kind.ts'
import { readsAlerts, readsLabels, ruleSteps } from '../domain/notification/rule.ts'
import type { Severity } from '../domain/severity.ts'
import { findLiveIncident, listOpenIncidents } from '../store/incident/live-incidents.ts'
import { insertUntold, listMissed, listToldChannels, listToldNames } from '../store/incident/told.ts'
import { type ChannelRecord, listRecipients } from '../store/notification/channels.ts'
import {
  insertNotifications,
  NO_FACTS,
  type OutboxEntry,
  rescheduleNotification,
} from '../store/notification/outbox.ts'
import { listQueue } from '../store/notification/queue.ts'
import { alertsAbout, listMergedServices, listRuledAlerts } from '../store/notification/ruled-alerts.ts'
import { findServiceRowId, listOtherNames, loadServiceName } from '../store/service/services.ts'
import type { Deps } from './deps.ts'

/** A message about an incident. `names`: the critical conditions that it names. `severity`: if not that of the kind. */
type About = {
  readonly incident: LiveIncident
  readonly kind: NotificationKind
  readonly names?: readonly string[]
  readonly severity?: Severity
}

/** Returns when a channel gets a message about an incident, or null if its rules do not want it. */
export function dueAtOf(
  { db }: Pick<Deps, 'db'>,
  channel: ChannelRecord,
  { incident, kind, names = [], severity = ruledSeverityOf(kind, incident) }: About,
  now: number,
  isTold = true,
  steps = ruleSteps(),
): number | null {
  const { id: serviceId, name: service, namespace, cluster } = loadServiceName(db, incident.serviceId)
  const all = readsAlerts(channel.settings) ? listRuledAlerts(db, incident.rowId) : []
  const alerts = alertsAbout(db, { kind, names, ownServiceId: incident.serviceId }, all)
  const merged = listMergedServices(db, { incident, kind, names })
  const aliases = readsLabels(channel.settings) ? listOtherNames(db, incident.serviceId) : []
  const ruled = { kind, severity, serviceId, service, aliases, namespace, cluster, alerts, merged, steps }
  return recipientsOf([channel], ruled, isTold, now)[0]?.dueAt ?? null
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

/** The maximum number of incidents that a channel is told when it is switched on, and of those that changed. */
const MAX_MISSED = BUDGETS['told-incidents'].value

/**
 * Tells the channels whose rules match a service since it got another name, or was merged into another one, what burns.
 * @param id the UUID of the service
 */
export function catchUpService(deps: Deps, organizationId: number, id: string): void {
  const serviceId = findServiceRowId(deps.db, organizationId, id)
  const open = listOpenIncidents(deps.db, organizationId, MAX_MISSED).filter((one) => one.serviceId === serviceId)
  if (open.length === 0) return
  const about = new Set(open.flatMap(({ rowId, problem }) => [rowId, ...problem.merged]))
  deps.db.transaction(() => {
    for (const channel of listRecipients(deps.db, organizationId).filter(({ enabled }) => enabled)) {
      rescheduleHeld(deps, channel)
      const missed = listMissed(deps.db, channel.rowId, MAX_MISSED).filter(({ incident }) => about.has(incident.rowId))
      tellMissed(deps, channel, open, missed)
    }
  })
}

/**
 * Tells a channel that was added, switched on or given other rules what burns that it was never told of, and what
 * happened while it was off to what it was told of.
 */
export function catchUp(deps: Deps, channel: ChannelRecord): void {
  if (!channel.enabled) return
  const open = listOpenIncidents(deps.db, channel.organizationId, MAX_MISSED)
  tellMissed(deps, channel, open, listMissed(deps.db, channel.rowId, MAX_MISSED))
}

function tellMissed(
  deps: Deps,
  channel: ChannelRecord,
  open: readonly LiveIncident[],
  missed: ReturnType<typeof listMissed>,
): void {
  const now = deps.now()
  const told = listToldChannels(deps.db, [...open, ...missed.map(({ incident }) => incident)])
  const own = new Map(told.flatMap((one) => (one.channelId === channel.rowId ? [[one.incidentId, one]] : [])))
  const burning = open.filter(({ rowId, problem }) => !own.has(rowId) && problemAt(problem, now) === 'on')
  const news = burning.map((incident): About => {
    return { incident, kind: incident.cause === 'silence' ? 'sender-silent' : 'opened', names: incident.problem.firing }
  })
  const kindsOf = new Map(missed.map(({ incident, kinds }) => [incident.rowId, kinds]))
  const changed = new Map([...missed.map(({ incident }) => incident), ...open].map((one) => [one.rowId, one]))
  const later = [...changed.values()].flatMap((incident): About[] => {
    const { rowId, status, problem } = incident
    const kinds = new Set([rowId, ...problem.merged].flatMap((id) => [...(kindsOf.get(id) ?? [])]))
    const known = own.get(rowId)
    if (problemAt(problem, now) === 'off' || status === 'resolved')
      return [...OVER].some((kind) => kindsOf.get(rowId)?.has(kind)) ? endOf(incident, now) : []
    return known && kinds.size > 0 ? changeOf(deps, channel, incident, { kinds, isOver: known.isOver === 1 }) : []
  })
  const steps = ruleSteps()
  const entriesFor = (all: readonly About[], isKnown: boolean) =>
    all.flatMap((one) => {
      const dueAt = dueAtOf(deps, channel, one, now, isKnown, steps)
      return dueAt === null ? [] : [entryOf(deps, channel, one, now, dueAt)]
    })
  queue(deps, [...entriesFor(news, false), ...entriesFor(later, true)], now)
}

/** Queues notifications. What begins and ends while quiet hours hold it back is told then. */
export function queue({ db }: Pick<Deps, 'db'>, entries: readonly OutboxEntry[], now: number): void {
  insertNotifications(db, entries)
  const held = entries.filter(({ dueAt }) => dueAt > now)
  insertUntold(
    db,
    held.map((one) => ({ ...one, at: now, reason: 'quiet-hours' })),
  )
}

/** Returns the message about the end of an incident that a channel missed; none if it goes on in another one. */
function endOf(incident: LiveIncident, now: number): About[] {
  const { status, origin, problem } = incident
  const isMerged = problem.isSuppressed && problem.since === null
  const isLeft = status === 'resolved' && (origin === 'manual' || problem.isSuppressed)
  if (isMerged || (status !== 'resolved' && phaseOf(problem, now) !== 'off')) return []
  return [{ incident, kind: isLeft ? 'resolved' : 'recovered' }]
}

type Known = { readonly kinds: ReadonlySet<MessageKind>; readonly isOver: boolean }

/** Returns the most important message about an incident that goes on: a channel missed some of these kinds. */
function changeOf({ db }: Deps, { rowId }: ChannelRecord, incident: LiveIncident, { kinds, isOver }: Known): About[] {
  const { firing: names } = incident.problem
  if (isOver) return [{ incident, kind: kinds.has('reopened') ? 'reopened' : 'again', names }]
  // Who missed an end, too, knows of the earlier conditions only.
  const change = (['again', 'worse'] as const).find((kind) => kinds.has(kind))
  const told = change ? listToldNames(db, rowId, incident) : names
  const fresh = names.filter((name) => !told.includes(name))
  if (change && fresh.length > 0) return [{ incident, kind: change, names: fresh }]
  const isTaken = kinds.has('acknowledged') && incident.acknowledgedAt !== null
  return isTaken ? [{ incident, kind: 'acknowledged' }] : []
}

const MAX_HELD = 2_000

/**
 * Makes each held message due when the channel's rules send it, after the rules or a service have changed. A message
 * that no rule wants any more keeps its time, and is not sent then, unless a rule wants it again. Whatever waits for
 * another reason is postponed again.
 */
export function rescheduleHeld(deps: Deps, channel: ChannelRecord): void {
  const now = deps.now()
  const waiting = listQueue(deps.db, channel.rowId, Number.MAX_SAFE_INTEGER, MAX_HELD)
  const steps = ruleSteps()
  for (const entry of waiting.filter(({ dueAt }) => dueAt > now)) {
    const { kind, incidentUuid, names } = entry
    const incident = findLiveIncident(deps.db, channel.organizationId, incidentUuid)
    const dueAt =
      incident && kind !== 'test' ? dueAtOf(deps, channel, { incident, kind, names }, now, true, steps) : null
    if (dueAt !== null && dueAt !== entry.dueAt) rescheduleNotification(deps.db, entry.rowId, dueAt)
  }
}
