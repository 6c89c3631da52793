/** An incident, as it is in the live state. */
import type { Severity } from '../severity.ts'
import type { IncidentStatus } from './incident.ts'
import type { Problem } from './problem.ts'

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
