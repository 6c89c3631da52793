/** What happened in an incident. */
import type { Db } from './sqlite/open.ts'

export type TimelineEntry = {
  readonly at: number
  readonly kind: 'opened' | 'reopened' | 'status' | 'alert' | 'ended' | 'note' | 'edited' | 'merged'
  readonly text: string
  /** The token's name, or the login name of who ran a command; null for the machine. */
  readonly actor: string | null
  /** `alert/<uuid>`, `event/<uuid>`; null where there is nothing to link to. */
  readonly ref: string | null
}

export function insertTimelineEntry(db: Db, incidentId: number, entry: TimelineEntry): void {
  db.run(db.sql.insertInto('timeline').values({ incident_id: incidentId, ...entry }))
}
