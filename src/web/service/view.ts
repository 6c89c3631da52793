/** The data for the service page. Times are Unix times in milliseconds. */

import type { ServiceState } from '../../domain/health/headline.ts'
import { formatDuration } from '../../domain/shown-time.ts'
import { capitalized, countOf } from '../../domain/text.ts'
import type { Gap } from '../../domain/watch/object.ts'
import type { WorkloadNow } from '../../domain/watch/workload-now.ts'
import type { Zoom } from '../drawing/strip.tsx'
import type { IncidentBrief } from '../incident/brief.ts'
import type { CausedIncident } from '../incident/cause.tsx'
import type { IncidentHead, IncidentView } from '../incident/view.ts'
import type { PenaltyView } from '../kit/penalty.ts'
import type { Silenced } from '../kit/silenced.tsx'

export type ServiceChangeView = {
  readonly kind: 'pipeline' | 'rollout'
  readonly name: string
  /** The URL of the change in GitLab, or null. */
  readonly href: string | null
  readonly word: string
  readonly detail: string
  readonly linked: string
  readonly changed: boolean
  readonly at: number
}

export type ServiceView = Pick<IncidentView, 'mutes' | 'picture' | 'ranges' | 'groups' | 'lastGoodDeploy'> & {
  readonly href: string
  readonly namespace: string
  readonly name: string
  readonly cluster: string
  readonly status: ServiceState
  readonly score: number
  /** The service's open incident with its likely cause, or null. */
  readonly incident: (Pick<IncidentBrief, 'head'> & CausedIncident) | null
  /** When the service became unhealthy; null if it is healthy. */
  readonly since: number | null
  /** What a watched cluster says about the service now, or null. */
  readonly workload: WorkloadNow | null
  /** The periods in which the cluster was not observed. */
  readonly gaps: readonly Gap[]
  /** The whole period, if the picture shows only an incident in it. */
  readonly zoom: Zoom | null
  readonly penalties: readonly PenaltyView[]
  readonly silenced: Silenced | null
  readonly alertsHref: string
  readonly changes: readonly ServiceChangeView[]
  readonly earlier: readonly IncidentHead[]
  readonly aliases: readonly { readonly kind: string; readonly value: string }[]
}

/** Returns `Degraded because 2 alerts are firing`. */
export function statusText({ status, penalties, groups, silenced }: ServiceView): string {
  if (status === 'healthy') return 'Healthy'
  const critical = penalties.filter(({ severity, since }) => severity === 'critical' && since !== null).length
  const firing = groups.reduce((sum, group) => sum + group.firing, 0) - (silenced?.count ?? 0)
  const because = (count: number, noun: string, otherwise: string) =>
    `${capitalized(status)}${status === 'recovering' ? ':' : ' because'} ${count > 0 ? `${countOf(count, noun)} ${count === 1 ? 'is' : 'are'} firing` : otherwise}`
  return status === 'critical'
    ? because(critical, 'critical condition', 'its score is low')
    : because(firing, 'alert', 'alerts lower the score until 30 minutes after they end')
}

/** Returns ` for 7 min, with breaks`, as on the page of the incident; '' if it is not known. */
export function lengthText({ status, incident, since }: ServiceView, now: number): string {
  const head = incident?.head
  if (status === 'critical' && head?.endedAt === null) return ` for ${formatDuration(head.criticalMs)}${head.breaks}`
  // When the last alert of a service that recovers ended is not known here.
  return since === null || status === 'recovering' ? '' : ` for ${formatDuration(now - since)}`
}
