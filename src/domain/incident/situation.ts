/** What the rules for automatic incidents know, and what they decide. */
import type { Health, HealthCondition } from '../health/health.ts'
import type { Severity } from '../severity.ts'
import type { Window } from '../silence/silence.ts'
import type { LiveIncident } from './live-incident.ts'
import type { Burning, Ended, Problem } from './problem.ts'

export type Situation = {
  readonly now: number
  /** Whether an incident may open automatically. */
  readonly opens: boolean
  /** How long after its recovery an untouched incident is resolved, in milliseconds; null for never. */
  readonly resolveAfter: number | null
  readonly serviceName: string
  /** Critical alerts, and why they are critical. */
  readonly critical: Health['critical']
  /**
   * Whether a user resolved an incident while its alerts were firing. These alerts open no new incident until they have
   * ended once, and the unresolved incident has none of them.
   */
  readonly suppressed: boolean
  /** The alerts that determine the health, without alerts that have the same effect as another alert. */
  readonly alerts: readonly SituationAlert[]
  /** All alerts. Alerts without an incident can join the incident of the service. */
  readonly candidates: readonly SituationAlert[]
  /** Alerts explained by a failed node. */
  readonly explained: ReadonlySet<string>
  /** Critical conditions of other services whose incidents were merged into this one. */
  readonly elsewhere: readonly Burning[]
  /** The conditions that silences cover. */
  readonly muted: readonly Burning[]
  /** The ends of conditions that ended lately, silenced ones included. */
  readonly ended: readonly Ended[]
  /** Whether alerts join the incident. */
  readonly joins: boolean
  /** The unresolved incident. */
  readonly current: CurrentIncident | null
  /** The last resolved incident, if there is no unresolved one. */
  readonly last: Pick<LiveIncident, 'problem' | 'resolvedAt' | 'origin' | 'alertCount'> | null
  /** For the service `unattributed`: the name of the alert that the incident is about. */
  readonly about: string | null
}

export type SituationAlert = HealthCondition & {
  /** Since when the alert has had its severity. */
  readonly since: number
  /** When the alert last began to fire with its severity. A reopened alert keeps the start of its first period. */
  readonly onset: number
  /** When the alert last began to fire, with any severity. */
  readonly begunAt: number
  /** The period of the silence that was found to cover the alert no more; null if none. incmon may have been stopped then. */
  readonly freed: Window | null
  /** Whether a silence applied before the alert began to fire anew. A report may also move its start back. */
  readonly wasSilenced: boolean
  readonly summary: string
  /** Whether the alert belongs to an unresolved incident. */
  readonly inIncident: boolean
  /** Whether the alert belongs to any incident. */
  readonly hasIncident: boolean
  /**
   * Whether a user left it on by resolving its incident, or merged that into the incident of another service. It does nothing
   * in another incident until it begins anew.
   */
  readonly isLeft: boolean
}

export type CurrentIncident = Pick<
  LiveIncident,
  'status' | 'severity' | 'origin' | 'cause' | 'createdAt' | 'touchedAt' | 'problem'
>

export type Step =
  | {
      readonly do: 'open'
      readonly title: string
      /** Why the service is critical although no alert is; '' if one is. */
      readonly why: string
      readonly startedAt: number
      readonly alertIds: readonly string[]
      readonly problem: Problem
      /** Whether the incident names the last one as previous. */
      readonly follows: boolean
    }
  /**
   * The problem is back. `wasWrong`: it was never gone. `fresh`: the UUIDs of alerts that have begun besides what a user left
   * on; none if all is back.
   */
  | {
      readonly do: 'return'
      readonly alertIds: readonly string[]
      readonly problem: Problem
      readonly wasWrong: boolean
      readonly fresh: readonly string[]
    }
  /** `with`: the UUID of an alert whose incident they join; null if they join that of the unit. */
  | { readonly do: 'join'; readonly alertIds: readonly string[]; readonly with: string | null }
  /**
   * `toldAt`: when those hear of it who were told of the incident. Others are told at once. `isUncovered`: whether a silence
   * has just ended that covered all that goes on.
   */
  | { readonly do: 'worsen'; readonly names: readonly string[]; readonly toldAt: number; readonly isUncovered: boolean }
  /** Only what a user declared as less severe goes on. `toldAt`: when those hear of it who were told of the incident. */
  | { readonly do: 'lessen'; readonly from: Severity; readonly toldAt: number }
  /** The problem went on while a silence covered it, which has ended. */
  | { readonly do: 'uncover'; readonly names: readonly string[] }
  | { readonly do: 'recover'; readonly problem: Problem }
  /** `isTold`: whether people hear of it. */
  | { readonly do: 'resolve'; readonly at: number; readonly text: string; readonly isTold: boolean }

export type Decision = {
  readonly steps: readonly Step[]
  readonly suppressed: boolean
  /** The problem of the current incident, or of the last one, before the steps; null if there is no incident. */
  readonly problem: Problem | null
  /** When a step may next become due without a new event, in ms UTC; null for never. */
  readonly changesAt: number | null
}
