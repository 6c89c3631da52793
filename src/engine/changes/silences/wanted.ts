/** Checks a silence that somebody wants. */
import { BUDGETS } from '../../../domain/budgets.ts'
import { IncmonError } from '../../../domain/error.ts'
import type { Labels } from '../../../domain/event/event.ts'
import { expressionSizeOf, type Matcher, matchersFault } from '../../../domain/silence/matcher.ts'
import { type Schedule, scheduleFault, windowFault } from '../../../domain/silence/silence.ts'
import type { Context } from '../../state/context.ts'

export type WantedSilence = {
  readonly matchers: readonly Matcher[]
  readonly startsAt: number
  readonly endsAt: number
  readonly schedule: Schedule | null
  readonly comment: string
  /** See `LiveSilence`. Default: false. */
  readonly labelsOnly?: boolean
  /** Default: none. */
  readonly annotations?: Labels
}

const MAX_EXPRESSIONS = BUDGETS.expressions.value

/** Refuses regular expressions beyond the limit of the organization, because each alert is compared with all of them. */
export function refuseExpressions(
  { state }: Context,
  matchers: readonly Matcher[],
  except: number | null,
  now: number,
): void {
  const own = expressionSizeOf(matchers)
  if (own === 0) return
  const others = [...state.silences.values()].filter(({ silence }) => silence.endsAt > now && silence.rowId !== except)
  const used = others.reduce((sum, { compiled }) => sum + compiled.expressionSize, 0)
  if (used + own <= MAX_EXPRESSIONS) return
  throw new IncmonError(
    'conflict',
    'the regular expressions of all silences together are too large: use = instead of =~, or expire silences',
  )
}

export function refuseFaults({ matchers, startsAt, endsAt, schedule }: WantedSilence, now: number): void {
  const unusable = matchersFault(matchers)
  if (unusable !== null) throw invalid('matchers', unusable)
  if (endsAt <= now) throw invalid('endsAt', 'is in the past; send a later time')
  if (endsAt <= startsAt) throw invalid('endsAt', 'must be later than startsAt')
  const fault = schedule && scheduleFault(schedule)
  if (fault) throw invalid(`schedule.${fault.path}`, fault.message)
  const impossible = schedule && windowFault({ startsAt, endsAt, schedule }, now)
  if (!impossible) return
  const message = `${impossible}: send a later endsAt`
  throw new IncmonError('unprocessable', `schedule: ${message}`, [{ path: 'schedule', message }])
}

function invalid(path: string, message: string): IncmonError {
  return new IncmonError('invalid', `body: ${path}: ${message}`, [{ path, message }])
}
