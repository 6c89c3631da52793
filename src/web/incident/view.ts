/** The data for the incident page. Times are Unix times in milliseconds. URLs are relative and start with `/`. */

import type { AlertGroup, GroupedAlert } from '../../domain/alert/groups.ts'
import type { Command } from '../../domain/event/reason-command.ts'
import type { GraphRecord } from '../../domain/graph/graph.ts'
import { silencedText } from '../../domain/incident/lasted.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { TimelineRow } from '../../domain/incident/timeline-rows.ts'
import type { WhoWasTold } from '../../domain/notification/told.ts'
import type { Action } from '../../domain/postmortem/document.ts'
import type { Severity } from '../../domain/severity.ts'
import {
  formatDuration,
  formatEnd,
  formatLasted,
  formatMoment,
  formatWhen,
  type Reader,
} from '../../domain/shown-time.ts'
import type { JudgedSuspect, LikelyCause } from '../../domain/suspect/likely-cause.ts'
import { capitalized } from '../../domain/text.ts'
import type { WorkloadNow } from '../../domain/watch/workload-now.ts'
import type { LanePicture } from '../drawing/lane-model.ts'
import type { Fault } from '../kit/form.tsx'
import type { Silenced } from '../kit/silenced.tsx'

export type ServiceLink = { readonly namespace: string; readonly name: string; readonly href: string }

export type IncidentHead = Pick<
  LiveIncident,
  'title' | 'severity' | 'status' | 'startedAt' | 'createdAt' | 'acknowledgedAt' | 'resolvedAt' | 'alertCount'
> & {
  /** The number that people use for the incident. */
  readonly number: string
  /** The URL of the incident, which is also the prefix of its action URLs. */
  readonly href: string
  readonly service: ServiceLink
  readonly acknowledgedBy: string | null
  /** When the status last changed. `movedBy` is null if the change was automatic. */
  readonly movedAt: number
  readonly movedBy: string | null
  /** When the problem ended; null while it is on. `isGuess`: nobody reported the end, so it was last reported then. */
  readonly endedAt: number | null
  /** Since when silences have covered all that goes on; null if they do not. */
  readonly mutedSince: number | null
  readonly isGuess: boolean
  /** When the problem of a resolved incident was last reported if nothing said that it ended; else null. */
  readonly reportedAt: number | null
  /** Whether the incident ended because it was merged into another one. */
  readonly isMerged: boolean
  /** What users declared in incidents that were merged into it: `“Customers pay twice” of pay`. */
  readonly declared: readonly string[]
  /** Whether it is about a sender that sent no heartbeat. */
  readonly isSilence: boolean
  /** How long the problem was on until now, without the healthy periods in between, in milliseconds. */
  readonly criticalMs: number
  /** `, with breaks` if the problem ended and came back; otherwise ''. */
  readonly breaks: string
  /** For how long it has been on with the severity of the incident, in milliseconds. */
  readonly severeMs: number
  /** How long silences have covered the problem, in milliseconds. */
  readonly mutedMs: number
  readonly firingAlerts: number
  /** `Now: HighLatency.` if the title names what is over and something else goes on. */
  readonly firingNow?: string | null
  /** `Opened automatically at 03:03 because a cluster event and an alert agree.` */
  readonly opened: string
  readonly hasPostmortem: boolean
}

/** A suspect with its reasons, its page and its verdict. */
export type SuspectView = JudgedSuspect & {
  readonly reasons: readonly ReasonView[]
  /** Short facts that connect the change to the problem. */
  readonly support: readonly string[]
  /** The suspect's page in incmon; null if there is none. */
  readonly href: string | null
  /** The suspect's page at the sender, for example in GitLab; null if unknown. */
  readonly external: { readonly text: string; readonly href: string } | null
  /** The rollouts that the pipeline caused. */
  readonly rollouts: readonly string[]
  /** Who gave the verdict; null if there is none or if it was not recorded. */
  readonly verdictBy: string | null
  /** Whether the suspect has a link that the user can confirm or reject. */
  readonly judgeable: boolean
}

/** A sentence whose first words, `condition`, are shown in bold. */
export type ReasonView = { readonly condition: string; readonly text: string }

export type GroupView = AlertGroup<GroupedAlert & { readonly href: string }> & {
  /** The number of events in each of several equal parts of the picture's span. */
  readonly counts: readonly number[]
  readonly hint: Command | null
  /** The severity that the sender reported, if the score counts the alerts as more severe. */
  readonly sentAs?: Severity
  readonly href: string
  readonly silenced?: Silenced | null
  /** The service, if the page is about another one. */
  readonly of?: Pick<ServiceLink, 'name' | 'namespace'>
}

/** A service that the incident affects. `severity`: null if the service has no alert in the incident. */
export type AffectedView = ServiceLink & {
  readonly severity: Severity | null
  readonly since: number
  /** When the problem ended; null while it is ongoing; undefined if it is not known whether it is. */
  readonly until: number | null | undefined
  /** The affected pods, or how the service is connected with the incident; '' if neither is known. */
  readonly detail: string
}

/** A change after which the problem ended. `id`: its id in the picture. */
export type FixView = {
  readonly id: string
  readonly noun: string
  readonly ref: string
  readonly when: string
}

/** `word`: `Not heard` or `Not repeated`. `at`: the last report. */
export type Overdue = { readonly word: string; readonly at: number } | null

export type TimelineView = TimelineRow & { readonly href: string | null }

