/** The sweep applies changes that become due without any input. */

import type { LiveAlert } from '../../domain/alert/alert.ts'
import { type Delivery, settleAll } from '../../domain/alert/ending.ts'
import { hasWeightChanged } from '../../domain/health/health.ts'
import { earliest } from '../../domain/instant.ts'
import type { Limits } from '../../domain/limits.ts'
import { type Beat, beatsFor } from '../../domain/sender/beats.ts'
import { NO_INTERVAL, repeatTimeoutOf } from '../../domain/sender/delivery-interval.ts'
import type { LiveGroup } from '../../domain/sender/sender.ts'
import { DAY, MINUTE } from '../../domain/units.ts'
import { replaceAlert } from '../state/alerts.ts'
import { putSender } from '../state/apply.ts'
import type { Context } from '../state/context.ts'
import { replaceService } from '../state/services.ts'
import { dueStep, type OrganizationState, settingsOf } from '../state/state.ts'
import { changeAlert } from './alerts.ts'
import { beatsOf, firingMetricsOf, senderBehaviorOf, senderOf } from './conditions.ts'
import { deliveryOf } from './receive/senders.ts'
import { hasEndedShortage } from './shortage.ts'

export type Due = {
  readonly alerts: readonly number[]
  readonly services: readonly number[]
  /** Keys of senders with an overdue heartbeat. */
  readonly senders: readonly string[]
}

export function findDue(state: OrganizationState, now: number, limit: number): Due {
  const senders = [...state.senders.keys()].filter((key) => {
    const due = state.senders.get(key)?.heartbeatDueAt ?? null
    return due !== null && due <= now
  })
  return {
    alerts: dueOf(state.dueAlerts, now, limit, (rowId) => state.alerts.get(rowId)?.dueAt ?? null),
    services: dueOf(state.dueServices, now, limit, (rowId) => state.services.get(rowId)?.evaluateAt ?? null),
    senders: senders.slice(0, limit),
  }
}

/** Returns when the next record is due, as Unix time in milliseconds, or null. */
export function nextDue(state: OrganizationState): number | null {
  return earliest([
    ...earliestOf(state.dueAlerts).map((rowId) => state.alerts.get(rowId)?.dueAt ?? null),
    ...earliestOf(state.dueServices).map((rowId) => state.services.get(rowId)?.evaluateAt ?? null),
    ...otherTimes(state),
  ])
}

/** Returns whether any record is due. */
export function isDue(state: OrganizationState, limits: Limits, now: number): boolean {
  const { dueAlerts, dueServices, alerts, services } = state
  return (
    dueOf(dueAlerts, now, 1, (rowId) => alerts.get(rowId)?.dueAt ?? null).length > 0 ||
    dueOf(dueServices, now, 1, (rowId) => services.get(rowId)?.evaluateAt ?? null).length > 0 ||
    otherTimes(state).some((time) => time !== null && time <= now) ||
    hasEndedShortage(state, limits) ||
    silentGroups(state, now).length > 0
  )
}

/** Returns the due times of heartbeats, and the start and end times of silences. */
function otherTimes(state: OrganizationState): (number | null)[] {
  return [
    ...[...state.senders.values()].map(({ heartbeatDueAt }) => heartbeatDueAt),
    ...[...state.silences.values()].map(({ silence }) => silence.changesAt),
  ]
}

type DueIndex = OrganizationState['dueAlerts']
type DueAt = (rowId: number) => number | null

/**
 * Returns due row ids, earliest ten-second slot first. Does not sort within a slot, because a whole alert storm may be
 * due at once.
 */
function dueOf(index: DueIndex, now: number, limit: number, dueAt: DueAt): number[] {
  const last = dueStep(now) ?? Number.POSITIVE_INFINITY
  const steps = [...index.keys()].filter((step) => step <= last).sort((a, b) => a - b)
  const due: { readonly rowId: number; readonly at: number }[] = []
  for (const step of steps) {
    for (const rowId of index.get(step)) {
      if (due.length >= limit) break
      const at = dueAt(rowId)
      if (at !== null && at <= now) due.push({ rowId, at })
    }
  }
  return due.sort((a, b) => a.at - b.at || a.rowId - b.rowId).map(({ rowId }) => rowId)
}

function earliestOf(index: DueIndex): number[] {
  const steps = [...index.keys()]
  return steps.length === 0 ? [] : [...index.get(steps.reduce((a, b) => Math.min(a, b)))]
}

/** Processes a due alert. If the alert ended or its severity changed, returns the row id of its service, which has to be evaluated. */
export function sweepAlert(ctx: Context, rowId: number, now: number): number | null {
  const live = ctx.state.alerts.get(rowId)
  if (!live) return null
  if (live.alert.status === 'resolved') {
    ctx.settle(live, now)
    return null
  }
  const { source, startsAt } = live.alert
  const metricsFiring = source === 'cluster' && firingMetricsOf(ctx.state, live.serviceId)(startsAt)
  const { alert, fingerprints, dueAt } = settleAll(
    live.alert,
    live.fingerprints,
    {
      ...deliveredBy(ctx.state, live, now),
      ...{ metricsFiring, ...senderBehaviorOf(ctx.state, live), awaited: ctx.state.awaited.get('period') },
    },
    now,
  )
  changeAlert(ctx, live, { ...live, alert, fingerprints, dueAt }, now)
  return hasWeightChanged(live.alert, alert) ? live.serviceId : null
}

