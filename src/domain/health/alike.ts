/**
 * Limits the time needed to compute health. If several firing alerts have the same effect on every rule, only one is
 * used.
 */

import { isSameFailure } from '../event/reason.ts'
import type { Failure } from '../event/reason-table.ts'
import { rank } from '../severity.ts'
import { failureOf, type HealthCondition, lasts, MAX_PENALTIES, TOGETHER } from './health.ts'
import type { ConditionOnNode } from './node-trouble.ts'

type OnNode = HealthCondition & Pick<ConditionOnNode, 'node'> & { readonly isLeft?: boolean }

/**
 * Returns the alerts that can affect the health or its causes, in the original order. Keeps only the earliest alert of
 * each class of firing alerts. If more than 100 names have the same effect, keeps only the earliest 100. Keeps all
 * ended alerts, all alerts from Kubernetes events, and all alerts on nodes with problems (`nodes`). What a user left on does
 * not stand for what began later.
 */
export function withoutAlike<One extends OnNode>(alerts: readonly One[], nodes: ReadonlySet<string>): readonly One[] {
  const times = turningPoints(alerts)
  const classes = new Map<string, Class<One>[]>()
  const kept: One[] = []
  for (const alert of alerts) {
    if (!isReducible(alert, nodes)) kept.push(alert)
    else count(classes, alert, `${intervalOf(alert.startsAt, times)} ${alert.isLeft}`)
  }
  const chosen = new Set([...kept, ...ofManyNames([...classes.values()].flat(), failuresOf(alerts))])
  return chosen.size === alerts.length ? alerts : alerts.filter((alert) => chosen.has(alert))
}

/** Firing alerts with the same name and the same effect on every rule. */
type Class<One> = { readonly interval: string; earliest: One }

/** The name of the alert to which a special rule applies while the alert is firing. */
const SPECIAL = 'NodeNotSchedulable'

/**
 * Returns the earliest alert of each class. If more than 100 names have the same effect, keeps only 100, because only
 * 100 penalties are listed.
 */
function ofManyNames<One extends OnNode>(classes: readonly Class<One>[], failures: readonly Failure[]): readonly One[] {
  const groups: { readonly agrees: string; readonly interval: string; readonly alerts: [One, ...One[]] }[] = []
  if (classes.length <= MAX_PENALTIES) return classes.map(({ earliest }) => earliest)
  for (const { interval, earliest: alert } of classes) {
    const agrees = alert.name === SPECIAL ? alert.name : failures.filter((one) => isSameFailure(one, alert)).join()
    const group = groups.find(
      (one) => one.interval === interval && one.agrees === agrees && isAlike(one.alerts[0], alert),
    )
    if (group) group.alerts.push(alert)
    else groups.push({ agrees, interval, alerts: [alert] })
  }
  return groups.flatMap(({ alerts }) => {
    // The title of an incident contains the name of the alert that is first by start and name.
    const titled = alerts.reduce((a, b) => (byStartAndName(b, a) < 0 ? b : a))
    return [titled, ...alerts.sort((a, b) => (isEarlier(a, b) ? -1 : 1)).slice(0, MAX_PENALTIES)]
  })
}

function failuresOf(alerts: readonly HealthCondition[]): readonly Failure[] {
  const events = alerts.filter(({ source, status }) => source === 'cluster' && status === 'firing')
  return [...new Set(events.map(failureOf))]
}

function isReducible({ status, source, node }: OnNode, nodes: ReadonlySet<string>): boolean {
  return status === 'firing' && source !== 'cluster' && (node === null || !nodes.has(node))
}

function count<One extends OnNode>(classes: Map<string, Class<One>[]>, alert: One, interval: string): void {
  const known = classes.get(alert.name)
  const alike = known?.find((one) => one.interval === interval && isAlike(one.earliest, alert))
  if (!known) classes.set(alert.name, [{ interval, earliest: alert }])
  else if (!alike) known.push({ interval, earliest: alert })
  else if (isEarlier(alert, alike.earliest)) alike.earliest = alert
}

/** Returns whether two alerts with the same name have the same effect on every rule that does not compare times. */
function isAlike(a: OnNode, b: OnNode): boolean {
  return (
    a.source === b.source &&
    a.severity === b.severity &&
    a.failure === b.failure &&
    (a.node === null) === (b.node === null) &&
    lasts(a) === lasts(b)
  )
}

/** Compares alerts by start, then by name. */
function byStartAndName(a: Named, b: Named): number {
  return a.startsAt - b.startsAt || (a.name < b.name ? -1 : 1)
}

type Named = Pick<HealthCondition, 'startsAt' | 'name'>

function isEarlier(a: HealthCondition, b: HealthCondition): boolean {
  return a.startsAt === b.startsAt ? a.uuid < b.uuid : a.startsAt < b.startsAt
}

/**
 * Returns the turning points, earliest first. All alerts that start between the same two turning points agree with the
 * same Kubernetes events.
 */
function turningPoints(alerts: readonly HealthCondition[]): readonly number[] {
  const times = new Set<number>()
  for (const { source, status, severity, startsAt, lastSeenAt } of alerts) {
    if (source !== 'cluster' || status !== 'firing' || rank(severity) < rank('error')) continue
    // An alert that starts exactly at the limit still agrees with the event.
    times.add(startsAt - TOGETHER).add(lastSeenAt + TOGETHER + 1)
  }
  return [...times].sort((a, b) => a - b)
}

/** Returns the number of turning points at or before a time. */
function intervalOf(time: number, times: readonly number[]): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((times[middle] ?? 0) <= time) low = middle + 1
    else high = middle
  }
  return low
}
