/** An organization's senders, and when each was last seen. */

import type { Listed, Page } from '../domain/pagination.ts'
import { usualInterval } from '../domain/sender/delivery-interval.ts'
import type { LiveSender } from '../domain/sender/sender.ts'
import { readPage } from './read.ts'
import type { Db } from './sqlite/open.ts'

export type SenderRecord = Pick<
  LiveSender,
  'source' | 'cluster' | 'receiver' | 'tokens' | 'events' | 'rejections' | 'lastEventAt' | 'lastRejectionAt' | 'hours'
> & {
  /**
   * How far the sender's clock is ahead of the server's clock, in milliseconds; negative if the sender's clock is
   * behind. Event times are corrected by this offset.
   */
  readonly clockOffset: number
  /** Whether other senders name a cluster but this sender does not. */
  readonly lacksCluster: boolean
  /** The usual interval between two deliveries of the same alerts, in ms; null if unknown. */
  readonly interval: number | null
  /** Null if the sender has never sent a heartbeat. `silent`: whether the heartbeat is overdue. */
  readonly heartbeat: { readonly lastAt: number; readonly silent: boolean } | null
}

/** Lists one page of senders, last seen first. */
export function listSenders(db: Db, organizationId: number, page: Page): Listed<SenderRecord> {
  const query = db.sql.selectFrom('senders').where('organization_id', '=', organizationId)
  const rows = query
    .select(['source', 'cluster', 'receiver', 'events', 'rejections', 'last_event_at as lastEventAt'])
    .select(['last_rejection_at as lastRejectionAt', 'hours', 'clock', 'names_cluster', 'longest_gap as longestGap'])
    .select(['gaps', 'heartbeat_at', 'heartbeat_due_at', 'tokens'])
    .orderBy('last_event_at', 'desc')
    .orderBy('id', 'desc')
  const names = db.first(query.select('id').where('names_cluster', '=', 1).limit(1)) !== undefined
  return readPage(db, query, rows, page, (row) => {
    const { clock, names_cluster, longestGap, gaps, heartbeat_at: lastAt, heartbeat_due_at, ...sender } = row
    return {
      ...sender,
      hours: JSON.parse(sender.hours),
      tokens: JSON.parse(sender.tokens),
      clockOffset: clock === null ? 0 : JSON.parse(clock).offset,
      lacksCluster: names && names_cluster === 0,
      interval: usualInterval({ longestGap, gaps }),
      heartbeat: lastAt === null ? null : { lastAt, silent: heartbeat_due_at === null },
    }
  })
}
