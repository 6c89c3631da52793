/** The data for the postmortem page. */

import type { Postmortem } from '../../domain/postmortem/document.ts'
import type { IncidentView } from '../incident/view.ts'

/** A section written by people, by its form field name. */
export type PartName = 'summary' | 'customers' | 'rootCause' | 'wentWell' | 'wentBadly' | 'lucky'

export type PostmortemView = Pick<IncidentView, 'incident' | 'picture' | 'graph'> & {
  readonly document: Postmortem
  /** The section being edited, or null. */
  readonly editing: PartName | null
  /** The rejected text and the reason, or null. */
  readonly refused: { readonly text: string; readonly why: string } | null
}
