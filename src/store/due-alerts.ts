/** When the sweeper must look at the alerts that can still change, and how they leave its queue. */
import { unnameActiveAlert } from './active-fingerprints.ts'
import type { Db } from './sqlite/open.ts'

/** The alerts at which the sweeper must look, the longest due first. */
export function listDueAlerts(db: Db, now: number, limit: number): number[] {
  const rows = db.all(
    db.sql.selectFrom('active_alerts').select('alert_id').where('due_at', '<=', now).orderBy('due_at').limit(limit),
  )
  return rows.map((row) => row.alert_id)
}

/** The sweeper looks at it again then. */
export function postponeAlert(db: Db, id: number, dueAt: number): void {
  db.run(db.sql.updateTable('active_alerts').set({ due_at: dueAt }).where('alert_id', '=', id))
}

/** An alert that nothing can reopen any more leaves the small table and stays in history, where from now on it ages. */
export function forgetActiveAlert(db: Db, id: number, settledAt: number): void {
  db.run(db.sql.updateTable('alerts').set({ settled_at: settledAt }).where('id', '=', id))
  unnameActiveAlert(db, id)
  db.run(db.sql.deleteFrom('active_alerts').where('alert_id', '=', id))
}

/** Every alert of a group is due no later than its rhythm says. */
export function hastenGroup(db: Db, groupId: number, silence: number): void {
  db.run(
    db.sql
      .updateTable('active_alerts')
      .set((eb) => ({ due_at: eb('heard_at', '+', silence) }))
      .where('group_id', '=', groupId)
      .where('ended_at', 'is', null)
      .where((eb) => eb('due_at', '>', eb('heard_at', '+', silence))),
  )
}

/** Every firing alert of a group was heard, though the delivery left some of them out. */
export function hearGroup(db: Db, groupId: number, at: number): void {
  db.run(
    db.sql
      .updateTable('active_alerts')
      .set((eb) => ({ heard_at: at, due_at: eb('due_at', '+', eb(eb.val(at), '-', eb.ref('heard_at'))) }))
      .where('group_id', '=', groupId)
      .where('ended_at', 'is', null),
  )
}
