/** A silence, as it is in the live state. */
import type { Labels } from '../event/event.ts'
import type { Matcher } from './matcher.ts'
import type { Period } from './silence.ts'

/**
 * A silence that is active or pending, or that ended within the last hour. `schedule`: null if the silence applies
 * without interruptions.
 */
export type LiveSilence = Period & {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly matchers: readonly Matcher[]
  readonly comment: string
  readonly createdBy: string
  readonly createdAt: number
  /** How many times the silence was changed. */
  readonly revision: number
  /** The next time the silence starts or ends; null for never. */
  readonly changesAt: number | null
  /** Whether the matchers are compared only with the alert's labels, as in Alertmanager. */
  readonly labelsOnly: boolean
  /** Only silences that were made with Alertmanager's API have annotations. */
  readonly annotations: Labels
}
