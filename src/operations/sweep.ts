/** The sweep: what time alone changes. All that it needs is in the database, so that a restart changes nothing. */

import { silenceOf } from '../domain/alert/delivery-interval.ts'
import { settle } from '../domain/alert/ending.ts'
import { type ActiveAlert, loadActiveAlert } from '../store/active-alerts.ts'
import { hasFiringMetrics } from '../store/conditions.ts'
import { forgetAnswers } from '../store/deliveries.ts'
import { forgetActiveAlert, listDueAlerts, postponeAlert } from '../store/due-alerts.ts'
import { findRhythms } from '../store/groups.ts'
import { findHabits } from '../store/sender-habits.ts'
import { listOverdueSenders, updateSender } from '../store/sender-rows.ts'
import { listDueServices, postponeService } from '../store/service-evaluations.ts'
import { isOfStore } from '../store/sqlite/fault.ts'
import { saveAlert } from './alerts.ts'
import type { Deps } from './deps.ts'
import { evaluate } from './evaluate.ts'
import { beginSilence } from './silence.ts'
import { applyDueSilences } from './silences.ts'
import { inTransaction } from './transaction.ts'

/** So many at a time that requests wait a few milliseconds at most. */
const STEP = 100
const DAY = 24 * 3_600_000
const PUT_OFF = 10 * 60_000

/**
 * Does one step of what is due; whether more is. What fails is put off and costs nothing else.
 * @throws AggregateError after the commit, of what was put off
 */
export function sweep(deps: Deps): boolean {
  const now = deps.now()
  const faults: unknown[] = []
  const more = inTransaction(deps, (inside) => {
    const touched = new Set<number>()
    const alerts = listDueAlerts(deps.db, now, STEP)
    for (const id of alerts) {
      const putOff = () => postponeAlert(deps.db, id, now + PUT_OFF)
      const serviceId = alone(inside, faults, (one) => sweepAlert(one, id, now), putOff)
      if (serviceId !== null) touched.add(serviceId)
    }
    for (const sender of listOverdueSenders(deps.db, now)) {
      const putOff = () => updateSender(deps.db, { ...sender, heartbeatDueAt: now + PUT_OFF })
      alone(inside, faults, (one) => beginSilence(one, sender, now), putOff)
    }
    applyDueSilences(deps, now, STEP)
    for (const id of listDueServices(deps.db, now, STEP)) touched.add(id)
    for (const id of touched) {
      const putOff = () => postponeService(deps.db, id, now + PUT_OFF)
      alone(inside, faults, (one) => evaluate(one, id, now), putOff)
    }
    forgetAnswers(deps.db, now - DAY)
    return alerts.length === STEP || touched.size >= STEP
  })
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} due changes were put off`)
  return more
}

/** Work in a savepoint of its own; null where it failed for a reason of its own and was put off. */
function alone<Result>(
  deps: Deps,
  faults: unknown[],
  work: (inside: Deps) => Result,
  putOff: () => void,
): Result | null {
  try {
    return inTransaction(deps, work)
  } catch (error) {
    if (isOfStore(error)) throw error
    faults.push(error)
    putOff()
    return null
  }
}

/** The alert's service where the alert ended. */
function sweepAlert(deps: Deps, id: number, now: number): number | null {
  const active = loadActiveAlert(deps.db, id)
  if (!active) return null
  if (active.alert.status === 'resolved') {
    const { startsAt, lastSeenAt, endsAt } = active.alert
    // Its age counts from here, and not from earlier than any of its times.
    forgetActiveAlert(deps.db, id, Math.max(now, startsAt, lastSeenAt, endsAt ?? now))
    return null
  }
  const { source, startsAt } = active.alert
  const metricsFiring = source === 'cluster' && hasFiringMetrics(deps.db, active.serviceId, startsAt)
  const habits = findHabits(deps.db, active.organizationId)
  const around = { silence: silenceFor(deps, active), metricsFiring, ...habits }
  const { alert, dueAt } = settle(active.alert, around, now)
  saveAlert(deps, active, { ...active, alert, dueAt })
  return alert.status === 'resolved' ? active.serviceId : null
}

function silenceFor(deps: Deps, { groupId }: ActiveAlert): number | null {
  const rhythms = groupId === null ? null : findRhythms(deps.db, groupId)
  if (!rhythms) return silenceOf(null, { longestGap: 0, gaps: 0 })
  return rhythms.reportsEnds ? null : silenceOf(rhythms.group, rhythms.receiver)
}
