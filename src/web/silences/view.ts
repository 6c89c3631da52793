/** Data and form values for the silence pages. Times are Unix times in milliseconds. */

import type { Operator } from '../../domain/silence/matcher.ts'
import type { LiveSilence, SilenceStatus } from '../../domain/silence/silence.ts'

export type SilenceView = Omit<LiveSilence, 'rowId' | 'organizationId' | 'revision'> & {
  readonly status: SilenceStatus
  /** The number of firing alerts that are currently silenced by this silence. */
  readonly matching: number
}

export type SilencePreview = {
  readonly matching: number
  readonly matchingLast30Days: number
  readonly warning: string | null
}

/** The durations offered in the form. */
export const LENGTHS = [
  ['30m', '30 min', 1_800_000],
  ['2h', '2 h', 7_200_000],
  ['8h', '8 h', 28_800_000],
  ['1d', '1 day', 86_400_000],
  ['7d', '7 days', 604_800_000],
] as const
type Length = (typeof LENGTHS)[number][0] | 'until'

/** The submitted fields of a silence. `startsAt` and `endsAt` are local times such as 2026-11-22T18:00, or empty. */
export type SilenceForm = {
  readonly matchers: readonly { readonly name: string; readonly op: Operator; readonly value: string }[]
  readonly startsAt: string
  readonly length: Length
  readonly endsAt: string
  readonly zone: string
  readonly isWeekly: boolean
  readonly weekdays: readonly string[]
  readonly from: string
  readonly to: string
  readonly comment: string
  /** The revision that the form was opened with; '' for a new silence. */
  readonly revision: string
}