/** What somebody typed into a form about an incident, and what is wrong with it. */
export type Typed = {
  readonly form: 'declare' | 'edit' | 'merge' | 'item' | 'assign' | 'note'
  readonly values: Readonly<Record<string, string>>
  readonly faults: readonly Fault[]
}

/** Returns what was typed into a form, if it was refused. */
export function typedInto(form: Typed['form'], typed: Typed | null): Omit<Typed, 'form'> {
  return typed?.form === form ? typed : { values: {}, faults: [] }
}

export type IncidentView = {
  /** The number of firing alerts that a silence of the service mutes. */
  readonly mutes: number
  /** Whether there is a channel that can send a reminder. */
  readonly hasChannel: boolean
  readonly incident: IncidentHead
  readonly told: WhoWasTold | null
  readonly cause: LikelyCause<SuspectView>
  readonly fix: FixView | null
  /** `Silenced by Ann until 21:28; still firing`; null if silences do not cover all that goes on. */
  readonly muted?: string | null
  readonly overdue: Overdue
  /** The earlier incident of which this one is a continuation. */
  readonly previous: { readonly number: number; readonly href: string } | null
  /**
   * The group or storm of the incident. `cause`: null if only time connects its `size` incidents. `leader`: the incident
   * of the cause, or the earliest one. `unowned`: the numbers of the incidents that nobody has acknowledged.
   */
  readonly group: {
    readonly cause: string | null
    readonly size: number
    readonly leader: { readonly number: number; readonly href: string; readonly isThis: boolean }
    readonly wentFirst: boolean
    /** `began within 9 min`. */
    readonly began: string
    readonly unowned: readonly number[]
  } | null
  /** The last deploy that is not linked to an alert; null if there was no such deploy in the last 30 days. */
  readonly lastGoodDeploy: { readonly text: string; readonly href: string | null; readonly at: number } | null
  readonly picture: LanePicture
  readonly ranges: readonly { readonly text: string; readonly href: string; readonly current: boolean }[]
  /** The suspect of the headline, then all others, most probable first. */
  readonly suspects: readonly SuspectView[]
  /** Whether the query asks for all suspects instead of the first ones. */
  readonly allSuspects: boolean
  /** The affected services, earliest first. */
  readonly affected: readonly AffectedView[]
  readonly groups: readonly GroupView[]
  readonly timeline: readonly TimelineView[]
  readonly items: readonly Action[]
  /** The form that was refused, if this page answers it. */
  readonly typed: Typed | null
  /** `turnHref` is the URL of this page with the timeline in reverse order. */
  readonly newestFirst: boolean
  readonly turnHref: string
  /** The URL of the list of all alerts in the incident. */
  readonly alertsHref: string
  /** What a watched cluster says about the service now; null if none has it, or if the incident is over. */
  readonly workload: WorkloadNow | null
  /** The graph of the most severe alert, or null. */
  readonly graph: GraphRecord | null
}

// How long the problem of an incident was on, as pages say it.

type State = Pick<
  IncidentHead,
  'severity' | 'endedAt' | 'isGuess' | 'mutedSince' | 'criticalMs' | 'severeMs' | 'mutedMs' | 'isSilence'
>

/**
 * Returns `critical for 12 min of 30 min, not counting 20 min under a silence`; without a time below a second. The
 * whole differs if the problem had another severity, too.
 */
export function lastedText(state: State): string {
  const { severity, criticalMs, severeMs, mutedMs, endedAt, isGuess, isSilence } = state
  const format = endedAt === null ? formatDuration : formatLasted
  if (isSilence) return `no heartbeat for ${format(severeMs)}`
  const least = isGuess ? 'at least ' : ''
  if (severeMs < 1000) return `${severity}${silencedText(mutedMs)}`
  const whole = Math.abs(criticalMs - severeMs) < 1000 ? '' : ` of ${format(criticalMs)}`
  return `${severity} for ${least}${format(severeMs)}${whole}${silencedText(mutedMs)}`
}

/** Returns `from 03:02 to 03:14`, or `between …` if the problem was not on all the time. */
export function periodText(
  { startedAt, endedAt, reportedAt, criticalMs, mutedMs, breaks, isGuess, isMerged }: IncidentHead,
  reader: Reader,
): string {
  // What a user declared can have begun later than the first alert.
  const isWhole = breaks === '' && mutedMs < 1000
  const last = endedAt ?? reportedAt ?? reader.now
  const beganAt = isWhole ? last - criticalMs : startedAt
  const [from, to] = [formatMoment(beganAt, reader), formatEnd(last, beganAt, reader)]
  if (endedAt === null) return `since ${from}${reportedAt === null ? '' : `, last reported ${to}`}`
  if (isGuess) return `from ${from}, last reported ${to}`
  if (isMerged) return `from ${from} until it was merged ${formatWhen(endedAt, reader)}`
  return isWhole ? `from ${from} to ${to}` : `between ${from} and ${to}`
}

/** Returns `Was critical for 12 min`, or `Had the severity error for 12 min`. */
export function pastText(state: State): string {
  const lasted = lastedText(state)
  if (state.isSilence) return capitalized(lasted)
  return `${state.severity === 'critical' ? 'Was' : 'Had the severity'} ${lasted}`
}

/** Returns `Critical for 12 min` while the problem goes on; see `pastText`. */
export function stateText(state: State): string {
  if (state.mutedSince !== null) return 'Silenced'
  return state.endedAt === null ? capitalized(lastedText(state)) : pastText(state)
}
