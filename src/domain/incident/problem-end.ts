/** When the problem of an incident ended, as far as its senders reported it. */
import { formatDuration } from '../shown-time.ts'
import { formatTime } from '../text.ts'
import { MINUTE } from '../units.ts'
import type { Problem } from './problem.ts'

/** After how many milliseconds the end of a problem is known late, for example because another condition had no end. */
const LATE = 5 * MINUTE

/** Says that a problem is over. Adds its end if that was known late. */
export function endText({ isGuess, endedAt }: Problem, now: number): string {
  const isLate = !isGuess && endedAt !== null && now - endedAt >= LATE
  return isLate ? `the problem had ended at ${formatTime(endedAt)}` : 'the problem is over'
}

/** Returns why an incident was resolved: `known`, unless nobody reported the end of its problem. */
export function overText({ isGuess, endedAt }: Problem, now: number, known: string): string {
  return isGuess ? `the problem had not been reported for ${formatDuration(now - (endedAt ?? now))}` : known
}
