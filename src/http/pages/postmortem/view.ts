/** The data of the postmortem page. */
import type { Postmortem } from '../../../domain/postmortem/postmortem.ts'
import type { Reader } from '../../../domain/shown-time.ts'
import type { LanePicture } from '../drawing/lane-model.ts'
import type { IncidentHead } from '../incident/view.ts'

/** A part written by people, by its name in forms. */
export type PartName = 'summary' | 'customers' | 'rootCause' | 'wentWell' | 'wentBadly' | 'lucky'

export type PostmortemView = {
  readonly reader: Reader
  readonly csrf: string
  readonly canWrite: boolean
  readonly incident: IncidentHead
  readonly document: Postmortem
  readonly picture: LanePicture
  /** The part that is being edited; null if none. */
  readonly editing: PartName | null
  /** The text that was refused, and the reason; null if none was refused. */
  readonly refused: { readonly text: string; readonly why: string } | null
}
