/** The type of a postmortem document and its sections. */
import type { Source } from '../event/event.ts'
import type { ChangeFact, CorrelationFact } from '../incident/facts.ts'
import type { TimelineRowText } from '../incident/timeline-rows.ts'
import type { Severity } from '../severity.ts'

/** A generated sentence and its evidence: `incident/<uuid>`, `alert/<uuid>`, `event/<uuid>`…. */
export type Sentence = { readonly text: string; readonly refs: readonly string[] }

/** One of the four facts at the top of a postmortem. */
export type KeyFact = {
  readonly label: 'Critical for' | 'Lasted' | 'No heartbeat for' | 'Detected after' | 'Cause' | 'Fix'
} & Sentence

/** Times are ISO 8601 UTC with milliseconds. Durations are in whole seconds. Null means unknown. */
export type Postmortem = {
  readonly header: {
    readonly title: string
    readonly severity: Severity
    readonly state: PostmortemState
    readonly revision: number
    readonly services: readonly string[]
    readonly incident: string
    /** The number of the incident. Absent from documents of earlier versions. */
    readonly number?: number | undefined
    readonly generatedAt: string
  }
  /** `addition`: written by a user. */
  readonly summary: {
    readonly sentences: readonly Sentence[]
    /** Absent from documents of earlier versions. */
    readonly facts?: readonly KeyFact[]
    readonly addition: string | null
  }
  /** `customers`: written by a user. */
  readonly impact: {
    readonly from: string
    readonly to: string | null
    readonly seconds: number | null
    readonly pods: readonly string[]
    readonly nodes: readonly string[]
    readonly lowestScore: number | null
    readonly alerts: Readonly<Record<Severity, number>>
    readonly sentences: readonly Sentence[]
    readonly customers: string | null
  }
  readonly detection: {
    readonly firstSignal: { readonly ref: string; readonly source: Source; readonly at: string } | null
    readonly openedBy: 'machine' | 'person'
    readonly sentences: readonly Sentence[]
  }
  readonly timeline: readonly TimelineRowText[]
  readonly contributing: {
    readonly from: string
    readonly to: string
    /** The suspected changes, most likely first. Confirmed changes come before all others. */
    readonly changes: readonly Contribution[]
    readonly sentences: readonly Sentence[]
  }
  /** `text`: written by a user. */
  readonly rootCause: { readonly text: string | null; readonly hints: readonly Sentence[] }
  readonly resolution: { readonly sentences: readonly Sentence[] }
  readonly metrics: { readonly ttd: Metric; readonly tta: Metric; readonly ttr: Metric }
  /** Written by a user. */
  readonly lessons: Lessons
  readonly actions: readonly Action[]
  readonly recurrence: { readonly days30: number; readonly days90: number; readonly sentences: readonly Sentence[] }
  /** All records referenced in the document, sorted by number. */
  readonly evidence: { readonly records: readonly Evidence[]; readonly sentences: readonly Sentence[] }
}

export type PostmortemState = 'draft' | 'final'

/**
 * A change with its linked conditions. `score` and `band` come from the suspect, and `reasons` come from the best link.
 */
export type Contribution = Pick<ChangeFact, 'kind' | 'ref' | 'outcome'> &
  Pick<CorrelationFact, 'score' | 'band' | 'reasons' | 'lagSeconds'> & {
    readonly verdict: 'confirmed' | null
    readonly sentence: Sentence
  }

/** `seconds`: null if it cannot be computed, for the reason given in `sentence`. */
export type Metric = { readonly seconds: number | null; readonly definition: string; readonly sentence: Sentence }

export type Lessons = Readonly<Record<'wentWell' | 'wentBadly' | 'lucky', string | null>>

export const ACTION_STATES = ['proposed', 'open', 'done', 'dropped'] as const

/** `because`: null if a user added the action. `due`: a date such as `2026-03-31`. */
export type Action = {
  readonly id: string
  readonly text: string
  readonly because: Sentence | null
  readonly owner: string | null
  readonly due: string | null
  readonly state: (typeof ACTION_STATES)[number]
}

export type Evidence = {
  readonly ref: string
  readonly text: string | null
  readonly labels: Readonly<Record<string, string>>
  /** http(s) URLs by name. */
  readonly links: Readonly<Record<string, string>>
}
