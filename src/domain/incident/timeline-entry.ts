/** An entry of an incident's timeline, as it is stored. */
import type { Resolution } from '../alert/alert.ts'
import type { SeverityChange } from '../alert/fingerprints.ts'
import type { LiveAlert } from '../alert/live-alert.ts'
import { isNotification } from '../event/event.ts'
import { rank, type Severity } from '../severity.ts'
import type { IncidentStatus } from './incident.ts'

export type TimelineEntry = {
  readonly at: number
  readonly kind: 'opened' | 'reopened' | 'status' | 'alert' | 'ended' | 'note' | 'edited' | 'merged' | 'silence'
  /**
   * The new status of `status` and `reopened`, how the alert of `ended` ended, what became of the one of `alert`, and for
   * `silence` whether it begins or no longer applies. Null for all other kinds.
   */
  readonly code: IncidentStatus | Resolution | 'severity' | 'again' | 'doubt' | 'silenced' | 'unsilenced' | null
  /**
   * The reason of a status, which can be ''. The alert's name for `ended` and `alert`. A sentence or a note for all other
   * kinds.
   */
  readonly text: string
  readonly facts?: EntryFacts | null
  /** The token's name, or `the command line`; null for automatic changes. */
  readonly actor: string | null
  /** `alert/<uuid>`, `incident/<uuid>` or `silence/<uuid>`; null if there is no record to link to. */
  readonly ref: string | null
}

/** `alerts`: the names, each with the number of alerts; empty if an earlier version stored only the sentence. */
export type EntryFacts =
  /** A user resolved the incident while alerts were firing, or although no end of them was reported. */
  | { readonly code: 'firing' | 'unreported'; readonly alerts: readonly (readonly [name: string, count: number])[] }
  /** An incident is open again whose problem was not over. */
  | { readonly code: 'disproved' }
  /** The change of `severity`. `from`: null if unknown. `summary`: what the sender said of an alert that got worse. */
  | { readonly code: 'severity'; readonly from: Severity | null; readonly to: Severity; readonly summary?: string }

/** Returns the entry of an alert whose severity changed. */
export function severityEntry({ id, alert }: LiveAlert, { from, at }: SeverityChange): TimelineEntry {
  const isRise = isNotification(alert) && rank(alert.severity) > rank(from ?? 'info')
  const words = isRise && alert.summary !== alert.name ? { summary: alert.summary } : {}
  const facts = { code: 'severity', from, to: alert.severity, ...words } as const
  return { at, kind: 'alert', code: 'severity', text: alert.name, facts, actor: null, ref: `alert/${id}` }
}

/** Returns the names of alerts in order, each with the number of alerts. */
export function countedNames(alerts: readonly { readonly name: string }[]) {
  const byName = Map.groupBy(alerts, ({ name }) => name)
  return [...byName].map(([name, { length }]) => [name, length] as const).sort()
}
