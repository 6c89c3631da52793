/** Ends the conditions that an event disproves. */

import { settle } from '../../../domain/alert/ending.ts'
import { begunAtOf } from '../../../domain/alert/fingerprints.ts'
import { type ReceivedEvent, withReceivedEvents } from '../../../domain/alert/late-events.ts'
import type { LiveAlert } from '../../../domain/alert/live-alert.ts'
import { hasWeightChanged, lasts } from '../../../domain/health/health.ts'
import type { LiveService } from '../../../domain/health/live-service.ts'
import type { Context } from '../../state/context.ts'
import { changeAlert } from '../alerts.ts'
import { firingEventAlerts, hasFiringMetrics, hasNamesake, senderBehaviorOf } from '../conditions.ts'
import { makeDue } from '../live-service.ts'
import { hasActiveSilence } from '../silenced.ts'
import type { AlertDecision } from './item-alert.ts'

/** Applies an event to each firing Kubernetes condition of its service. Returns whether any condition changed. */
export function endConditions(ctx: Context, service: LiveService, event: ReceivedEvent, now: number): boolean {
  let changed = false
  for (const live of firingEventAlerts(ctx.state, service)) {
    const after = withReceivedEvents(live.alert, [event])
    if (after === live.alert) continue
    const metricsFiring = hasFiringMetrics(ctx.state, service.rowId, after.startsAt)
    const context = { delivery: null, metricsFiring, ...senderBehaviorOf(ctx.state, live) }
    changeAlert(ctx, live, { ...live, ...settle(after, context, now) }, now)
    changed = true
  }
  return changed
}

/**
 * How long the evaluation of a service can wait after an alert ended while similar alerts still fire. Similar alerts are
 * one condition, so the health hardly changes, and the end of a storm costs one evaluation instead of thousands.
 */
const ALIKE_END_DELAY = 5_000

/** Returns whether the service must be evaluated at once. */
export function affects(ctx: Context, known: LiveAlert | null, { live, isAlike }: AlertDecision, now: number): boolean {
  if (known && known.serviceId === live.serviceId && endsAlike(ctx, known, live, now)) {
    makeDue(ctx, live.serviceId, now + ALIKE_END_DELAY)
    return false
  }
  if (known)
    return known.serviceId !== live.serviceId || hasWeightChanged(known.alert, live.alert) || isAnew(known, live)
  if (live.alert.severity === 'info') return false
  if (!isAlike) return true
  // A long-lasting warning lowers the score more than a new one does. The sweep evaluates the service once for the
  // whole storm.
  if (live.alert.severity === 'warning' && lasts(live.alert)) makeDue(ctx, live.serviceId, now)
  return false
}

/** Returns whether a firing alert has a new start, because its sender skipped the end. */
function isAnew(known: LiveAlert, live: LiveAlert): boolean {
  if (known.fingerprints === live.fingerprints) return false
  return begunAtOf(live.alert, live.fingerprints) > begunAtOf(known.alert, known.fingerprints)
}

/**
 * Returns whether a notification ended an alert while an alert with the same name still fires at the same or a higher
 * severity. A silence may cover only one of the two alerts, so an active silence always requires an evaluation.
 */
function endsAlike(ctx: Context, known: LiveAlert, { serviceId, alert }: LiveAlert, now: number): boolean {
  const isNotification = alert.source === 'metrics' || alert.source === 'dashboard'
  const ended = known.alert.status === 'firing' && alert.status === 'resolved'
  return isNotification && ended && hasNamesake(ctx.state, serviceId, alert) && !hasActiveSilence(ctx, now)
}
