/** An event, as it is stored. */
import type { Severity } from '../severity.ts'
import type { Source } from './event.ts'

export type StoredEvent = {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly serviceId: number | null
  readonly alertId: number | null
  readonly source: Source
  readonly kind: string
  readonly name: string
  readonly object: string
  readonly severity: Severity
  readonly text: string
  /** The number of occurrences reported by the sender. */
  readonly count: number
  /** The key `cluster/namespace/name` of a service that does not exist yet. */
  readonly awaited: string | null
  /**
   * The time of the first occurrence counted in this event; `at` is the time of the last occurrence. Unix times in
   * milliseconds.
   */
  readonly firstSeenAt: number
  readonly at: number
  readonly receivedAt: number
  /** The received JSON, with secrets replaced. */
  readonly body: string
}
