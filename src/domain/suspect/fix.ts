/** Identifies changes that probably ended an incident and therefore did not cause it. */
import { type Change, outcomeOf } from '../correlation/change.ts'
import { isDuring } from './chain.ts'
import type { SuspectFacts } from './suspect.ts'

/** A fix takes effect within half an hour: new pods start, and alerts end with a delay. */
export const EFFECT = 30 * 60_000
/** A rollout can end a problem that comes back once while it replaces the pods. */
export const ROLLS_FOR = 5 * 60_000
const DEPLOYED = new Set(['deployed', 'deploying', 'success, jobs unknown'])

/**
 * Returns the changes that probably fixed the incident. For each service, returns the last deploy that started after
 * the service's first condition began, provided that all of the service's conditions ended after the deploy started.
 * Includes both the pipeline and its rollout.
 */
export function fixesOf({ incident, changes, alerts }: SuspectFacts): ReadonlySet<Change> {
  const conditions = alerts.filter(({ inIncident, severity }) => inIncident && severity !== 'info')
  const byService = Map.groupBy(conditions, ({ service }) => service)
  const fixes = [...byService].flatMap(([service, own]) => {
    const startsAt = Math.min(incident.startedAt, ...own.map((one) => one.startsAt))
    const endsAt = Math.max(...own.map((one) => one.endsAt ?? Number.POSITIVE_INFINITY))
    const repairs = changes.filter(
      (change) =>
        change.service === service &&
        (change.kind === 'rollout' || DEPLOYED.has(outcomeOf(change.facts))) &&
        change.startsAt > startsAt &&
        change.startsAt <= endsAt &&
        endsAt <= change.endsAt + EFFECT,
    )
    const last = repairs.toSorted((a, b) => b.startsAt - a.startsAt || (a.ref < b.ref ? -1 : 1))[0]
    const hasMade = (change: Change) => change.kind === 'pipeline' && last && isDuring(last.startsAt, change)
    return last ? repairs.filter((change) => change === last || hasMade(change)) : []
  })
  return new Set(fixes)
}
