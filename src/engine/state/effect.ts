/** What a batch appends: records that are never changed, and moves of many records at once. */
import type { AlertTexts } from '../../domain/alert/alert.ts'
import type { ReceivedEvent } from '../../domain/alert/late-events.ts'
import type { LivePipeline } from '../../domain/correlation/change.ts'
import type { Labels, Rejected, Source, StoredEvent } from '../../domain/event/event.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { TimelineEntry } from '../../domain/incident/timeline-entries.ts'
import type { NotificationKind } from '../../domain/notification/kind.ts'
import type { Plan, Settings } from '../../domain/organization.ts'
import type { AliasRef } from '../../domain/service/service.ts'
import type { Severity } from '../../domain/severity.ts'
import type { WatchUpdate } from '../../domain/watch/object.ts'

export type Effect =
  /**
   * Moves all records from `from` to `into` and removes `from`. `labels`: the labels of the moved alerts, if any
   * silence exists.
   */
  | {
      readonly kind: 'service-merged'
      readonly from: LiveService
      readonly into: LiveService
      readonly labels: ReadonlyMap<number, Labels>
    }
  | {
      readonly kind: 'aliases-set'
      readonly organizationId: number
      readonly serviceId: number
      readonly aliases: readonly AliasRef[]
    }
  /** Stores the labels of one of an alert's several fingerprints. */
  | { readonly kind: 'fingerprint-described'; readonly description: DescribedFingerprint }
  /** What only the database has of an alert. The labels are those of the first item, the rest is of the newest. */
  | { readonly kind: 'alert-texts'; readonly alertId: number; readonly texts: AlertTexts }
  /** The alert can no longer be reopened. The alert leaves the live state, and its retention period starts at `at`. */
  | { readonly kind: 'alert-settled'; readonly alertId: number; readonly at: number }
  | { readonly kind: 'event-stored'; readonly event: StoredEvent }
  /** What a watch of a cluster has seen. The next start resumes there. */
  | { readonly kind: 'watch-saved'; readonly organizationId: number; readonly update: WatchUpdate }
  | { readonly kind: 'item-rejected'; readonly rejection: StoredRejection }
  | {
      readonly kind: 'image-pulled'
      readonly organizationId: number
      readonly serviceId: number
      readonly image: PulledImage
      readonly isNew: boolean
    }
  | {
      readonly kind: 'pipeline-changed'
      readonly organizationId: number
      readonly pipeline: LivePipeline
      readonly eventRowId: number
    }
  /** Moves alerts and timeline entries to another incident. Entries about the incident itself are not moved. */
  | {
      readonly kind: 'incident-merged'
      readonly from: number
      readonly into: number
      readonly ownEntries: readonly string[]
    }
  /** Adds a status to a service's history, valid from `at`. */
  | {
      readonly kind: 'state-recorded'
      readonly serviceId: number
      readonly at: number
      readonly health: LiveService['health']
    }
  | { readonly kind: 'timeline-added'; readonly incidentId: number; readonly entry: TimelineEntry }
  /** The incident was resolved at `at`. Its postmortem is generated from the saved records after the commit. */
  | { readonly kind: 'postmortem-due'; readonly incident: LiveIncident; readonly at: number }
  /** The store queues a message for each channel with a matching rule in the same commit. */
  | {
      readonly kind: 'notification-due'
      readonly change: NotificationKind
      readonly incident: LiveIncident
      readonly service: LiveService
      /** Null unless the severity changed. */
      readonly severityBefore: Severity | null
      /** The critical conditions that the message names. */
      readonly conditions: readonly string[]
      /** The UUIDs of the alerts that are news; absent if all that is critical is. */
      readonly others?: readonly string[]
      readonly actor: string | null
      readonly at: number
      /** Whether an all-clear was disproved. */
      readonly wasWrong: boolean
      /** Whether a user took an acknowledgement back. */
      readonly isTakenBack: boolean
      /** The incident into which this one was merged; null if it was not. */
      readonly mergedInto: LiveIncident | null
      /** When to send the digest of a flapping incident; null to send the message by itself. */
      readonly digestAt: number | null
      /** When to tell those who were told of the incident. Others are told at once. */
      readonly toldAt: number
    }
  /**
   * Alerts became part of an incident, or are critical in it again. The rules of a channel that was not told of the incident may match it now.
   * `isReturn`: they were part of it, and fire again. A channel that was off then may not have been told of them.
   */
  | {
      readonly kind: 'alerts-joined'
      readonly organizationId: number
      readonly incidentId: number
      readonly at: number
      readonly isReturn: boolean
      readonly isMoved: boolean
      /** The row ids of the alerts, if they are known. */
      readonly alertIds: readonly number[]
    }
  /** The store recomputes the links from the history in the same commit. */
  | { readonly kind: 'links-due'; readonly due: LinksDue }
  /** Stores a response, and deletes all responses that are older than a day. */
  | { readonly kind: 'answer-stored'; readonly answer: StoredAnswer }
  | {
      readonly kind: 'organization-changed'
      readonly organizationId: number
      readonly id: string
      readonly name: string
      readonly plan: Plan
      readonly settings: Settings
    }

/** `alertId`: the alert's row id. `generator`: the URL of the rule in the sender, or null. */
export type DescribedFingerprint = {
  readonly alertId: number
  readonly fingerprint: string
  readonly labels: Labels
  readonly generator: string | null
}

export type StoredRejection = Rejected & {
  readonly id: string
  readonly organizationId: number
  readonly source: Source
  readonly receivedAt: number
}

type PulledImage = {
  readonly path: string
  readonly tag: string | null
  readonly at: number
  /** The CI projects that may have built the image, in lower case. */
  readonly projects: readonly string[]
}

/** Which links between a service's changes and conditions to recompute. */
export type LinksDue = {
  readonly service: LiveService
  readonly of: /** A condition observed from `firstSeenAt` to `at`. */
    | { readonly kind: 'condition'; readonly alertId: number; readonly firstSeenAt: number; readonly at: number }
    /** A condition that started earlier than was known when its links were computed. */
    | { readonly kind: 'start'; readonly alertId: number; readonly at: number }
    /** Changes that started within this period. */
    | { readonly kind: 'changes'; readonly from: number; readonly to: number }
    | { readonly kind: 'pipeline'; readonly ref: string }
    /** A scaling event, which may be the start of a rollout. */
    | { readonly kind: 'scaling'; readonly eventId: string; readonly at: number }
    /** A change that was moved to another service. */
    | { readonly kind: 'moved'; readonly change: 'pipeline' | 'rollout'; readonly ref: string }
  readonly now: number
}

type StoredAnswer = {
  readonly organizationId: number
  readonly source: Source
  readonly key: string
  readonly answer: string
  readonly receivedAt: number
}

/** Returns the fields of an event that can end a condition of its service; null for other events. */
export function endingEventOf({ kind, name, object, text, at }: StoredEvent): ReceivedEvent | null {
  return kind === 'info' || kind === 'change' || kind === 'success' ? { kind, name, object, text, at } : null
}
