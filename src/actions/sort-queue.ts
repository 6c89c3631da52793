/** Decides which queued notifications are sent now, wait, or are not sent because they are no longer true. */
import { isLowered, severityNow, worstSeverity } from '../domain/incident/lasted.ts'
import { type MessageKind, OVER, PAGES, ruledSeverityOf } from '../domain/notification/kind.ts'
import { isUnheardSince } from '../domain/notification/schedule.ts'
import { RECHECK_MS, type Untold, type Verdict, verdictOf } from '../domain/notification/truth.ts'
import type { IncidentGroup } from '../domain/suspect/group.ts'
import { listLastReports } from '../store/history/last-report.ts'
import { findLiveIncident } from '../store/incident/live-incidents.ts'
import { insertUntold, listSaid } from '../store/incident/told.ts'
import type { ChannelRecord } from '../store/notification/channels.ts'
import { hasDelivered } from '../store/notification/outbox.ts'
import { deleteNotification, postponeNotification, type QueuedEntry } from '../store/notification/queue.ts'
import { dueAtOf } from './channel-rules.ts'
import type { Deps } from './deps.ts'

export function isNewIncident({ kind }: QueuedEntry): boolean {
  return kind === 'opened' || kind === 'group'
}

/** Returns the group with which a new incident is announced, or null. What has ended is told with its end instead. */
export function groupOf(entry: QueuedEntry, groups: ReadonlyMap<string, IncidentGroup>): IncidentGroup | null {
  const joins = isNewIncident(entry) && entry.incident.problem.since !== null && entry.only !== 'opened'
  return (joins && groups.get(entry.incidentUuid)) || null
}

/** Returns whether a notification can be the first that a channel gets about an incident. */
function isFirst(entry: QueuedEntry): boolean {
  return isNewIncident(entry) || entry.kind === 'escalation'
}

/** Deletes a notification that is not sent, and records why. */
export function drop(
  deps: Deps,
  channelId: number,
  { rowId, incidentId, kind }: QueuedEntry,
  reason: Untold,
  now: number,
) {
  deleteNotification(deps.db, rowId)
  insertUntold(deps.db, [{ incidentId, channelId, kind, at: now, reason }])
}

const KNOWN = { do: 'drop', reason: 'known' } as const

/**
 * Drops the notifications that are no longer true and postpones those that must wait. Returns the others.
 * @param all what else can be sent with them
 */
export function sort(
  deps: Deps,
  channel: ChannelRecord,
  entries: readonly QueuedEntry[],
  now: number,
  all = entries,
): QueuedEntry[] {
  const alarming = new Set<number>()
  const together = Map.groupBy(all, ({ incidentId }) => incidentId)
  return entries.filter((entry) => {
    const isKnown = entry.isKnown && !alarming.has(entry.incidentId)
    // What an urgent rule has announced does not open once more when the quiet hours of another rule end.
    const isAnnounced = isNewIncident(entry) && hasDelivered(deps.db, channel.rowId, entry.incidentUuid)
    const verdict =
      isAnnounced || isSaid(deps, channel, entry)
        ? KNOWN
        : verdictIn(deps, channel, { ...entry, isKnown }, together.get(entry.incidentId) ?? [], now)
    if (verdict.do === 'send') {
      if (!OVER.has(entry.kind) && entry.incident.problem.since !== null) alarming.add(entry.incidentId)
      return true
    }
    if (verdict.do === 'wait') postponeNotification(deps.db, entry.rowId, verdict.until)
    else drop(deps, channel.rowId, entry, verdict.reason, now)
    return false
  })
}

/**
 * Returns whether to send a notification now. After a stop of incmon, what has waited, for example during quiet hours,
 * waits until it is known whether the problem goes on.
 * @param together what can be sent about the same incident
 */
export function verdictIn(
  deps: Deps,
  channel: ChannelRecord,
  entry: QueuedEntry,
  together: readonly QueuedEntry[],
  now: number,
): Verdict {
  const { db, engine } = deps
  const { organizationId } = channel
  const { dueAt, createdAt, incidentId, incident } = entry
  if (isUnwanted(deps, channel, entry, now)) return UNWANTED
  const unescalated = withholding(deps, channel, entry)
  if (unescalated) return { do: 'drop', reason: unescalated }
  const opening = together.find((one) => isFirst(one) && !isUnwanted(deps, channel, one, now))
  // A channel that was not told of an incident is told who works on it only with the opening.
  if (opening && entry.kind === 'acknowledged' && !hasDelivered(db, channel.rowId, entry.incidentUuid))
    return verdictIn(deps, channel, opening, together, now)
  const isTold =
    entry.isTold ||
    (entry.kind === 'recovered' && opening !== undefined) ||
    (entry.isToldElsewhere && wantsNoOpening(deps, channel, entry, now))
  const verdict = verdictOf({ ...entry, isTold }, now)
  if (verdict.do === 'drop' && verdict.reason !== 'acknowledged' && isFirst(entry))
    return withEnd(entry, together, verdict, now)
  if (verdict.do !== 'send' || dueAt === createdAt || incident.problem.since === null) return verdict
  const awaitedSince = engine.awaitedSince(organizationId)
  if (awaitedSince === null) return verdict
  const isUnknown = isUnheardSince(listLastReports(db, incidentId, incident.problem.firing), awaitedSince)
  return isUnknown ? { do: 'wait', until: now + RECHECK_MS } : verdict
}

