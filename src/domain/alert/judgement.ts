/** The classification of a draft: the event to store, and the signal for an alert. */

import type { Labels, StoredEvent } from '../event/event.ts'
import { cutText } from '../text.ts'
import type { Signal } from './alert.ts'

export type DraftJudgement = {
  /** The fields of the event to store, apart from the payload. */
  readonly event: Pick<StoredEvent, 'name' | 'severity' | 'text'> & {
    readonly kind: EventKind
    /** The object of the event, for example `Pod/cart-1` or `Ref/main`; '' if there is none. */
    readonly object: string
  }
  /** The condition that starts or ends; null if the draft is only stored. */
  readonly signal: Signal | null
  /** Whether the draft can end or explain earlier conditions of its service. */
  readonly tellsOfEnds: boolean
  /**
   * The fingerprint of a condition that the draft confirms without changing it. A job confirms the condition of its
   * pipeline.
   */
  readonly evidenceOf: string | null
}

/**
 * `success` and `failure` are pipeline results; a job that deployed is a `success`, too. A pipeline that is still running
 * or ended in any other way has the kind `pipeline`.
 */
type EventKind =
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
/** The number of characters to examine when shortening text to one line. */
const MAX_READ = 4 * LINE_LENGTH

/** Shortens a sender's text to one line of at most 300 characters. */
export function oneLine(text: string): string {
  // The pattern does not match single spaces, so most strings are not copied.
  const line = cutText(text, MAX_READ)
    .replace(/\s{2,}|[^\S ]/g, ' ')
    .trim()
  return line.length <= LINE_LENGTH ? line : `${line.slice(0, LINE_LENGTH - 1).toWellFormed()}…`
}
