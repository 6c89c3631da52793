/** What a sender is told about its delivery. */

import type { Alert, Change } from '../../../domain/alert/alert.ts'
import type { DraftJudgement } from '../../../domain/alert/judgement.ts'
import type { shownPenalty } from '../../../domain/health/penalty-text.ts'
import type { IncidentOutcome, SuspectsAsked } from '../outcome.ts'
import type { Shortage } from '../room.ts'

export type Receipt = {
  /** One event UUID per accepted item, in order. */
  readonly eventIds: string[]
  readonly rejected: { readonly index: number; readonly error: string }[]
  /** Warnings about ignored problems in accepted items. Absent if there are no warnings. */
  readonly warnings?: readonly Warning[]
  /** Whether every item merely repeats the last event of its alert. */
  readonly isRepeat: boolean
  /** Accepted items that were not stored because a limit is reached. Their sender sends them again. */
  readonly refused?: { readonly items: number; readonly shortage: Shortage } | undefined
  /** Whether the same Idempotency-Key was sent with a different body in the last 24 hours. */
  readonly isKeyReused?: boolean
  /** Dry runs only: the decisions for each accepted item, with the rule behind each decision. */
  readonly decisions?: ItemDecision[]
}

export type Warning = { readonly index: number; readonly warning: string }

/** A suspected cause of an incident. */
type SuspectSummary = {
  readonly ref: string
  readonly score: number
  readonly reasons: readonly { readonly code: string; readonly text: string }[]
}

/** The decisions for one item in a dry run. */
export type ItemDecision = {
  readonly index: number
  /** Tells the engine which alert to compute links for. */
  readonly alertRowId?: number
  /** Tells the engine which suspects to look up. */
  readonly asked?: SuspectsAsked | null
  readonly event: DraftJudgement['event']
  /** The correction for the sender's clock, in milliseconds. Positive if the sender's clock is ahead. */
  readonly clockOffset: number
  readonly service: {
    readonly cluster: string
    readonly namespace: string
    readonly name: string
    readonly rule: string
    readonly isNew: boolean
  }
  readonly alert: null | {
    readonly change: Change
    readonly name: string
    readonly severity: string
    readonly status: string
    readonly fingerprint: string
    readonly rules: Readonly<Record<keyof Alert['rules'], string>>
  }
  readonly health: null | {
    readonly status: string
    readonly score: number
    readonly penalties: readonly ReturnType<typeof shownPenalty>[]
  }
  readonly correlations: readonly LinkSummary[]
  /** What happens to incidents; null for an event without an alert. */
  readonly outcome: IncidentOutcome | null
  /** The likeliest causes of the incident, best first. */
  readonly suspects: readonly SuspectSummary[]
}

/** A link between a condition and a change. */
type LinkSummary = {
  readonly change: string
  readonly score: number
  readonly band: string
  readonly reasons: readonly { readonly code: string; readonly text: string }[]
}
