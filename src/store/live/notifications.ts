/** Queues notifications about incidents in the outbox, in the same transaction as the change. */
import { recipientsOf } from '../../domain/notification/channel.ts'
import type { Effect } from '../../domain/state/effect.ts'
import { type ChannelRecord, listRecipients } from '../notification/channels.ts'
import { insertNotifications, listSentMessages, type OutboxEntry } from '../notification/outbox.ts'
import type { Db } from '../sqlite/open.ts'

type NotificationDue = Extract<Effect, { readonly kind: 'notification-due' }>

/**
 * Queues a batch's notifications for each channel. Reads the database only once if the organization has no channels.
 */
export function writeNotifications(db: Db, all: readonly NotificationDue[], newId: () => string): void {
  const channels = new Map<number, readonly ChannelRecord[]>()
  const notified = notifiedOf(db, all)
  const messages = all.flatMap((due) => {
    const { organizationId } = due.incident
    const known = channels.get(organizationId) ?? listRecipients(db, organizationId)
    channels.set(organizationId, known)
    return known.length > 0 ? messagesOf(notified, known, due, newId) : []
  })
  insertNotifications(db, messages)
}

/**
 * Returns the channels that were notified about each incident before this batch. Reads the database once for all
 * existing incidents.
 */
function notifiedOf(db: Db, all: readonly NotificationDue[]): ReadonlyMap<number, ReadonlySet<number>> {
  const known = all.filter(({ change }) => change !== 'opened' && change !== 'sender-silent')
  const notified = new Map<number, Set<number>>()
  for (const { incidentId, channelId } of listSentMessages(db, [
    ...new Set(known.map(({ incident }) => incident.rowId)),
  ])) {
    if (incidentId === null) continue
    notified.set(incidentId, (notified.get(incidentId) ?? new Set()).add(channelId))
  }
  return notified
}

function messagesOf(
  notified: ReturnType<typeof notifiedOf>,
  channels: readonly ChannelRecord[],
  { change, incident, service, severityBefore, actor, at }: NotificationDue,
  newId: () => string,
): OutboxEntry[] {
  const involved = (rowId: number) => notified.get(incident.rowId)?.has(rowId) ?? false
  const { organizationId, severity, rowId: incidentId } = incident
  const ruled = { kind: change, severity, serviceId: service.id, service: service.name, namespace: service.namespace }
  return recipientsOf(channels, ruled, involved, at).map(({ rowId: channelId, dueAt }) => {
    const message = { organizationId, channelId, incidentId, kind: change, actor, severityBefore }
    return { ...message, id: newId(), createdAt: at, dueAt }
  })
}
