/** An alert, as it is in the live state. */
import type { Alert, AlertPart } from './alert.ts'
import type { Fingerprint } from './fingerprints.ts'

/** An alert's last stored event. `hash` is used to detect repeated notifications. */
type LastEvent = { readonly rowId: number; readonly id: string; readonly hash: number }

/** An alert that is firing or that can still be reopened. */
export type LiveAlert = {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly serviceId: number
  readonly incidentId: number | null
  readonly groupId: number | null
  /** The cluster assigned to the sender's token. Two clusters can send equal fingerprints. */
  readonly cluster: string
  /** When the alert may change without a new event, in ms UTC. */
  readonly dueAt: number
  readonly alert: Alert
  /** Null if the alert has only its first fingerprint, which started with the alert and has not ended. */
  readonly fingerprints: readonly Fingerprint[] | null
  /** The last event; null before the first event, and after the last event has been pruned. */
  readonly lastEvent: LastEvent | null
  /** For Kubernetes conditions: the container or object kind that is part of the fingerprint. */
  readonly part: AlertPart | null
  /** Row ids of the silences that apply to the alert, or that applied when it ended. */
  readonly silencedBy: readonly number[]
}
