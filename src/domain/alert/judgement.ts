/** The judgement about one draft: the event to store and the signal for an alert. */

import type { Labels } from '../event/event.ts'
import type { Severity } from '../severity.ts'
import type { Signal } from './alert.ts'

export type DraftJudgement = {
  /** The stored fields of the event, besides the payload. */
  readonly event: {
    readonly kind: EventKind
    readonly name: string
    /** For example `Pod/cart-1` or `Ref/main`; '' if the event has no object. */
    readonly object: string
    readonly severity: Severity
    readonly text: string
  }
  /** The condition that starts or ends; null if the draft is only stored in the history. */
  readonly signal: Signal | null
  /** Whether the draft can end or explain earlier conditions of its service. */
  readonly tellsOfEnds: boolean
  /**
   * The fingerprint of a condition that the draft supports as evidence but does not change: for a job, its pipeline.
   */
  readonly evidenceOf: string | null
}

/**
 * `success` and `failure` are the results of a pipeline. A pipeline that runs or ended in another way is `pipeline`.
 */
export type EventKind =
  | 'firing'
  | 'resolved'
  | 'heartbeat'
  | 'test'
  | 'info'
  | 'change'
  | 'success'
  | 'failure'
  | 'pipeline'
  | 'job'
  | 'other'

export const NO_LABELS: Labels = Object.freeze(Object.create(null))

const LINE_LENGTH = 300
/** Only this many characters are read for one line of text. */
const MAX_READ = 4 * LINE_LENGTH

/** Returns a sender's text as one line of at most 300 characters. */
export function oneLine(text: string): string {
  const line = text.slice(0, MAX_READ).replace(/\s+/g, ' ').trim()
  return line.length <= LINE_LENGTH ? line : `${line.slice(0, LINE_LENGTH - 1).toWellFormed()}…`
}
