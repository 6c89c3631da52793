/** What an import asks the store: whether an item is there already. */
import type { Source } from '../domain/event/event.ts'
import type { Db } from './sqlite/open.ts'

/** `receivedAt` null: whenever it was received. */
type StoredItem = {
  readonly organizationId: number
  readonly source: Source
  readonly at: number
  readonly receivedAt: number | null
  /** As it is stored, secrets replaced. */
  readonly payload: string
}

/**
 * Whether an event of this very payload and time is stored, received when this was. What a notification repeats
 * unchanged is stored once: then its alert was seen until that time at least.
 */
export function isStored(db: Db, { organizationId, source, at, receivedAt, payload }: StoredItem): boolean {
  const same = db.sql
    .selectFrom('events')
    .innerJoin('payloads', 'payloads.event_id', 'events.id')
    .leftJoin('alerts', 'alerts.id', 'events.alert_id')
    .select('events.id')
    .where('events.organization_id', '=', organizationId)
    .where('events.at', '=', at)
    .where('events.source', '=', source)
    .where('body', '=', payload)
    .limit(1)
  if (receivedAt === null) return db.first(same) !== undefined
  const isNotification = source === 'metrics' || source === 'dashboard'
  const received = same.where((eb) => {
    const then = eb('events.received_at', '=', receivedAt)
    const before = eb.and([eb('events.received_at', '<', receivedAt), eb('last_seen_at', '>=', receivedAt)])
    return isNotification ? eb.or([then, before]) : then
  })
  return db.first(received) !== undefined
}
