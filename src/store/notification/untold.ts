/** Records why a channel did not get a message about an incident. */
import type { MessageKind } from '../../domain/notification/kind.ts'
import type { Untold } from '../../domain/notification/truth.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows } from '../sqlite/query.ts'

export type UntoldEntry = {
  readonly incidentId: number
  readonly channelId: number
  readonly kind: MessageKind
  readonly at: number
  readonly reason: Untold
}

export function insertUntold(db: Db, all: readonly UntoldEntry[]): void {
  insertRows(db, 'untold', all, ({ incidentId, channelId, kind, at, reason }) => {
    return { incident_id: incidentId, channel_id: channelId, kind, at, reason }
  })
}