/**
 * What ended before it could be told is told with its end, once this is known: it began in quiet hours, in a digest, soon
 * after a message about its group, or while the receiver failed or incmon was stopped.
 */
function withEnd(
  { incident: { problem } }: QueuedEntry,
  together: readonly QueuedEntry[],
  verdict: Verdict,
  now: number,
): Verdict {
  const end = together.find((one) => OVER.has(one.kind) && verdictOf({ ...one, isTold: true }, now).do === 'send')
  if (end) return end.dueAt > now ? { do: 'wait', until: end.dueAt } : { do: 'send' }
  return problem.isOver ? verdict : { do: 'wait', until: now + RECHECK_MS }
}

const UNWANTED = { do: 'drop', reason: 'rule' } as const

/**
 * Returns whether the rules of a channel do not match any more what has waited: they were changed, a service was merged,
 * or a user lowered the severity. Of such an incident, it hears only the end.
 */
function isUnwanted(deps: Deps, channel: ChannelRecord, entry: QueuedEntry, now: number): boolean {
  const { kind, dueAt, createdAt, incidentUuid, names } = entry
  if (dueAt === createdAt || kind === 'test' || OVER.has(kind) || channel.settings.rules.length === 0) return false
  const incident = findLiveIncident(deps.db, channel.organizationId, incidentUuid)
  const severity = isLowered(entry.incident) ? severityNow(entry.incident) : worstSeverity(entry.incident)
  return incident !== null && dueAtOf(deps, channel, { incident, kind, names, severity }, now) === null
}

/** What an escalation says, too, which is sent at the moment. */
const SAID_BY_ESCALATION: ReadonlySet<MessageKind> = new Set(['worse', 'again', 'flapping', 'severity'])

/**
 * Returns why an escalation channel that was told nothing of an incident does not get a message, for example after quiet
 * hours: somebody has acknowledged it, the escalation says the same, or the problem was gone since the escalation was due.
 */
function withholding({ db }: Deps, { rowId, settings }: ChannelRecord, entry: QueuedEntry): Untold | null {
  const { kind, createdAt, incidentUuid, incident } = entry
  if (settings.escalateAfter === 0 || hasDelivered(db, rowId, incidentUuid)) return null
  if (PAGES.has(kind) && !isNewIncident(entry) && incident.acknowledgedAt !== null) return 'acknowledged'
  if (SAID_BY_ESCALATION.has(kind)) return 'escalation'
  const isBack = incident.problem.since !== null && incident.problem.alarmedAt > createdAt
  return kind === 'escalation' && isBack ? 'over' : null
}

/** Returns whether the rules of a channel want to hear how an incident goes on, but not that it began. */
function wantsNoOpening(deps: Deps, channel: ChannelRecord, { kind, incidentUuid }: QueuedEntry, now: number): boolean {
  if (kind !== 'recovered' && kind !== 'acknowledged') return false
  const incident = findLiveIncident(deps.db, channel.organizationId, incidentUuid)
  if (incident === null) return false
  const severity = ruledSeverityOf(kind, incident)
  const wants = (one: 'opened' | typeof kind) =>
    dueAtOf(deps, channel, { incident, kind: one, severity }, now, false) !== null
  return wants(kind) && !wants('opened')
}

/** Returns whether what became worse, what is back or flaps, or the severity stood in a message that the channel got since. */
function isSaid({ db }: Deps, { rowId }: ChannelRecord, entry: QueuedEntry): boolean {
  const { kind, isDigest, createdAt, incident } = entry
  const { since, knownAt, firing } = incident.problem
  if (isDigest && since === null && knownAt !== null)
    return listSaid(db, rowId, entry, Math.max(createdAt, knownAt)).length > 0
  const isNews = kind === 'worse' && entry.others.length === 0
  const names = isNews ? entry.names : isDigest || kind === 'again' ? firing : []
  if (names.length === 0 && kind !== 'severity') return false
  const said = listSaid(db, rowId, entry, createdAt)
  if (kind === 'severity') return said.some((one) => one.names.length > 0 && one.kind !== 'worse')
  return names.every((name) => said.some((one) => one.names.includes(name)))
}
