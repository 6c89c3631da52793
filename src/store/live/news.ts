/** News about incidents: written to the outbox in the commit that makes it. */
import { recipientsOf } from '../../domain/notification/channel.ts'
import type { Effect } from '../../domain/state/effect.ts'
import { type ChannelRecord, listRecipients } from '../notification/channels.ts'
import { insertNews, listTold, type News } from '../notification/outbox.ts'
import type { Db } from '../sqlite/open.ts'

type NewsDue = Extract<Effect, { readonly kind: 'news-due' }>

/** Writes what the changes of a batch mean for each channel. Costs one read for each organization without channels. */
export function writeNews(db: Db, all: readonly NewsDue[], newId: () => string): void {
  const channels = new Map<number, readonly ChannelRecord[]>()
  const told = toldOf(db, all)
  const messages = all.flatMap((due) => {
    const { organizationId } = due.incident
    const known = channels.get(organizationId) ?? listRecipients(db, organizationId)
    channels.set(organizationId, known)
    return known.length > 0 ? messagesOf(told, known, due, newId) : []
  })
  insertNews(db, messages)
}

/** Which channels were told about each incident before this batch: one read for all incidents that are not new. */
function toldOf(db: Db, all: readonly NewsDue[]): ReadonlyMap<number, ReadonlySet<number>> {
  const known = all.filter(({ news }) => news !== 'opened' && news !== 'sender-silent')
  const told = new Map<number, Set<number>>()
  for (const { incidentId, channelId } of listTold(db, [...new Set(known.map(({ incident }) => incident.rowId))])) {
    if (incidentId === null) continue
    told.set(incidentId, (told.get(incidentId) ?? new Set()).add(channelId))
  }
  return told
}

function messagesOf(
  told: ReturnType<typeof toldOf>,
  channels: readonly ChannelRecord[],
  { news, incident, service, severityBefore, actor, at }: NewsDue,
  newId: () => string,
): News[] {
  const involved = (rowId: number) => told.get(incident.rowId)?.has(rowId) ?? false
  const { organizationId, severity, rowId: incidentId } = incident
  const ruled = { kind: news, severity, serviceId: service.id, service: service.name, namespace: service.namespace }
  return recipientsOf(channels, ruled, involved, at).map(({ rowId: channelId, dueAt }) => {
    const message = { organizationId, channelId, incidentId, kind: news, actor, severityBefore }
    return { ...message, id: newId(), createdAt: at, dueAt }
  })
}
