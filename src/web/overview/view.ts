/** The data for the overview. Times are Unix times in milliseconds. URLs are relative and start with `/`. */
import type { Headline, ServiceState } from '../../domain/health/headline.ts'
import type { StripBin } from '../../domain/health/strip.ts'
import type { Severity } from '../../domain/severity.ts'
import type { LanePicture } from '../drawing/lane-model.ts'
import type { IncidentBrief } from '../incident/brief.ts'
import type { CausedIncident } from '../incident/cause.tsx'
import type { IncidentHead } from '../incident/view.ts'
import type { Silenced } from '../kit/silenced.tsx'

/** A channel that gets no messages. `since`: when the first of them failed. */
type FailingChannel = { readonly name: string; readonly href: string; readonly since: number | null }

/** An unresolved incident. */
export type OpenIncidentView = Pick<IncidentBrief, 'told'> &
  CausedIncident & {
    readonly incident: IncidentHead
    /** Only the first incident has a picture. */
    readonly picture: LanePicture | null
    /** Short facts, for example `447 alerts`, with the URL of their evidence. */
    readonly facts: readonly { readonly text: string; readonly href: string }[]
  }

/** Incidents that are shown as one: incidents with a common cause, or a storm. */
export type StormView = {
  /** The incident of the cause or, in a storm, what began first. */
  readonly first: OpenIncidentView
  /** The name of the common cause; null if only time connects the incidents. */
  readonly cause: string | null
  /** Whether the state of the first incident is that of all: it goes on, or everything is over. */
  readonly isLed: boolean
  /** `3 critical for up to 47 min`: how many of the incidents that go on have the highest severity, and for how long. */
  readonly worst: { readonly severity: Severity; readonly text: string }
  /** `began within 9 min`. */
  readonly began: string
  /** The numbers of all incidents, earliest first. */
  readonly members: readonly number[]
  /** The incidents to list, earliest first. */
  readonly shown: readonly Pick<IncidentHead, 'href' | 'service' | 'severity' | 'status'>[]
  /** The numbers of the open incidents, which nobody has acknowledged. */
  readonly unowned: readonly number[]
  /** How many of the incidents somebody has acknowledged. */
  readonly owned: number
  /** Whether no other incident began before the first one. */
  readonly wentFirst: boolean
  /** The number of other services with an incident. */
  readonly followers: number
  readonly alerts: number
  readonly newest: { readonly href: string; readonly at: number }
  /** The number of incidents that began in each period of `ms` milliseconds. */
  readonly bars: { readonly ms: number; readonly counts: readonly number[] }
}

export type ServiceRowView = {
  readonly id: string
  readonly href: string
  /** The URL by name, which redirects. It is `href` if several clusters have a service with this name. */
  readonly shortHref: string
  readonly namespace: string
  readonly name: string
  readonly status: ServiceState
  readonly score: number
  /** The last 24 hours as bins and as text; null if there is no history. */
  readonly strip: { readonly bins: readonly StripBin[]; readonly text: string } | null
  readonly penalties: readonly { readonly name: string; readonly penalty: number; readonly severity: Severity }[]
  /** `linked` is true if the deploy is the likely cause of a condition. */
  readonly lastDeploy: (Pick<ChangeView, 'ref' | 'outcome' | 'at'> & { readonly linked: boolean }) | null
  readonly silenced?: Silenced | null
  /** The last incident, if a user resolved it while its alerts were still firing. `by` is the user. */
  readonly resolvedEarly?: {
    readonly number: string
    readonly href: string
    readonly by: string | null
    readonly at: number
    /** `2 alerts are still firing` */
    readonly firing: string
    /** What the page says about the incident; null beyond the first few. */
    readonly brief: OpenIncidentView | null
  } | null
}

/** A deploy by a pipeline. */
export type ChangeView = {
  readonly ref: string
  /** `deployed` */
  readonly outcome: string
  /** `main, 5b7de0c2` */
  readonly detail: string
  /** The conditions linked to the deploy, or `linked to no alert`. */
  readonly followed: string
  readonly href: string
  readonly at: number
}

export type Filter = 'all' | ServiceState
export const FILTERS: readonly Filter[] = ['all', 'critical', 'degraded', 'recovering', 'healthy', 'unknown']

export type OverviewView = {
  /** Whether example data is loaded. */
  readonly hasExample: boolean
  readonly headline: Headline
  readonly failing: readonly FailingChannel[]
  /**
   * The text below the headline if all services are healthy. `stillFiring` counts alerts that were already firing when
   * the last incident was resolved.
   */
  readonly calm: {
    readonly title: string
    readonly href: string
    readonly endedAt: number
    readonly stillFiring?: number
    readonly postmortem: string | null
  } | null
  readonly counts: Readonly<Record<ServiceState, number>>
  readonly status: Filter
  /** The search text of the list; '' if there is none. */
  readonly q: string
  readonly view: 'list' | 'wall'
  /** Returns the URL of this page with a different status, view or namespace. */
  readonly addressOf: (change: {
    readonly status?: Filter
    readonly view?: 'list' | 'wall'
    readonly namespace?: string
  }) => string
  /** The unresolved incidents, the most urgent first. A storm takes the place of its incidents. */
  readonly incidents: readonly (OpenIncidentView | StormView)[]
  /** The number of unresolved incidents that are not in `incidents`. */
  readonly hiddenIncidents: number
  /** The service that became critical last, and when; null if none is critical. Only the wall for a screen marks it. */
  readonly newestCritical: { readonly id: string; readonly at: number } | null
  /** All services that match the filter, the worst first. */
  readonly services: readonly ServiceRowView[]
  readonly changes: readonly ChangeView[]
}
