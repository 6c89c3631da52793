/**
 * The records of the live state. Live records contain only the fields that the rules need. All other fields are stored
 * only in the database.
 */

import type { Alert } from '../alert/alert.ts'
import type { DeliveryInterval, Group } from '../alert/delivery-interval.ts'
import type { Fingerprint } from '../alert/fingerprints.ts'
import type { Lag } from '../alert/lag.ts'
import type { PipelineChange } from '../correlation/change.ts'
import type { Clock } from '../event/clock.ts'
import type { Labels, Links, Source } from '../event/event.ts'
import type { Hours } from '../event/heartbeat.ts'
import type { Health } from '../health/health.ts'
import type { IncidentStatus } from '../incident/incident.ts'
import type { Problem } from '../incident/problem.ts'
import type { Severity } from '../severity.ts'
import type { Matcher } from '../silence/matcher.ts'
import type { Period } from '../silence/silence.ts'

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

/** An alert's last stored event. `hash` is used to detect repeated notifications. */
export type LastEvent = { readonly rowId: number; readonly id: string; readonly hash: number }

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
export type AlertPart = { readonly container: string | null; readonly kind: string }

/** The fields of an alert that are stored only in the database. */
export type AlertTexts = { readonly labels: Labels; readonly annotations: Labels; readonly links: Links }

/** An incident that is unresolved or was resolved recently. */
export type LiveIncident = {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly serviceId: number
  readonly title: string
  readonly severity: Severity
  readonly status: IncidentStatus
  readonly origin: 'manual' | 'automatic'
  readonly cause: 'service' | 'silence'
  readonly createdAt: number
  readonly startedAt: number
  /** An acknowledgement lapses when the problem returns. */
  readonly acknowledgedAt: number | null
  readonly acknowledgedBy: string | null
  readonly resolvedAt: number | null
  /** The time of the last user action. */
  readonly touchedAt: number | null
  readonly alertCount: number
  /** The service's lowest score during the incident. */
  readonly lowestScore: number | null
  readonly problem: Problem
  /** The UUID of the service's last incident; null if this incident did not follow another one. */
  readonly previous: string | null
}

/** A sender is one receiver of one source in one cluster. */
export type LiveSender = {
  readonly rowId: number
  readonly organizationId: number
  readonly source: Source
  readonly cluster: string
  readonly receiver: string
  readonly events: number
  readonly rejections: number
  readonly lastEventAt: number | null
  readonly lastRejectionAt: number | null
  /** Whether the sender has ever reported the end of an alert. Such a sender is expected to report every end. */
  readonly reportsEnds: boolean
  /** Kubernetes events only: whether the sender has ever reported a repeat. */
  readonly reportsRepeats: boolean
  /** Kubernetes events only: the sender's delay; null before the first event. */
  readonly lag: Lag | null
  /** The offset of the sender's clock from the server's; null if unknown. */
  readonly clock: Clock | null
  /**
   * Whether the sender names its cluster, by its token or in every item of its last delivery; null before the first
   * item.
   */
  readonly namesCluster: boolean | null
  /** The delivery interval across all of the sender's groups. */
  readonly deliveryInterval: DeliveryInterval
  /** The number of events from the sender in each of the last 24 hours. */
  readonly hours: Hours
  readonly heartbeatAt: number | null
  readonly heartbeatGap: number
  /** When a missing heartbeat opens an incident. Null before the first heartbeat, and while that incident is open. */
  readonly heartbeatDueAt: number | null
}

export type LiveGroup = Group & { readonly rowId: number; readonly senderId: number; readonly key: string }

export type LivePipeline = PipelineChange & { readonly serviceId: number }

/** An image that a service pulled. `tag` is null if the image is untagged. */
export type LiveImage = { readonly path: string; readonly tag: string | null }

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

/** The tables of the live state whose changed rows are saved. */
export type Rows = {
  readonly services: LiveService
  readonly alerts: LiveAlert
  readonly incidents: LiveIncident
  readonly senders: LiveSender
  readonly groups: LiveGroup
  readonly silences: { readonly silence: LiveSilence }
}
