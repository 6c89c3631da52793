/** The order of incidents on pages: what still burns comes first, and what went first leads. */
import { ordered } from '../order.ts'
import { rank } from '../severity.ts'
import { type Rated, severityNow } from './lasted.ts'
import type { LiveIncident } from './live-incident.ts'
import { problemAt } from './problem.ts'

/** `services`: the number of services that the incident affects. */
type Ranked = Rated &
  Pick<LiveIncident, 'id' | 'startedAt' | 'createdAt'> & {
    readonly services: number
  }

/**
 * Sorts incidents: first those whose problem is on, then by severity, by the number of affected services, and by the
 * start of the problem. In a storm, the origin is therefore above its victims.
 */
export function mostUrgentFirst<One extends Ranked>(incidents: readonly One[], now: number): readonly One[] {
  return ordered(incidents, (one) => [
    problemAt(one.problem, now) === 'on' ? 0 : 1,
    -rank(severityNow(one)),
    -one.services,
    one.startedAt,
    one.createdAt,
    one.id,
  ])
}
