/** Reduces alerts that no rule tells apart to one of them, so that health takes about as long with many firing alerts. */

import { rank } from '../severity.ts'
import { TOGETHER } from './agreement.ts'
import { type HealthCondition, lasts } from './health.ts'

/** An alert with its node, or null if unknown. */
type ConditionOnNode = HealthCondition & { readonly node: string | null }

/**
 * Returns the alerts without those that do not change the health, its causes or the first cause: of firing alerts of
 * one class, only the earliest one is kept. Alerts of Kubernetes events, ended alerts, and alerts on one of `nodes`,
 * the nodes with problems, are all kept. The order does not change.
 */
export function withoutAlike<One extends ConditionOnNode>(
  alerts: readonly One[],
  nodes: ReadonlySet<string>,
): readonly One[] {
  const times = turningPoints(alerts)
  const classes = new Map<string, Class<One>[]>()
  const kept: One[] = []
  for (const alert of alerts) {
    if (!isReducible(alert, nodes)) kept.push(alert)
    else count(classes, alert, intervalOf(alert.startsAt, times))
  }
  const first = [...classes.values()].flatMap((some) => some.map(({ earliest }) => earliest))
  if (kept.length + first.length === alerts.length) return alerts
  const chosen = new Set([...kept, ...first])
  return alerts.filter((alert) => chosen.has(alert))
}

/** Firing alerts of one name for which every rule has the same result. */
type Class<One> = { readonly interval: number; earliest: One }

function isReducible({ status, source, evidence, node }: ConditionOnNode, nodes: ReadonlySet<string>): boolean {
  return (
    status === 'firing' && source !== 'cluster' && evidence.helped.length === 0 && (node === null || !nodes.has(node))
  )
}

function count<One extends ConditionOnNode>(classes: Map<string, Class<One>[]>, alert: One, interval: number): void {
  const known = classes.get(alert.name)
  const alike = known?.find((one) => one.interval === interval && isAlike(one.earliest, alert))
  if (!known) classes.set(alert.name, [{ interval, earliest: alert }])
  else if (!alike) known.push({ interval, earliest: alert })
  else if (isEarlier(alert, alike.earliest)) alike.earliest = alert
}

/** Returns whether two alerts with the same name have the same result in every rule that does not compare times. */
function isAlike(a: ConditionOnNode, b: ConditionOnNode): boolean {
  return (
    a.source === b.source &&
    a.severity === b.severity &&
    a.failure === b.failure &&
    (a.node === null) === (b.node === null) &&
    lasts(a) === lasts(b)
  )
}

function isEarlier(a: HealthCondition, b: HealthCondition): boolean {
  return a.startsAt === b.startsAt ? a.uuid < b.uuid : a.startsAt < b.startsAt
}

/** Returns the times between which starts of alerts agree with the same Kubernetes events, earliest first. */
function turningPoints(alerts: readonly HealthCondition[]): readonly number[] {
  const times = new Set<number>()
  for (const { source, status, severity, startsAt, lastSeenAt } of alerts) {
    if (source !== 'cluster' || status !== 'firing' || rank(severity) < rank('error')) continue
    // An alert that starts exactly at one of the two times agrees.
    times.add(startsAt - TOGETHER).add(lastSeenAt + TOGETHER + 1)
  }
  return [...times].sort((a, b) => a - b)
}

/** Returns the number of turning points that are not later than a time. */
function intervalOf(time: number, times: readonly number[]): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((times[middle] ?? 0) <= time) low = middle + 1
    else high = middle
  }
  return low
}
