/** The sweep: what time alone changes. All that it needs is in the database, so that a restart changes nothing. */
import { settle } from '../domain/ending.ts'
import { silenceOf } from '../domain/rhythm.ts'
import type { Notice } from '../live/notice.ts'
import { type ActiveAlert, forgetActiveAlert, listDueAlerts, loadActiveAlert } from '../store/active-alerts.ts'
import { hasFiringMetrics } from '../store/conditions.ts'
import { forgetAnswers } from '../store/deliveries.ts'
import { findRhythms } from '../store/groups.ts'
import { listOverdueSenders } from '../store/sender-rows.ts'
import { listDueServices } from '../store/service-rows.ts'
import { saveAlert } from './alerts.ts'
import type { Deps } from './deps.ts'
import { evaluate } from './evaluate.ts'
import { beginSilence } from './silence.ts'

/** So many at a time that requests wait a few milliseconds at most. */
const STEP = 100
const DAY = 24 * 3_600_000

/** Does one step of what is due; whether more is. */
export function sweep(deps: Deps): boolean {
  const now = deps.now()
  const notices: Notice[] = []
  const inside: Deps = { ...deps, announce: (notice) => notices.push(notice) }
  const more = deps.db.transaction(() => {
    const alerts = listDueAlerts(deps.db, now, STEP)
    const touched = new Set(alerts.flatMap((id) => sweepAlert(inside, id, now) ?? []))
    for (const sender of listOverdueSenders(deps.db, now)) beginSilence(inside, sender, now)
    for (const id of listDueServices(deps.db, now, STEP)) touched.add(id)
    for (const id of touched) evaluate(inside, id, now)
    forgetAnswers(deps.db, now - DAY)
    return alerts.length === STEP || touched.size >= STEP
  })
  for (const notice of notices) deps.announce(notice)
  return more
}

/** The alert's service where the alert ended. */
function sweepAlert(deps: Deps, id: number, now: number): number | null {
  const active = loadActiveAlert(deps.db, id)
  if (!active) return null
  if (active.alert.status === 'resolved') {
    forgetActiveAlert(deps.db, id)
    return null
  }
  const { source, startsAt } = active.alert
  const metricsFiring = source === 'cluster' && hasFiringMetrics(deps.db, active.serviceId, startsAt)
  const around = { silence: silenceFor(deps, active), metricsFiring }
  const { alert, dueAt } = settle(active.alert, around, now)
  saveAlert(deps, active, { ...active, alert, dueAt })
  return alert.status === 'resolved' ? active.serviceId : null
}

function silenceFor(deps: Deps, { groupId }: ActiveAlert): number | null {
  const rhythms = groupId === null ? null : findRhythms(deps.db, groupId)
  if (!rhythms) return silenceOf(null, { longestGap: 0, gaps: 0 })
  return rhythms.reportsEnds ? null : silenceOf(rhythms.group, rhythms.receiver)
}
