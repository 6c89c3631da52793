/** What the page of a postmortem shows. */
import type { Postmortem } from '../../../domain/postmortem/postmortem.ts'
import type { Reader } from '../../../domain/shown-time.ts'
import type { LanePicture } from '../drawing/lane-model.ts'
import type { IncidentHead } from '../incident/view.ts'

/** A part that a person writes, by its name in forms. */
export type PartName = 'summary' | 'customers' | 'rootCause' | 'wentWell' | 'wentBadly' | 'lucky'

export type PostmortemView = {
  readonly reader: Reader
  readonly csrf: string
  readonly canWrite: boolean
  readonly incident: IncidentHead
  readonly document: Postmortem
  readonly picture: LanePicture
  /** The part that is being written now; null if none is. */
  readonly editing: PartName | null
  /** What was typed but could not be saved, and why; null if nothing was refused. */
  readonly refused: { readonly text: string; readonly why: string } | null
}
