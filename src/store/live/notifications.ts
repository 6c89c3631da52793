/** Queues notifications about incidents in the outbox, in the same transaction as the change. */
import { cacheByKey } from '../../domain/memoize.ts'
import { recipientsOf } from '../../domain/notification/channel.ts'
import { type MessageKind, ruledSeverityOf } from '../../domain/notification/kind.ts'
import { type RuledAlert, readsAlerts } from '../../domain/notification/rule.ts'
import type { Effect } from '../../engine/state/effect.ts'
import { insertUntold, listToldChannels, type UntoldEntry } from '../incident/told.ts'
import { type ChannelRecord, listRecipients } from '../notification/channels.ts'
import { alertsAbout, listRuledAlerts } from '../notification/items.ts'
import { insertNotifications, type OutboxEntry } from '../notification/outbox.ts'
import type { Db } from '../sqlite/open.ts'

type NotificationDue = Extract<Effect, { readonly kind: 'notification-due' }>

const BACK: ReadonlySet<MessageKind> = new Set(['again', 'flapping'])

/**
 * Queues a batch's notifications for each channel. Reads the database only once if the organization has no channels.
 */
export function writeNotifications(db: Db, all: readonly NotificationDue[], newId: () => string): void {
  const channelsOf = cacheByKey(
    (organizationId: number) => organizationId,
    (organizationId) => listRecipients(db, organizationId),
  )
  const told = toldOf(db, all)
  const entries: OutboxEntry[] = []
  const untold: UntoldEntry[] = []
  const alertsOf = ruledAlerts(db)
  for (const due of all) {
    const { organizationId, rowId } = due.incident
    const known = channelsOf(organizationId)
    const involved = new Set([
      ...(told.get(rowId) ?? []),
      ...entries.flatMap((one) => (one.incidentId === rowId ? one.channelId : [])),
    ])
    // If nobody was told about a problem, nobody is told about its recovery.
    if (known.length === 0 || (due.change === 'recovered' && involved.size === 0)) continue
    const alerts = known.some(({ settings }) => readsAlerts(settings)) ? alertsOf(due) : []
    plan(known, due, involved, { entries, untold, newId, alerts })
  }
  // Who hears that a problem is back does not need the all-clear of a moment before.
  const isTakenBack = ({ kind, incidentId, channelId }: OutboxEntry, index: number) =>
    kind === 'recovered' &&
    entries.slice(index).some((one) => {
      return BACK.has(one.kind) && one.incidentId === incidentId && one.channelId === channelId
    })
  insertNotifications(
    db,
    entries.filter((one, index) => !isTakenBack(one, index)),
  )
  insertUntold(db, untold)
}

/** Returns the channels that were told about each incident before this batch. Reads the database once. */
function toldOf(db: Db, all: readonly NotificationDue[]): ReadonlyMap<number, ReadonlySet<number>> {
  const known = all.filter(({ change }) => change !== 'opened' && change !== 'sender-silent')
  const told = new Map<number, Set<number>>()
  for (const { incidentId, channelId } of listToldChannels(db, [
    ...new Set(known.map(({ incident }) => incident.rowId)),
  ])) {
    if (incidentId === null) continue
    told.set(incidentId, (told.get(incidentId) ?? new Set()).add(channelId))
  }
  return told
}

function ruledAlerts(db: Db): (due: NotificationDue) => readonly RuledAlert[] {
  const alertsOf = cacheByKey(
    (rowId: number) => rowId,
    (rowId) => listRuledAlerts(db, rowId),
  )
  return ({ change: kind, conditions: names, incident: { rowId, serviceId: ownServiceId } }) =>
    alertsAbout(db, { kind, names, ownServiceId }, alertsOf(rowId))
}

type Plan = {
  readonly entries: OutboxEntry[]
  readonly untold: UntoldEntry[]
  readonly newId: () => string
  readonly alerts: readonly RuledAlert[]
}

function plan(
  channels: readonly ChannelRecord[],
  due: NotificationDue,
  told: ReadonlySet<number>,
  { entries, untold, newId, alerts }: Plan,
): void {
  const { change, incident, service, severityBefore, conditions, wasWrong, mergedInto, actor, at, digestAt } = due
  const { organizationId, rowId: incidentId } = incident
  const severity = ruledSeverityOf(change, incident)
  const { id: serviceId, name, namespace, cluster } = service
  const ruled = { kind: change, severity, serviceId, service: name, namespace, cluster, alerts }
  for (const one of recipientsOf(channels, ruled, (rowId) => told.has(rowId), at, digestAt ?? due.toldAt)) {
    const { rowId: channelId, kind, dueAt, untold: reason, only } = one
    if (reason !== null) untold.push({ incidentId, channelId, kind, at, reason })
    if (dueAt === null) continue
    const merged = { mergedInto: mergedInto?.title ?? null, mergedId: mergedInto?.id ?? null }
    const facts = { names: conditions, wasWrong, ...merged, only }
    const isDigest = digestAt !== null && kind !== 'opened'
    // Who raised the severity of an incident did not declare it.
    const by = kind === change ? actor : null
    const message = { organizationId, channelId, incidentId, kind, actor: by, severityBefore, facts, isDigest }
    entries.push({ ...message, id: newId(), createdAt: at, dueAt })
  }
}
