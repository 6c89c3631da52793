/** Alerts after a change: saved with what people see of it; and ended by a person. */
import type { Alert } from '../domain/alert/alert.ts'
import { settle } from '../domain/alert/ending.ts'
import { IncmonError } from '../domain/error.ts'
import { type ActiveAlert, findActiveAlertByUuid, findAlertStatus } from '../store/active-alerts.ts'
import { updateAlert } from '../store/alert-rows.ts'
import { insertTimelineEntry } from '../store/timeline.ts'
import type { Deps } from './deps.ts'
import { evaluate } from './evaluate.ts'
import { inTransaction } from './transaction.ts'

/** Ends an alert by a person's word; ended already, it stays as it is. What was going on then does not reopen it. */
export function resolveAlert(deps: Deps, organizationId: number, uuid: string, actor: string): void {
  const now = deps.now()
  inTransaction(deps, (inside) => {
    const status = findAlertStatus(deps.db, organizationId, uuid)
    if (!status) throw new IncmonError('not-found', 'no such alert')
    if (status === 'resolved') return
    const active = findActiveAlertByUuid(deps.db, organizationId, uuid)
    if (!active) throw new Error(`alert ${uuid} fires without being active`)
    const ended = {
      ...active.alert,
      status: 'resolved',
      resolution: 'manual',
      endsAt: Math.max(now, active.alert.startsAt),
      endedAt: now,
    } as const
    const { alert, dueAt } = settle(ended, { silence: null, metricsFiring: false, repeats: true }, now)
    saveAlert(inside, active, { ...active, alert, dueAt }, actor)
    evaluate(inside, active.serviceId, now)
  })
}

/** Stores an alert after a change, with what people see of it: the incident's timeline, and a notice. `actor`: a person. */
export function saveAlert(deps: Deps, before: ActiveAlert, after: ActiveAlert, actor: string | null = null): void {
  updateAlert(deps.db, before, after)
  if (before.alert.status === after.alert.status && before.alert.severity === after.alert.severity) return
  deps.announce({ kind: 'alert', id: after.uuid, organizationId: after.organizationId })
  if (after.incidentId === null) return
  const { text, at } = changeOf(before.alert, after.alert)
  const kind = after.alert.status === 'resolved' ? 'ended' : 'alert'
  insertTimelineEntry(deps.db, after.incidentId, { at, kind, text, actor, ref: `alert/${after.uuid}` })
}

function changeOf(before: Alert, after: Alert): { text: string; at: number } {
  if (after.status === 'resolved')
    return { text: `${after.name} ended (${after.resolution})`, at: after.endsAt ?? after.lastSeenAt }
  if (before.status === 'resolved') return { text: `${after.name} fires again`, at: after.lastSeenAt }
  return { text: `${after.name} is ${after.severity} now, ${before.severity} before`, at: after.lastSeenAt }
}
