/** News about incidents: written to the outbox in the commit that makes it. */
import { recipientsOf } from '../../domain/notification/channel.ts'
import { GIVE_UP_AFTER } from '../../domain/notification/schedule.ts'
import type { Effect } from '../../domain/state/effect.ts'
import { type ChannelRecord, listRecipients } from '../channels.ts'
import { insertNews, listTold } from '../outbox.ts'
import type { Db } from '../sqlite/open.ts'

type NewsDue = Extract<Effect, { readonly kind: 'news-due' }>

/** Writes what the changes of a batch mean for each channel. Costs one read for each organization without channels. */
export function writeNews(db: Db, all: readonly NewsDue[], newId: () => string): void {
  const channels = new Map<number, readonly ChannelRecord[]>()
  for (const due of all) {
    const { organizationId } = due.incident
    const known = channels.get(organizationId) ?? listRecipients(db, organizationId)
    channels.set(organizationId, known)
    if (known.length > 0) writeOne(db, known, due, newId)
  }
}

function writeOne(
  db: Db,
  channels: readonly ChannelRecord[],
  { news, incident, service, severityBefore, actor, at }: NewsDue,
  newId: () => string,
): void {
  const told = news === 'opened' || news === 'sender-silent' ? [] : listTold(db, incident.rowId)
  const involved = (rowId: number) => told.some(({ channelId }) => channelId === rowId)
  const { organizationId, severity, rowId: incidentId } = incident
  const ruled = { kind: news, severity, serviceId: service.id, service: service.name, namespace: service.namespace }
  for (const { rowId: channelId, dueAt } of recipientsOf(channels, ruled, involved, at)) {
    const message = { organizationId, channelId, incidentId, kind: news, actor, severityBefore }
    insertNews(db, { ...message, id: newId(), createdAt: at, dueAt, expiresAt: dueAt + GIVE_UP_AFTER })
  }
}
