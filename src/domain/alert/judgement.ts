/** Judgements: what is kept and concluded of one draft. */

import type { Labels } from '../event/event.ts'
import type { Severity } from '../severity.ts'
import type { Signal } from './alert.ts'

export type Judgement = {
  /** What is kept of the draft besides its payload. */
  readonly event: {
    readonly kind: EventKind
    readonly name: string
    /** `Pod/cart-1`, `Ref/main`; '' where it names none. */
    readonly object: string
    readonly severity: Severity
    readonly text: string
  }
  /** The condition that it shows, or reports to be over; null for what is merely history. */
  readonly signal: Signal | null
  /** Whether it may end, or account for, conditions of its service that were seen before. */
  readonly tellsOfEnds: boolean
  /** The fingerprint of the condition that it is evidence of without changing it: a job's pipeline. */
  readonly evidenceOf: string | null
}

/** `success`, `failure`: of a pipeline; `pipeline`: one that is under way, or ended otherwise. */
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
/** More blanks than this between the words of a line are nobody's. */
const LONGEST_READ = 4 * LINE_LENGTH

/** A sender's text as one line of at most 300 characters. */
export function oneLine(text: string): string {
  const line = text.slice(0, LONGEST_READ).replace(/\s+/g, ' ').trim()
  return line.length <= LINE_LENGTH ? line : `${line.slice(0, LINE_LENGTH - 1).toWellFormed()}…`
}
