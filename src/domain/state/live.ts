/** The records of the live state. They contain what the rules need, without texts for people. */

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
import type { Severity } from '../severity.ts'
import type { Matcher } from '../silence/matcher.ts'
import type { Period } from '../silence/silence.ts'

/** `id`: the UUID for clients. `rowId`: the integer key in the database. Times in milliseconds UTC. */
export type LiveService = {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly cluster: string
  readonly namespace: string
  readonly name: string
  readonly health: Pick<Health, 'status' | 'score' | 'penalties'>
  /** When the last condition of the service ended; null while a condition fires. */
  readonly healthySince: number | null
  /** A person resolved an incident while its condition fired. No new incident opens until the condition has ended. */
  readonly suppressed: boolean
  readonly lastAlertAt: number | null
  readonly lastEventAt: number | null
  readonly createdAt: number
  /** The next time at which the evaluation may change without an event, in ms UTC; null for never. */
  readonly evaluateAt: number | null
  /** The latest time of an event that may end a condition; null: not loaded. */
  readonly endingEventAt: number | null
  /** The time of the latest change; null: not loaded. */
  readonly changeAt: number | null
  /** Whether all its events came from CI; null: not loaded. */
  readonly hasOnlyCi: boolean | null
}

/** The last stored event of an alert. `hash` shows whether a notification repeats it. */
export type LastEvent = { readonly rowId: number; readonly id: string; readonly hash: number }

/** An alert that fires, or that a repeat can reopen. */
export type LiveAlert = {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly serviceId: number
  readonly incidentId: number | null
  readonly groupId: number | null
  /** The cluster of the sender's token, because two clusters may send equal fingerprints. */
  readonly cluster: string
  /** The next time at which the alert may change without an event, in ms UTC. */
  readonly dueAt: number
  readonly alert: Alert
  readonly fingerprints: readonly Fingerprint[]
  /** Null before the first event of the alert, or if the last event was pruned. */
  readonly lastEvent: LastEvent | null
  /** For a Kubernetes condition: the container, or the object's kind, from its fingerprint. */
  readonly part: AlertPart | null
  /** Row ids of the silences that apply to the alert, or that applied when the alert ended. */
  readonly silencedBy: readonly number[]
}
export type AlertPart = { readonly container: string | null; readonly kind: string }

/** The texts of an alert, which are only in the database. */
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
  readonly acknowledgedAt: number | null
  readonly resolvedAt: number | null
  /** The last action of a person. */
  readonly touchedAt: number | null
  readonly alertCount: number
  /** The lowest score of its service during the incident. */
  readonly lowestScore: number | null
}

/** A sender: one receiver of one source in one cluster. */
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
  /** Whether the sender has ever reported the end of an alert. It is then expected to report every end. */
  readonly reportsEnds: boolean
  /** For Kubernetes events: whether the sender has ever reported a repeat. */
  readonly reportsRepeats: boolean
  /** For Kubernetes events: the delay of the sender; null before the first event. */
  readonly lag: Lag | null
  /** The offset of the sender's clock from ours; null if there is none. */
  readonly clock: Clock | null
  /** Whether the sender's token or all items of its last delivery name a cluster; null before the first item. */
  readonly namesCluster: boolean | null
  /** The delivery interval over all groups of the sender. */
  readonly deliveryInterval: DeliveryInterval
  /** The number of the sender's events in each of the last 24 hours. */
  readonly hours: Hours
  readonly heartbeatAt: number | null
  readonly heartbeatGap: number
  /** When a missing heartbeat opens an incident; null while the heartbeat is missing, or before the first heartbeat. */
  readonly heartbeatDueAt: number | null
}

export type LiveGroup = Group & { readonly rowId: number; readonly senderId: number; readonly key: string }

export type LivePipeline = PipelineChange & { readonly serviceId: number }

/** An image that a service pulled. `tag` is null if the image has no tag. */
export type LiveImage = { readonly path: string; readonly tag: string | null }

/** A silence that is active or pending, or ended within the last hour. `schedule`: null for no interruptions. */
export type LiveSilence = Period & {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly matchers: readonly Matcher[]
  readonly comment: string
  readonly createdBy: string
  readonly createdAt: number
  /** The number of changes to the silence. */
  readonly revision: number
  /** The next time at which the silence starts or ends; null: never. */
  readonly changesAt: number | null
}
