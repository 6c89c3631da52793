/** The records of the live state. They contain what the rules need, without texts that only people read. */

import type { Alert } from '../alert/alert.ts'
import type { DeliveryInterval, Group } from '../alert/delivery-interval.ts'
import type { Fingerprint } from '../alert/fingerprints.ts'
import type { Lag } from '../alert/lag.ts'
import type { PipelineChange } from '../correlation/change.ts'
import type { Clock } from '../event/clock.ts'
import type { Labels, Links, Source } from '../event/event.ts'
import type { Hours } from '../event/hours.ts'
import type { Health } from '../health/health.ts'
import type { IncidentStatus } from '../incident/incident.ts'
import type { Severity } from '../severity.ts'
import type { Matcher } from '../silence/matcher.ts'
import type { Period } from '../silence/silence.ts'

/** `id` is the UUID that clients see, `rowId` the integer inside the file; times are milliseconds UTC. */
export type LiveService = {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly cluster: string
  readonly namespace: string
  readonly name: string
  readonly health: Pick<Health, 'status' | 'score' | 'penalties'>
  /** When its last condition ended; null while one fires. */
  readonly healthySince: number | null
  /** A person resolved an incident while its condition fired. No new incident opens until the condition has ended. */
  readonly suppressed: boolean
  readonly lastAlertAt: number | null
  readonly lastEventAt: number | null
  readonly createdAt: number
  /** When the evaluation may change without an event, in ms UTC; null for never. */
  readonly evaluateAt: number | null
  /** The newest time of an event that may end a condition; null: not known in memory. */
  readonly endingEventAt: number | null
  /** The newest time of a change; null: not known in memory. */
  readonly changeAt: number | null
  /** Whether only CI has sent events about it; null: not known in memory. */
  readonly hasOnlyCi: boolean | null
}

/** The last event that was stored for an alert; `hash` tells whether a notification repeats it. */
export type LastEvent = { readonly rowId: number; readonly id: string; readonly hash: number }

/** An alert that fires, or that a repeat can still reopen. */
export type LiveAlert = {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly serviceId: number
  readonly incidentId: number | null
  readonly groupId: number | null
  /** The cluster of the sender's token, because two clusters may send the same fingerprint. */
  readonly cluster: string
  /** When the alert may change without an event, in ms UTC. */
  readonly dueAt: number
  readonly alert: Alert
  readonly fingerprints: readonly Fingerprint[]
  /** Null before its first event, or if that was pruned. */
  readonly lastEvent: LastEvent | null
  /** Of a Kubernetes condition: the container, or the kind of the object, that its fingerprint contains. */
  readonly part: AlertPart | null
  /** Row ids of the silences that apply to it, or applied when it ended. */
  readonly silencedBy: readonly number[]
}
export type AlertPart = { readonly container: string | null; readonly kind: string }

/** The texts of an alert, which only the file keeps. */
export type AlertTexts = { readonly labels: Labels; readonly annotations: Labels; readonly links: Links }

/** An incident that is not resolved, or was lately. */
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
  /** The last act of a person. */
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
  /** Has ever sent a resolved item, and so is trusted to send them all. */
  readonly reportsEnds: boolean
  /** Of Kubernetes events: has ever reported a repeat. */
  readonly reportsRepeats: boolean
  /** Of Kubernetes events: how late it delivers; null before the first. */
  readonly lag: Lag | null
  /** How far its clock differs from ours; null if it does not. */
  readonly clock: Clock | null
  /** Whether its token or all items of its last delivery name a cluster; null before the first item. */
  readonly namesCluster: boolean | null
  /** The delivery interval over all its groups. */
  readonly deliveryInterval: DeliveryInterval
  /** Its events in the last 24 hours. */
  readonly hours: Hours
  readonly heartbeatAt: number | null
  readonly heartbeatGap: number
  /** When a missing heartbeat opens an incident; null while it is missing, or before the first. */
  readonly heartbeatDueAt: number | null
}

export type LiveGroup = Group & { readonly rowId: number; readonly senderId: number; readonly key: string }

export type LivePipeline = PipelineChange & { readonly serviceId: number }

/** An image that a service pulled; `tag` is null where none was written. */
export type LiveImage = { readonly path: string; readonly tag: string | null }

/** A silence that has not ended, or did within the last hour. `schedule` null: all the time. */
export type LiveSilence = Period & {
  readonly rowId: number
  readonly id: string
  readonly organizationId: number
  readonly matchers: readonly Matcher[]
  readonly comment: string
  readonly createdBy: string
  readonly createdAt: number
  /** Counts the changes. */
  readonly revision: number
  /** When it next begins or stops to apply; null: never. */
  readonly changesAt: number | null
}
