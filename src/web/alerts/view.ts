/** The data for the alert pages. Times are Unix times in milliseconds. */

import type { Severity } from '../../domain/severity.ts'
import type { HistogramBin } from '../drawing/histogram.tsx'
import type { Span } from '../drawing/scale.ts'
import type { IncidentView, ServiceLink } from '../incident/view.ts'
import type { Silenced } from '../kit/silenced.tsx'

/** One row: a single alert, or a group of similar alerts. */
export type AlertRowView = {
  readonly name: string
  readonly href: string
  readonly count: number
  readonly summary: string
  /** The severity that the alert has in its service's score. */
  readonly severity: Severity
  /** The severity that the sender reported, if it differs from `severity`. */
  readonly sentAs?: Severity | undefined
  readonly service: ServiceLink
  /** The number of services. If there are several, the links of the row lead to a row for each. */
  readonly services: number
  readonly incidents: number
  readonly source: string
  readonly startsAt: number
  /** When the newest alert of the group started. */
  readonly lastStartsAt: number
  /** Null while the alert is firing. */
  readonly endsAt: number | null
  /** How long the alert has fired, or the group if it is one, without the breaks in between. */
  readonly lastedMs: number
  readonly hasBreaks: boolean
  /** How the end is known, for example `reported`; '' while the alert is firing. */
  readonly ending: string
  /** Whether nobody reported the end. */
  readonly isGuess: boolean
  readonly incident: { readonly number: string; readonly href: string } | null
  readonly silenced: Silenced | null
}

/** An active filter that has no form field. The filter is shown as a chip that can be removed. */
export type ChipView = { readonly text: string; readonly without: string; readonly field: readonly [string, string] }

export type AlertsView = {
  readonly filters: {
    readonly range: string
    readonly status: string
    readonly severity: string
    readonly source: string
    readonly q: string
    readonly group: boolean
  }
  readonly ranges: readonly (readonly [string, string])[]
  readonly chips: readonly ChipView[]
  readonly span: Span
  readonly bins: readonly HistogramBin[]
  readonly rows: readonly AlertRowView[]
  /** `total` counts all matching alerts, `shown` the alerts in the rows. */
  readonly total: number
  readonly shown: number
  readonly firing: number
  /** The number of rows on all pages: conditions, or alerts on this page if they are not grouped. */
  readonly groups: number
  readonly page: number
  readonly pages: number
  readonly addressOf: (page: number) => string
}

export type AlertPageView = Pick<IncidentView, 'overdue' | 'graph'> & {
  /** The number of firing alerts that a silence of alerts like this one mutes. */
  readonly mutes: number
  readonly alert: AlertRowView & {
    readonly id: string
    readonly occurrences: number
    readonly lastSeenAt: number
  }
  /** The node on which the alert's object runs; null if there is no service for this node. */
  readonly node: { readonly name: string; readonly href: string } | null
  readonly labels: readonly (readonly [string, string])[]
  readonly annotations: readonly (readonly [string, string])[]
  readonly rules: readonly (readonly [string, string])[]
  readonly links: readonly { readonly name: string; readonly address: string }[]
  readonly changes: readonly { readonly ref: string; readonly text: string }[]
  /** Identical events share an entry. `firstAt` is the time of the first event. `at` is the time of the last event. */
  readonly events: readonly {
    readonly at: number
    readonly firstAt: number
    readonly count: number
    readonly name: string
    readonly text: string
    readonly object: string
  }[]
}
