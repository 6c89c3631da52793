/** Determines the first symptom of an incident. */
import type { Source } from '../event/event.ts'

/**
 * Returns the alert that started first. If several alerts started at the same time, returns the first of them in the
 * list. CI alerts are returned only if there are no other alerts, because a CI alert means that a change failed and not
 * that a service has a problem.
 */
export function firstSymptom<A extends { readonly source: Source; readonly startsAt: number }>(
  alerts: readonly A[],
): A | undefined {
  const conditions = alerts.filter(({ source }) => source !== 'ci')
  const all = conditions.length > 0 ? conditions : alerts
  return all.reduce<A | undefined>((first, one) => (first && first.startsAt <= one.startsAt ? first : one), undefined)
}
