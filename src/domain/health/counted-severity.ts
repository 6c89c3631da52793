/**
 * Finds the severity that the score counts for each condition. This severity can be higher than the alert's severity,
 * for example if an event and an alert agree.
 */
import type { AlertGroup } from '../alert/groups.ts'
import { rank, type Severity } from '../severity.ts'
import { type Penalty, penaltySeverity } from './health.ts'

type Group = Pick<AlertGroup, 'serviceId' | 'name' | 'severity' | 'firing'>

/** Returns the groups with their counted severities, the highest first. `sentAs` is the severity of the alerts. */
export function countedGroups<One extends Group>(
  groups: readonly One[],
  service: { readonly id: string; readonly health: readonly Penalty[] } | undefined,
): readonly (One & { readonly sentAs?: Severity })[] {
  const points = pointsByName(service?.health ?? [])
  const counted = groups.map((group) => {
    const most = points.get(group.name)
    if (group.serviceId !== service?.id || group.firing === 0 || most === undefined) return group
    const severity = penaltySeverity(most)
    return rank(severity) > rank(group.severity) ? { ...group, severity, sentAs: group.severity } : group
  })
  return counted.toSorted((a, b) => rank(b.severity) - rank(a.severity))
}

/** Returns the groups of several services, each with its counted severity. `healthOf`: the penalties by service. */
export function countedByService<One extends Group>(
  groups: readonly One[],
  healthOf: ReadonlyMap<string, readonly Penalty[]>,
): readonly (One & { readonly sentAs?: Severity })[] {
  return [...Map.groupBy(groups, ({ serviceId }) => serviceId)].flatMap(([id, of]) =>
    countedGroups(of, { id, health: healthOf.get(id) ?? [] }),
  )
}

/** Returns the highest penalty by condition. */
function pointsByName(health: readonly Penalty[]): ReadonlyMap<string, number> {
  const points = new Map<string, number>()
  for (const { name, penalty } of health) points.set(name, Math.max(penalty, points.get(name) ?? penalty))
  return points
}
