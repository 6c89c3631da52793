/** The habits of the senders of Kubernetes events: whether they report repeats, and how late they deliver. */
import { behind, type Lag } from '../domain/alert/lag.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'

/** `repeats`: whether one of them has ever reported a repeat. `lag`: how far they are behind, in milliseconds. */
export type Habits = { readonly repeats: boolean; readonly lag: number }

const habits = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('senders')
    .select(['reports_repeats as repeats', 'lag'])
    .where('organization_id', '=', hole('organizationId'))
    .where('source', '=', 'cluster'),
)

/** Returns the habits of the senders of Kubernetes events of an organization. */
export function findHabits(db: Db, organizationId: number): Habits {
  return db.memory.answer('senders', `habits ${organizationId}`, () => {
    const rows = db.all(habits, { organizationId })
    const lags = rows.flatMap(({ lag }) => lag ?? [])
    return { repeats: rows.some(({ repeats }) => repeats === 1), lag: behind(lags) }
  })
}

const lagOf = query<{ id: number }>()((sql, hole) =>
  sql.selectFrom('senders').select(['lag', 'lag_at as lagAt']).where('id', '=', hole('id')),
)

/** Returns the lag of a sender; null before its first event. */
export function findLag(db: Db, senderId: number): Lag | null {
  return db.memory.answer('senders', `lag ${senderId}`, () => {
    const row = db.first(lagOf, { id: senderId })
    return row && row.lag !== null && row.lagAt !== null ? { lag: row.lag, lagAt: row.lagAt } : null
  })
}

/** Stores the lag of a sender. */
export function storeLag(db: Db, senderId: number, { lag, lagAt }: Lag): void {
  db.run(db.sql.updateTable('senders').set({ lag, lag_at: lagAt }).where('id', '=', senderId))
}

/** Stores that a sender reports repeats. The sweeper then looks at all conditions of its organization again. */
export function storeReportsRepeats(
  db: Db,
  sender: { readonly id: number; readonly organizationId: number },
  now: number,
): void {
  db.run(db.sql.updateTable('senders').set({ reports_repeats: 1 }).where('id', '=', sender.id))
  db.run(
    db.sql
      .updateTable('active_alerts')
      .set({ due_at: now })
      .where('service_id', 'in', (eb) =>
        eb.selectFrom('services').select('id').where('organization_id', '=', sender.organizationId),
      )
      .where('source', '=', 'cluster')
      .where('ended_at', 'is', null),
  )
}
