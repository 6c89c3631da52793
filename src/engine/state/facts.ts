/** The facts that a decision reads from the saved history. */
import type { ReceivedEvent } from '../../domain/alert/late-events.ts'
import type { LivePipeline } from '../../domain/correlation/change.ts'
import type { Labels, Source } from '../../domain/event/event.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { LiveImage } from '../../domain/service/image.ts'
import type { Severity } from '../../domain/severity.ts'
import type { LiveSilence } from '../../domain/silence/silence.ts'

/**
 * Facts that a decision can request from the history, by kind. `asked` is the type of the query, and `found` is the
 * type of the result.
 */
export type Facts = {
  /** The response stored for an Idempotency-Key after `since`, or null. */
  readonly answer: {
    readonly asked: { readonly source: Source; readonly key: string; readonly since: number }
    readonly found: string | null
  }
  /**
   * A service's events after `from` that can end a condition, earliest first. Includes events that named the service
   * before the service was created.
   */
  readonly endingEvents: {
    readonly asked: { readonly serviceId: number; readonly awaited: string; readonly from: number }
    readonly found: readonly ReceivedEvent[]
  }
  /**
   * Upper bounds in ms UTC; 0 if there is no such event. `endingEventAt`: for the time of the service's newest event
   * that can end a condition. `changeAt`: for the time of the service's newest change.
   */
  readonly newest: {
    readonly asked: { readonly serviceId: number; readonly awaited: string }
    readonly found: { readonly endingEventAt: number; readonly changeAt: number }
  }
  /** Whether any event still waits for a service of its name. */
  readonly hasAwaited: { readonly asked: object; readonly found: boolean }
  readonly hasOnlyCi: { readonly asked: { readonly serviceId: number }; readonly found: boolean }
  readonly images: { readonly asked: { readonly serviceId: number }; readonly found: readonly LiveImage[] }
  readonly pipeline: { readonly asked: { readonly ref: string }; readonly found: LivePipeline | null }
  /** The stored labels of alerts, by row id. */
  readonly labels: { readonly asked: { rowIds: readonly number[] }; readonly found: ReadonlyMap<number, Labels> }
  /** A silence that is not in the live state, by UUID. */
  readonly silence: { readonly asked: { readonly id: string }; readonly found: LiveSilence | null }
  /** An incident that is not in the live state, by UUID. */
  readonly incident: { readonly asked: { readonly id: string }; readonly found: LiveIncident | null }
  /** The node on which a pod of a service was last seen, or null. */
  readonly nodeOfPod: { readonly asked: { serviceId: number; pod: string }; readonly found: string | null }
  /** The newest events of a service since a time, oldest first. */
  readonly recentEvents: { readonly asked: Since; readonly found: readonly ReceivedEvent[] }
  /** How many notes and edits the timeline of an incident has, and the length of their texts in characters. */
  readonly notes: { readonly asked: { readonly incidentId: number }; readonly found: Notes }
  /** The number of the incident into which an incident was merged, or null. */
  readonly mergedInto: { readonly asked: { readonly incidentId: number }; readonly found: number | null }
  /** How many alerts an incident has whose newest postmortem is a draft; null if it has none, or a final one. */
  readonly alertsOfDraft: { readonly asked: { readonly incidentId: number }; readonly found: number | null }
  /** The event of a cluster that happened at this time; null if it is not stored. */
  readonly event: { readonly asked: Happened; readonly found: Stored | null }
  /** What the newest event of an alert said while it fired with this severity, or null. */
  readonly summary: {
    readonly asked: { readonly alertId: number; readonly severity: Severity }
    readonly found: string | null
  }
  /** The row id of an alert, by UUID. */
  readonly alert: { readonly asked: { readonly id: string }; readonly found: number | null }
}
export type FactKind = keyof Facts

type Since = { readonly serviceId: number; readonly from: number }
type Stored = { readonly rowId: number; readonly id: string }

/** What tells one event from another. */
type Happened = { readonly at: number; readonly object: string; readonly name: string; readonly text: string }

type Notes = { readonly entries: number; readonly length: number }

/** Reads the saved history. Records that the current batch has not saved yet are in the live state only. */
export type History = {
  readonly fact: (organizationId: number, kind: FactKind, asked: object) => unknown
  /** Returns whether the store caused an error. If so, the whole batch fails, and not just one record. */
  readonly isFault: (error: unknown) => boolean
}

/**
 * Reads each fact only once. Valid for one batch, because the saved history does not change while a batch is being
 * decided.
 */
export function readOnce({ fact, isFault }: History): History {
  const known = new Map<string, unknown>()
  return {
    fact: (organizationId, kind, asked) => {
      const key = `${organizationId} ${kind} ${JSON.stringify(asked)}`
      if (!known.has(key)) known.set(key, fact(organizationId, kind, asked))
      return known.get(key)
    },
    isFault,
  }
}

/** The kinds of timeline entries whose text people write. */
export const WRITTEN = ['note', 'edited'] as const
