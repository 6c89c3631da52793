/** The facts for a postmortem: all stored records of an incident. */
import type { Resolution } from '../alert/alert.ts'
import { type Change, type Outcome, outcomeOf } from '../correlation/change.ts'
import type { Band, Reason } from '../correlation/correlation.ts'
import type { Commit, Links, Source } from '../event/event.ts'
import type { Severity } from '../severity.ts'

/** Times in ms UTC. Lists are unordered except `suspects`. Null means unknown. */
export type PostmortemFacts = {
  readonly incident: IncidentFact
  /** The other services with alerts in the incident. Can be empty. */
  readonly services: readonly ServiceFact[]
  readonly alerts: readonly AlertFact[]
  /** The stored timeline entries. */
  readonly entries: readonly EntryFact[]
  /**
   * The services' events from `searched.from` until the resolution, or until the time of generation if there is no
   * resolution.
   */
  readonly events: readonly EventFact[]
  /** The services' changes within `searched`. */
  readonly changes: readonly ChangeFact[]
  readonly correlations: readonly CorrelationFact[]
  /** The changes that may be the cause, most likely first; see `likelyChanges`. */
  readonly suspects: readonly SuspectFact[]
  /** The period that was searched for changes. */
  readonly searched: { readonly from: number; readonly to: number }
  /** The service's lowest score during the incident, 0 to 100. */
  readonly lowestScore: number | null
  /** Alerts with the same service, source and name in the 90 days before the incident. */
  readonly earlier: readonly EarlierFact[]
  /**
   * The earliest time from which alerts can be stored: the organization's creation, or the start of the retention
   * period.
   */
  readonly recordedSince: number
  /** The number of the organization's webhook items that were rejected during the incident. */
  readonly rejectedEvidence: number
  /** The number of this revision: 1 for the first resolution. */
  readonly revision: number
  readonly generatedAt: number
}

export type IncidentFact = {
  readonly uuid: string
  readonly title: string
  readonly severity: Severity
  readonly origin: 'manual' | 'automatic'
  /** `silence`: a missing heartbeat. */
  readonly cause: 'service' | 'silence'
  readonly createdAt: number
  readonly startedAt: number
  readonly acknowledgedAt: number | null
  readonly resolvedAt: number | null
  readonly service: ServiceFact
}

export type ServiceFact = { readonly uuid: string; readonly namespace: string; readonly name: string }

export type AlertFact = {
  readonly uuid: string
  /** The UUID of the alert's service. */
  readonly serviceId: string
  readonly source: Source
  readonly name: string
  readonly severity: Severity
  readonly startsAt: number
  /** When the alert ended; null while firing. `resolution` is also null while firing. */
  readonly endsAt: number | null
  readonly resolution: Resolution | null
  readonly lastSeenAt: number
  /** The number of events that reported the alert. */
  readonly occurrences: number
  readonly summary: string
  readonly labels: Readonly<Record<string, string>>
  readonly links: Links
  readonly node: string | null
  /** The objects that the alert's events are about, for example `Pod/cart-1` or `Node/worker-3`. */
  readonly objects: readonly string[]
  readonly failure: string | null
  /** A hint about the usual cause. */
  readonly hint: string | null
}

export type EntryFact = {
  readonly at: number
  readonly kind: string
  readonly text: string
  /** The token's name; null for automatic changes. */
  readonly actor: string | null
  readonly ref: string | null
}

export type EventFact = {
  readonly uuid: string
  readonly at: number
  readonly source: Source
  readonly kind: string
  readonly name: string
  readonly object: string
  readonly text: string
  readonly alertId: string | null
}

export type ChangeFact = {
  readonly kind: Change['kind']
  /** `group/project#31` or `shop/cart@5d4f8c7b9`. */
  readonly ref: string
  /** The UUID of the newest event about the change. */
  readonly eventId: string
  readonly startsAt: number
  readonly endsAt: number
  /** Null for a rollout. */
  readonly outcome: Outcome | null
  readonly branch: string | null
  readonly sha: string | null
  readonly commit: Commit | null
  /** The pipeline's page in GitLab; null if unknown. */
  readonly url: string | null
  /** The failed jobs, with the reason if the sender reported one. */
  readonly failedJobs: readonly { readonly name: string; readonly reason: string | null }[]
}

export type CorrelationFact = {
  readonly uuid: string
  readonly change: { readonly kind: Change['kind']; readonly ref: string }
  readonly alertId: string
  /** 0.2 to 1. */
  readonly score: number
  readonly band: Band
  readonly reasons: readonly Reason[]
  /** The time from the start of the change to the most significant event; negative if the event came first. */
  readonly lagSeconds: number
  readonly verdict: 'confirmed' | 'rejected' | null
  readonly createdAt: number
  /** The start of the earliest alert, if this record combines the links to several similar alerts. */
  readonly symptomAt?: number
}

/** `score`: 0 to 1. `change`: null if only a link to the change is stored. */
export type SuspectFact = {
  readonly kind: Change['kind']
  readonly ref: string
  readonly change: ChangeFact | null
  readonly score: number
  readonly reasons: readonly Reason[]
}

/** `ref`: `alert/<uuid>`. */
export type EarlierFact = { readonly ref: string; readonly name: string; readonly startsAt: number }

/** Converts a change to a fact for a postmortem. */
export function changeFact(change: Change): ChangeFact {
  const { kind, ref, eventId, startsAt, endsAt } = change
  const common = { kind, ref, eventId, startsAt, endsAt }
  if (change.kind === 'rollout')
    return { ...common, outcome: null, branch: null, sha: null, commit: null, url: null, failedJobs: [] }
  const { branch, sha, commit, url, jobs } = change.facts
  const failed = jobs.filter(({ status, allowFailure }) => status === 'failed' && !allowFailure)
  const failedJobs = failed.map(({ name, failureReason }) => ({ name, reason: failureReason }))
  const known = { branch, sha, commit: commit ?? null, url: url ?? null }
  return { ...common, ...known, outcome: outcomeOf(change.facts), failedJobs }
}
