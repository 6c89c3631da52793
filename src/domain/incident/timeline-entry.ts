/** An entry of an incident's timeline, as it is stored. */
import type { Resolution } from '../alert/alert.ts'
import type { SeverityChange } from '../alert/fingerprints.ts'
import type { LiveAlert } from '../alert/live-alert.ts'
import { type Severity, worst } from '../severity.ts'
import type { IncidentStatus } from './incident.ts'

export type TimelineEntry = {
  readonly at: number
  readonly kind: 'opened' | 'reopened' | 'status' | 'alert' | 'ended' | 'note' | 'edited' | 'merged' | 'silence'
  /**
   * The new status of `status` and `reopened`, how the alert of `ended` ended, for `alert` the worse severity of a
   * change, and for `silence` whether it begins or no longer applies. Null for all other kinds.
   */
  readonly code: IncidentStatus | Resolution | Severity | 'silenced' | 'unsilenced' | null
  /** The reason of a status, which can be ''. The alert's name for `ended`. A sentence or a note for all other kinds. */
  readonly text: string
  /** The token's name, or `the command line`; null for automatic changes. */
  readonly actor: string | null
  /** `alert/<uuid>`, `incident/<uuid>` or `silence/<uuid>`; null if there is no record to link to. */
  readonly ref: string | null
}

/** Returns the entry of an alert whose severity changed. */
export function severityEntry({ id, alert }: LiveAlert, { from, at }: SeverityChange): TimelineEntry {
  const text = `severity of ${alert.name} changed ${from === null ? '' : `from ${from} `}to ${alert.severity}`
  const code = worst(from ?? alert.severity, alert.severity)
  return { at, kind: 'alert', code, text, actor: null, ref: `alert/${id}` }
}
