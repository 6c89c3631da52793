/** Queues reminders and escalations when they are due. All other notifications are queued by the engine. */

import { BUDGETS } from '../domain/budgets.ts'
import { STILL_FIRING_AFTER } from '../domain/incident/incident.ts'
import type { LiveIncident } from '../domain/incident/live-incident.ts'
import { phaseOf } from '../domain/incident/problem.ts'
import type { ChannelSettings } from '../domain/notification/channel.ts'
import type { NotificationKind } from '../domain/notification/kind.ts'
import { ruleSteps } from '../domain/notification/rule.ts'
import { isDoubtful, nextReminder } from '../domain/notification/schedule.ts'
import { type IncidentGroup, LEAST_MEMBERS } from '../domain/suspect/group.ts'
import { MINUTE } from '../domain/units.ts'
import { listLastReports } from '../store/history/last-report.ts'
import { findGroups } from '../store/incident/groups.ts'
import { findIncident } from '../store/incident/incidents.ts'
import {
  LEFT_FOR,
  listLeftIncidents,
  listOpenIncidents,
  listSuppressedIncidents,
} from '../store/incident/live-incidents.ts'
import { listStillFiring, listToldNames, listToldSince } from '../store/incident/told.ts'
import { type ChannelRecord, listRecipients } from '../store/notification/channels.ts'
import type { OutboxEntry } from '../store/notification/outbox.ts'
import { listOrganizations } from '../store/organizations.ts'
import { isSilenced } from '../store/silences.ts'
import { dueAtOf, entryOf, queue } from './channel-rules.ts'
import type { Deps } from './deps.ts'

/** The maximum number of unacknowledged incidents to check in one round, and of those resolved while alerts fired. */
const MAX_INCIDENTS = BUDGETS['told-incidents'].value

/**
 * Queues the due reminders and escalations of these organizations in one transaction. Does not write if nothing is due.
 */
export function remind(deps: Deps, organizations = listOrganizations(deps.db)): void {
  const now = deps.now()
  const due = organizations.flatMap(({ rowId }) => remindersOf(deps, rowId, now))
  if (due.length === 0) return
  deps.db.transaction(() => queue(deps, due, now))
}

function remindersOf(deps: Deps, organizationId: number, now: number): OutboxEntry[] {
  const channels = listRecipients(deps.db, organizationId).filter(({ enabled }) => enabled)
  if (channels.length === 0) return []
  const open = listOpenIncidents(deps.db, organizationId, MAX_INCIDENTS, ['open'])
  const burning = open
    .filter(({ problem }) => phaseOf(problem, now) === 'on')
    .map((incident) => ({ incident, told: listToldSince(deps.db, incident, incident.problem.alarmedAt) }))
  // What was merged from another service goes on although nothing of the incident's own service does.
  const left = [
    ...listSuppressedIncidents(deps.db, organizationId, MAX_INCIDENTS),
    ...listLeftIncidents(deps.db, organizationId, now - LEFT_FOR, MAX_INCIDENTS),
  ]
  const suppressed = new Map(left.map((incident) => [incident.rowId, incident]))
  return [
    ...dueReminders(deps, organizationId, channels, burning, now),
    ...[...suppressed.values()].flatMap((incident) =>
      entriesFor(deps, incident, dueStillFiring(deps, incident, channels, now), now),
    ),
  ]
}

/** An incident, and who was told about it since its problem last began. */
type Reminded = { readonly incident: LiveIncident; readonly told: ReturnType<typeof listToldSince> }

