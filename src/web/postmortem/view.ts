/** The data for the postmortem page. */

import type { GraphRecord } from '../../domain/graph/graph.ts'
import type { Postmortem } from '../../domain/postmortem/document.ts'
import type { Reader } from '../../domain/shown-time.ts'
import type { LanePicture } from '../drawing/lane-model.ts'
import type { IncidentHead } from '../incident/view.ts'

/** A section written by people, by its form field name. */
export type PartName = 'summary' | 'customers' | 'rootCause' | 'wentWell' | 'wentBadly' | 'lucky'

export type PostmortemView = {
  readonly reader: Reader
  readonly csrf: string
  readonly canWrite: boolean
  readonly incident: IncidentHead
  readonly document: Postmortem
  readonly picture: LanePicture
  readonly graph: GraphRecord | null
  /** The section being edited, or null. */
  readonly editing: PartName | null
  /** The rejected text and the reason, or null. */
  readonly refused: { readonly text: string; readonly why: string } | null
}
