/** What the overview shows, filled by http from the store. Times in milliseconds UTC, addresses begin with `/`. */
import type { Headline, ServiceState } from '../../../domain/health/headline.ts'
import type { StripBin } from '../../../domain/health/strip.ts'
import type { Severity } from '../../../domain/severity.ts'
import type { Reader } from '../../../domain/shown-time.ts'
import type { LikelyCause } from '../../../domain/suspect/likely-cause.ts'
import type { LanePicture } from '../drawing/lane-model.ts'
import type { IncidentHead, SuspectView } from '../incident/view.ts'
import type { Silenced } from '../kit/silenced.tsx'

/** An incident that is not resolved. */
export type OpenIncidentView = {
  readonly incident: IncidentHead
  /** Null if its suspects are not shown here. */
  readonly cause: LikelyCause<SuspectView> | null
  readonly firstAlertAt: number | null
  /** Only the first incident has a picture. */
  readonly picture: LanePicture | null
  /** Short facts: `447 alerts`. */
  readonly facts: readonly string[]
  /** `Healthy again since 01:52. …`; null if it goes on. */
  readonly recovery: string | null
}

export type ServiceRowView = {
  readonly id: string
  readonly href: string
  readonly namespace: string
  readonly name: string
  readonly status: ServiceState
  readonly score: number
  /** The last 24 hours, and the same in words; null if no history is kept. */
  readonly strip: { readonly bins: readonly StripBin[]; readonly text: string } | null
  readonly penalties: readonly { readonly name: string; readonly penalty: number; readonly severity: Severity }[]
  readonly lastDeploy: DeployView | null
  readonly silenced?: Silenced | null
}

/** `linked`: it is the probable cause of a condition. */
export type DeployView = {
  readonly text: string
  readonly href: string | null
  readonly at: number
  readonly linked: boolean
}

export type ChangeView = {
  readonly kind: 'pipeline' | 'rollout'
  readonly ref: string
  /** `deployed` */
  readonly outcome: string
  /** `main, 5b7de0c2` */
  readonly detail: string
  /** `nothing followed`, or the conditions that are linked to it. */
  readonly followed: string
  readonly href: string | null
  readonly at: number
}

export type Filter = 'all' | ServiceState

export type OverviewView = {
  readonly reader: Reader
  readonly csrf: string
  readonly canWrite: boolean
  readonly canAdminister: boolean
  /** Whether example data is loaded. */
  readonly hasExample: boolean
  readonly headline: Headline
  /** Below the headline if all is well: when the last incident was resolved. `stillFiring`: alerts since before that. */
  readonly calm: {
    readonly title: string
    readonly href: string
    readonly endedAt: number
    readonly stillFiring?: number
    readonly postmortem: string | null
  } | null
  readonly counts: Readonly<Record<ServiceState, number>>
  readonly status: Filter
  /** Words that restrict the list; '' if there are none. */
  readonly q: string
  readonly view: 'list' | 'wall'
  /** Address of this page with another status or view. */
  readonly addressOf: (change: { readonly status?: Filter; readonly view?: 'list' | 'wall' }) => string
  readonly incidents: readonly OpenIncidentView[]
  /** All services that the filter leaves, worst first. */
  readonly services: readonly ServiceRowView[]
  readonly changes: readonly ChangeView[]
}