/** Returns the reminders and escalations that are due. A channel is reminded once of incidents with a common cause. */
function dueReminders(
  deps: Deps,
  organizationId: number,
  channels: readonly ChannelRecord[],
  all: readonly Reminded[],
  now: number,
) {
  const isDue = (of: readonly Reminded[]) => channels.some((channel) => dueKind(channel, of, now) !== null)
  const awaitedSince = deps.engine.awaitedSince(organizationId)
  // What a user declared goes on until a user resolves it.
  const isSure = ({ incident }: Reminded) =>
    incident.origin === 'manual' ||
    incident.problem.declared.length > 0 ||
    !isDoubtful(listLastReports(deps.db, incident.rowId, incident.problem.firing), awaitedSince, now)
  // Almost always nothing is due, and then no report is read.
  if (!all.filter((one) => isDue([one])).some(isSure)) return []
  const sure = all.filter(isSure)
  const groups = sure.length < LEAST_MEMBERS ? new Map<string, IncidentGroup>() : findGroups(deps.db, organizationId)
  const together = Map.groupBy(sure, ({ incident: { id } }) => groups.get(id) ?? id)
  return channels.flatMap((channel) =>
    [...together].flatMap(([group, of]) => {
      const kind = dueKind(channel, of, now)
      const leader = typeof group === 'string' ? group : group.leader
      // They become one message, and the channel hears the all-clear of each.
      const inOrder = of.toSorted((a, b) => Number(b.incident.id === leader) - Number(a.incident.id === leader))
      return kind === null
        ? []
        : inOrder.flatMap(({ incident }) => entriesFor(deps, incident, [{ channel, kind }], now))
    }),
  )
}

type Due = { readonly channel: ChannelRecord; readonly kind: NotificationKind }

/** Returns what a channel has to hear now. Reminders and escalations count from when the problem last began. */
function dueKind({ rowId, settings }: ChannelRecord, of: readonly Reminded[], now: number): NotificationKind | null {
  const known = of.flatMap(({ told }) => told.filter(({ channelId }) => channelId === rowId))
  const reminded = Math.max(0, ...known.map(({ reminders }) => reminders))
  const isEscalation = known.length === 0 && settings.escalateAfter > 0
  if (known.length === 0 && !isEscalation && !remindsOnly(settings)) return null
  const alarmedAt = Math.min(...of.map(({ incident }) => incident.problem.alarmedAt))
  const lastAt = known.length === 0 ? alarmedAt : Math.max(...known.map((one) => one.lastAt))
  const dueAt = isEscalation ? alarmedAt + settings.escalateAfter * MINUTE : nextReminder(settings, reminded, lastAt)
  return dueAt === null || dueAt > now ? null : isEscalation ? 'escalation' : 'reminder'
}

/** Returns whether a channel wants reminders, but not to be told first what they are about. */
function remindsOnly({ rules }: ChannelSettings): boolean {
  return rules.some(({ events }) => events?.includes('reminder') && !FIRST.every((kind) => events.includes(kind)))
}

const FIRST = ['opened', 'again', 'reopened'] as const

/** Returns the channels to tell, once, that alerts are still firing after a user resolved their incident. */
function dueStillFiring(
  deps: Deps,
  { id, rowId, organizationId, resolvedAt, problem }: LiveIncident,
  channels: readonly ChannelRecord[],
  now: number,
): Due[] {
  if (!problem.isSuppressed || resolvedAt === null || resolvedAt + STILL_FIRING_AFTER > now) return []
  const sent = listStillFiring(deps.db, rowId, resolvedAt)
  const involved = new Set(listToldSince(deps.db, { rowId, problem }, 0).map(({ channelId }) => channelId))
  const untold = channels.filter((channel) => involved.has(channel.rowId) && !sent.includes(channel.rowId))
  if (untold.length === 0 || !findIncident(deps.db, organizationId, id)?.firingAlerts) return []
  return untold.map((channel) => ({ channel, kind: 'still-firing' }))
}

/** Returns outbox entries for the channels whose rules match now, or none if all firing alerts are silenced. */
function entriesFor(deps: Deps, incident: LiveIncident, due: readonly Due[], now: number): OutboxEntry[] {
  if (due.length === 0 || isSilenced(deps.db, incident.rowId)) return []
  const steps = ruleSteps()
  return due.flatMap(({ channel, kind }) => {
    const dueAt = dueAtOf(deps, channel, { incident, kind }, now, true, steps)
    // In quiet hours, the first message is still pending, so that no reminder is queued. An escalation is a first message.
    if (dueAt === null || (dueAt !== now && kind !== 'escalation')) return []
    // A channel whose rules did not want what came later is reminded of what it was told.
    const names = listToldNames(deps.db, channel.rowId, incident)
    return [entryOf(deps, channel, { incident, kind, names }, now, dueAt)]
  })
}
