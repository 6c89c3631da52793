/** Determines the first symptom of an incident. */
import type { Source } from '../event/event.ts'
import type { Alert } from './alert.ts'

/**
 * Returns the alert that started first. If several alerts started at the same time, returns the first of them in the
 * list. Alerts of CI and of a failure of the monitoring are returned only if there are no other alerts, because they do
 * not say that a service has a problem.
 */
export function firstSymptom<
  A extends { readonly source: Source; readonly startsAt: number; readonly failure?: Alert['failure'] },
>(alerts: readonly A[]): A | undefined {
  const conditions = alerts.filter(({ source, failure }) => source !== 'ci' && failure !== 'monitoring')
  const all = conditions.length > 0 ? conditions : alerts
  return all.reduce<A | undefined>((first, one) => (first && first.startsAt <= one.startsAt ? first : one), undefined)
}
