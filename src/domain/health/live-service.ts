/** A service with its health, as it is in the live state. */
import type { Health } from './health.ts'

/** `id` is the public UUID, and `rowId` is the integer key in the database. Times are Unix times in milliseconds. */
export type LiveService = {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly cluster: string
  readonly namespace: string
  readonly name: string
  readonly health: Pick<Health, 'status' | 'score' | 'penalties'>
  /** When the service's last condition ended; null while a condition is firing. */
  readonly healthySince: number | null
  /**
   * Whether a user resolved an incident while its alerts were firing. These alerts open no new incident until they have
   * ended once.
   */
  readonly suppressed: boolean
  readonly lastAlertAt: number | null
  readonly lastEventAt: number | null
  readonly createdAt: number
  /** When the evaluation may change without a new event, in ms UTC; null for never. */
  readonly evaluateAt: number | null
  /** The latest time of an event that can end a condition; null if not loaded. */
  readonly endingEventAt: number | null
  /** The time of the latest change; null if not loaded. */
  readonly changeAt: number | null
  /** Whether all of the service's events are from CI; null if not loaded. */
  readonly hasOnlyCi: boolean | null
}