type Delivered = Pick<LiveAlert, 'groupId' | 'serviceId' | 'cluster' | 'alert'>

/** Returns how an alert is delivered, and the heartbeats of its sender. */
function deliveredBy(
  state: OrganizationState,
  one: Delivered,
  now: number,
): { readonly delivery: Delivery; readonly beats: readonly Beat[] } {
  const { group, sender } = senderOf(state, one)
  const beats = beatsFor(beatsOf(state, sender), state.services.get(one.serviceId)?.cluster ?? '')
  if (group && sender) return { delivery: deliveryOf(sender, group, now), beats }
  return { delivery: { repeatTimeout: repeatTimeoutOf(group, NO_INTERVAL), reportsEnds: false, heardAt: null }, beats }
}

/** Returns when an alert loaded from the store is due. Senders and groups must be loaded first. */
export function firstDueAt(state: OrganizationState, one: Delivered & Pick<LiveAlert, 'fingerprints'>): number {
  const { alert, serviceId } = one
  const metricsFiring = alert.source === 'cluster' && firingMetricsOf(state, serviceId)(alert.startsAt)
  const context = {
    ...deliveredBy(state, one, alert.receivedAt),
    metricsFiring,
    ...senderBehaviorOf(state, one),
  }
  return settleAll(alert, one.fingerprints, context, alert.receivedAt).dueAt
}

/**
 * Recomputes the due times of Kubernetes conditions. All alerts must be loaded first, because the due times depend on
 * other alerts.
 */
export function scheduleAlerts(state: OrganizationState): void {
  for (const before of [...state.alerts.values()]) {
    if (before.alert.source === 'cluster') reschedule(state, before, firstDueAt(state, before))
  }
}

/** A sender whose alerts end soon without a repeat delivers more often than this: Prometheus does each minute. */
const DELIVERS_WITHIN = 2 * MINUTE
/** A sender whose delivery failed tries again within this time: Alertmanager after its `group_interval` of 5 minutes. */
const TRIES_AGAIN = 6 * MINUTE

/**
 * Gives the senders time to repeat what they could not deliver while incmon did not run, or what seems old only because
 * the clock jumped: after a gap, no alert of Alertmanager, Prometheus or Grafana ends for lack of a repeat in the first
 * minutes, and no heartbeat is missed.
 */
export function awaitRepeats(state: OrganizationState, now: number): void {
  const senders = [...state.senders.values()]
  // After a jump back, what was received in the future says nothing.
  const received = senders.map(({ lastEventAt }) => lastEventAt ?? 0).filter((at) => at <= now)
  const from = Math.max(0, ...received)
  state.awaited.delete('period')
  if (from > now - DELIVERS_WITHIN) return
  const until = now + TRIES_AGAIN
  state.awaited.set('period', { since: now, until, from })
  for (const sender of senders) {
    const { heartbeatDueAt } = sender
    if (heartbeatDueAt !== null && heartbeatDueAt < until) putSender(state, { ...sender, heartbeatDueAt: until })
  }
}

/** After a jump of the clock, repeats are awaited, and nothing waits for a time that is far away after a jump back. */
export function followJump(state: OrganizationState, now: number): void {
  awaitRepeats(state, now)
  const by = now + TRIES_AGAIN
  for (const before of [...state.alerts.values()]) reschedule(state, before, Math.min(before.dueAt, by))
  for (const before of [...state.services.values()])
    if ((before.evaluateAt ?? 0) > by) replaceService(state, before, { ...before, evaluateAt: by })
}

/** Returns since when repeats are awaited after a stop; null if they are not. */
export function awaitedSince(state: OrganizationState, now: number): number | null {
  const awaited = state.awaited.get('period')
  return awaited && now < awaited.until ? awaited.since : null
}

function reschedule(state: OrganizationState, before: LiveAlert, dueAt: number): void {
  if (dueAt !== before.dueAt) replaceAlert(state, before, { ...before, dueAt })
}

/** Deletes groups that have no alerts and had no delivery within the retention period. */
export function dropSilentGroups(ctx: Context, now: number): void {
  for (const group of silentGroups(ctx.state, now)) ctx.dropGroup(group)
}

function silentGroups(state: OrganizationState, now: number): LiveGroup[] {
  const keptMs = settingsOf(state)['retention-events-days'] * DAY
  return [...state.groups.values()].filter(
    ({ deliveredAt, rowId }) => deliveredAt <= now - keptMs && state.alertsOfGroup.get(rowId).size === 0,
  )
}
