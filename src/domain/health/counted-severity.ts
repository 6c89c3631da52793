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
  const counted = groups.map((group) => {
    if (!service || group.serviceId !== service.id || group.firing === 0) return group
    const points = service.health.flatMap(({ reason, penalty }) =>
      reason.startsWith(`${group.name}: `) ? [penalty] : [],
    )
    if (points.length === 0) return group
    const severity = penaltySeverity(Math.max(...points))
    return rank(severity) > rank(group.severity) ? { ...group, severity, sentAs: group.severity } : group
  })
  return counted.toSorted((a, b) => rank(b.severity) - rank(a.severity))
}
