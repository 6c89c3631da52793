/**
 * The reliability report: how often services had incidents, and how quickly these were detected, acknowledged and
 * resolved.
 */

import type { IncidentFact, ServiceFact } from '../incident/facts.ts'
import { ordered } from '../order.ts'
import { DEFINITIONS, durationsOf, METRIC_NAMES, type Timing } from '../postmortem/metrics.ts'
import { SEVERITIES, type Severity } from '../severity.ts'

/** `conditions`: the source and name of each alert. `cameBack`: whether its problem came back before the resolution. */
export type ReportedIncident = Timing &
  Pick<IncidentFact, 'uuid' | 'severity' | 'service'> & {
    readonly conditions: readonly string[]
    readonly cameBack?: boolean
  }

/**
 * Durations in seconds. `of`: the number of incidents for which the figure is known. `mean` and `median` are null if
 * `of` is 0.
 */
export type Spread = { readonly mean: number | null; readonly median: number | null; readonly of: number }

export type Figures = Readonly<Record<'mttd' | 'mtta' | 'mttr', Spread>> & {
  readonly incidents: number
  readonly resolved: number
  readonly bySeverity: Readonly<Record<Severity, number>>
  readonly recurrences: number
}

export type Reliability = {
  readonly from: number
  readonly to: number
  readonly definitions: Readonly<Record<'mttd' | 'mtta' | 'mttr' | 'recurrences' | 'incidents', string>>
  readonly organization: Figures
  /** Of the incidents that were acknowledged and resolved: how many were acknowledged after more than half of the time. */
  readonly late: { readonly count: number; readonly of: number }
  /** Services with incidents, those with the most time until the resolutions first. */
  readonly services: readonly (Figures & { readonly service: ServiceFact })[]
}

const RECURS_WITHIN = 30 * 86_400_000

/**
 * Computes the figures for incidents with from ≤ createdAt < to, in ms UTC. `incidents` must also include incidents
 * from the 30 days before `from`, which are used only to detect recurrences.
 */
export function reliability(incidents: readonly ReportedIncident[], from: number, to: number): Reliability {
  const counted = incidents.filter(({ createdAt }) => createdAt >= from && createdAt < to)
  const seen = openingsOf(incidents)
  const byService = Map.groupBy(counted, ({ service }) => service.uuid)
  const services = [...byService.values()].flatMap((of) => {
    const service = of[0]?.service
    return service ? [{ service, ...figuresOf(of, seen), lasted: lastedOf(of, to) }] : []
  })
  return {
    from,
    to,
    definitions: {
      incidents: 'incidents opened in this period',
      mttd: `${METRIC_NAMES.ttd}: ${DEFINITIONS.ttd}`,
      mtta: `${METRIC_NAMES.tta}: ${DEFINITIONS.tta}`,
      mttr: `${METRIC_NAMES.ttr}: ${DEFINITIONS.ttr}`,
      recurrences:
        'incidents whose problem came back before the resolution, or with a condition that also occurred in an incident of the same service in the previous 30 days',
    },
    organization: figuresOf(counted, seen),
    late: lateOf(counted),
    services: ordered(services, ({ lasted, incidents, service }) => {
      return [-lasted, -incidents, service.namespace, service.name, service.uuid]
    }).map(({ lasted: _, ...one }) => one),
  }
}

/** Returns how long the incidents lasted in all, in ms. */
function lastedOf(incidents: readonly ReportedIncident[], now: number): number {
  return incidents.reduce((sum, { startedAt, resolvedAt }) => sum + Math.max(0, (resolvedAt ?? now) - startedAt), 0)
}

function lateOf(incidents: readonly ReportedIncident[]): Reliability['late'] {
  const late = incidents.map(durationsOf).flatMap(({ ttd, tta, ttr }) => {
    return tta === null || ttr === null ? [] : [(ttd ?? 0) + tta > ttr / 2]
  })
  return { count: late.filter(Boolean).length, of: late.length }
}

/** When incidents were created, by service and condition. */
type Openings = ReadonlyMap<string, readonly { readonly createdAt: number }[]>

function openingsOf(incidents: readonly ReportedIncident[]): Openings {
  const openings = incidents.flatMap(({ service, conditions, createdAt }) =>
    conditions.map((condition) => ({ key: `${service.uuid} ${condition}`, createdAt })),
  )
  return Map.groupBy(openings, ({ key }) => key)
}

function figuresOf(counted: readonly ReportedIncident[], seen: Openings): Figures {
  const durations = counted.map(durationsOf)
  const count = (severity: Severity) => counted.filter((incident) => incident.severity === severity).length
  return {
    incidents: counted.length,
    resolved: counted.filter(({ resolvedAt }) => resolvedAt !== null).length,
    bySeverity: Object.fromEntries(SEVERITIES.map((one) => [one, count(one)])) as Record<Severity, number>,
    recurrences: counted.filter((incident) => recurs(incident, seen)).length,
    mttd: spreadOf(durations.map(({ ttd }) => ttd)),
    mtta: spreadOf(durations.map(({ tta }) => tta)),
    mttr: spreadOf(durations.map(({ ttr }) => ttr)),
  }
}

function recurs({ createdAt, service, conditions, cameBack }: ReportedIncident, seen: Openings): boolean {
  if (cameBack) return true
  return conditions.some((condition) =>
    seen
      .get(`${service.uuid} ${condition}`)
      ?.some((one) => one.createdAt < createdAt && one.createdAt >= createdAt - RECURS_WITHIN),
  )
}

/**
 * Returns the mean and the median in whole seconds. The median of an even number of values is the mean of the middle
 * two.
 */
function spreadOf(values: readonly (number | null)[]): Spread {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b)
  const [low, high] = [known[Math.floor((known.length - 1) / 2)], known[Math.floor(known.length / 2)]]
  if (low === undefined || high === undefined) return { mean: null, median: null, of: 0 }
  const mean = Math.round(known.reduce((sum, value) => sum + value, 0) / known.length)
  return { mean, median: Math.round((low + high) / 2), of: known.length }
}
