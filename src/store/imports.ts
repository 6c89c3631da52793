/** Finds out for an import whether an item is stored already. */
import type { Source } from '../domain/event/event.ts'
import type { Db } from './sqlite/open.ts'

/** If `receivedAt` is null, any time of receipt matches. */
type StoredItem = {
  readonly organizationId: number
  readonly source: Source
  readonly at: number
  readonly receivedAt: number | null
  /** The stored payload, with secrets replaced. */
  readonly payload: string
}

/**
 * Returns whether an event with this payload, time and receipt is stored. An unchanged repeat is not stored again, but
 * its alert then has a last seen time that is not earlier.
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
