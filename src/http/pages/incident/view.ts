/** What the incident page shows, filled by http from the store. Times in milliseconds UTC, addresses begin with `/`. */
import type { AlertGroup, GroupedAlert } from '../../../domain/alert/groups.ts'
import type { Command } from '../../../domain/event/reason-command.ts'
import type { IncidentStatus } from '../../../domain/incident/incident.ts'
import type { TimelineRow } from '../../../domain/incident/timeline-rows.ts'
import type { Severity } from '../../../domain/severity.ts'
import type { Reader } from '../../../domain/shown-time.ts'
import type { JudgedSuspect, LikelyCause } from '../../../domain/suspect/likely-cause.ts'
import type { LanePicture } from '../drawing/lane-model.ts'
import type { Silenced } from '../kit/silenced.tsx'

export type ServiceLink = { readonly namespace: string; readonly name: string; readonly href: string }

export type IncidentHead = {
  /** What people say aloud: its number. */
  readonly number: string
  /** Its address; the addresses of its actions begin with it. */
  readonly href: string
  readonly title: string
  readonly severity: Severity
  readonly status: IncidentStatus
  readonly service: ServiceLink
  readonly startedAt: number
  readonly createdAt: number
  readonly acknowledgedAt: number | null
  readonly acknowledgedBy: string | null
  /** When it got its present status, and who moved it; null: incmon. */
  readonly movedAt: number
  readonly movedBy: string | null
  readonly resolvedAt: number | null
  /** When its trouble was over; null while an alert fires, or while nothing says so. */
  readonly endedAt: number | null
  readonly firingAlerts: number
  /** `Opened automatically at 03:03 because a cluster event and an alert agree.` */
  readonly opened: string
  readonly alertCount: number
  readonly hasPostmortem: boolean
}

/** A suspect with its reasons, and where a person can look at it and judge it. */
export type SuspectView = JudgedSuspect & {
  readonly reasons: readonly ReasonView[]
  /** Why the change and the trouble belong together, as short facts. */
  readonly support: readonly string[]
  /** Where it can be looked at here; null if there is no page. */
  readonly href: string | null
  /** The page of the sender, for example in GitLab; null if unknown. */
  readonly external: { readonly text: string; readonly href: string } | null
  /** `9b1c3d5e` of a pipeline; null if unknown. */
  readonly sha: string | null
  /** Whether there is a link that a person can confirm or reject. */
  readonly judgeable: boolean
}

/** A sentence; `condition` is the word in it that is shown in bold, at its start. */
export type ReasonView = { readonly condition: string; readonly text: string }

export type GroupView = AlertGroup<GroupedAlert & { readonly href: string }> & {
  /** How often it was reported in equal parts of the picture's span. */
  readonly counts: readonly number[]
  readonly hint: Command | null
  readonly href: string
  readonly silenced?: Silenced | null
}

export type TimelineView = TimelineRow & { readonly href: string | null }

export type IncidentView = {
  readonly reader: Reader
  readonly csrf: string
  /** Whether the reader may change something. */
  readonly canWrite: boolean
  readonly incident: IncidentHead
  readonly cause: LikelyCause<SuspectView>
  readonly lastGoodDeploy: { readonly text: string; readonly href: string | null; readonly at: number } | null
  readonly picture: LanePicture
  readonly ranges: readonly { readonly text: string; readonly href: string; readonly current: boolean }[]
  readonly suspects: readonly SuspectView[]
  readonly groups: readonly GroupView[]
  readonly timeline: readonly TimelineView[]
  /** `turnHref` leads to the other order. */
  readonly newestFirst: boolean
  readonly turnHref: string
  /** The list of all alerts of the incident. */
  readonly alertsHref: string
}
