/** How long the problem of an incident was on, as pages say it. */
import { formatDuration } from '../../domain/shown-time.ts'
import { capitalized } from '../../domain/text.ts'
import type { IncidentHead } from './view.ts'

type State = Pick<IncidentHead, 'severity' | 'endedAt' | 'criticalMs' | 'mutedMs'>

/** Returns `critical for 12 min, not counting 20 min under a silence`; without a time below a second. */
export function lastedText({ severity, criticalMs, mutedMs }: Omit<State, 'endedAt'>): string {
  const length = criticalMs < 1000 ? severity : `${severity} for ${formatDuration(criticalMs)}`
  return mutedMs < 1000 ? length : `${length}, not counting ${formatDuration(mutedMs)} under a silence`
}

/** Returns `Critical for 12 min`, or `Was critical for 12 min` once the problem is over. */
export function stateText(state: State): string {
  return state.endedAt === null ? capitalized(lastedText(state)) : `Was ${lastedText(state)}`
}
