/** Symptoms: weighted problems of components, derived from alerts and events. */

import { isGuessed } from '../alert/doubt.ts'
import { isNotification } from '../event/event.ts'
import { templatesOf } from '../service/pod-name.ts'
import { formatTime } from '../text.ts'
import { calledServiceOf } from './accused.ts'
import { type Components, componentAt } from './component.ts'
import { isAlert, rarity } from './explanation.ts'
import { eventSightings, hasEndedEarly } from './sighting.ts'
import type { SuspectAlert, SuspectFacts } from './suspect.ts'

/** Times in ms UTC. Every factor is between 0 and 1, and `weight` is their product. */
export type Symptom = {
  /** The component suspected of the fault: the UUID of a service, `node/<name>` or `namespace/<name>`. */
  readonly component: string
  /** Other services that show the symptom: callers, or workloads on the node. */
  readonly witnesses: readonly string[]
  /** The name of the condition. Equal conditions of a component are counted once. */
  readonly condition: string
  readonly text: string
  readonly startsAt: number
  readonly lastAt: number
  /** The periods during which the symptom was present. */
  readonly spans: readonly (readonly [startsAt: number, lastAt: number])[]
  readonly factors: readonly Factor[]
  readonly weight: number
  readonly node: string | null
  /** Whether pods ran out of memory. */
  readonly isMemory: boolean
  /** The template hashes in the names of the affected pods. */
  readonly templates: readonly string[]
  readonly evidence: readonly SymptomEvidence[]
}

type SymptomEvidence = { readonly alertId?: string; readonly eventId?: string }
/**
 * `text`: '' if it says nothing. `short`: the text after the name of a condition, if it differs. `change`: see
 * `SuspectReason`.
 */
export type Factor = {
  readonly code: string
  readonly value: number
  readonly text: string
  readonly short?: string
  readonly change?: string
}
/** A symptom before it is compared with other symptoms. */
export type SymptomEvent = Omit<Symptom, 'weight'> & {
  /** A generalized description of the problem, without names. Components with the same text have a common cause. */
  readonly gist: string
  /** `seen`: the number of all observations. `seenBefore`: the number of observations long before the incident. */
  readonly seen: number
  readonly seenBefore: number
  /** Whether its alert was firing at the end. While a condition fires, it loses no weight with time. */
  readonly isFiring: boolean
}

/** The four golden signals. Users notice errors first and latency next. Saturation is often harmless. */
const SIGNALS: readonly (readonly [RegExp, number, string])[] = [
  [/oom|killed|crash/, 1, 'a failure'],
  [/latency|slow|duration|response time|apdex/, 0.75, 'latency'],
  [/cpu|mem(?:ory)?|saturat|throttl|usage|utili[sz]ation|load|disk/, 0.5, 'saturation'],
  [/traffic|throughput|request rate|anomal/, 0.6, 'traffic'],
]
/**
 * A service also returns HTTP 500 when one of its own calls failed, because web frameworks convert unhandled
 * exceptions. 502, 503 and 504 come from a proxy that cannot reach the service. Responses with 4xx come from the
 * service itself.
 */
const PROPAGATED = 0.8
const INTERNAL_ERROR = /\b500 (?:Internal )?Server Error|\b(?:HTTP|status|code)[\w ]{0,12}\W{0,3}500\b/i
const SEVERITY = { critical: 0.9, error: 0.75, warning: 0.5, info: 0.1 } as const
/** Grafana could not evaluate its rule, which says nothing about the service. */
const BLIND = 0.1
/** A caller measures from outside, so its symptoms are nearly as reliable as the service's own. */
const ACCUSED = 0.9
/** The symptom ended early in the incident, so it is not the main problem. */
const PASSED = 0.5
/** The half-life of a symptom that does not recur. Symptoms near the end of the incident matter most. */
const FRESH_HALF_LIFE = 15 * 60_000
/** The minimum factor for a condition that was mostly observed before the incident. */
const OLD = 0.2
const WELL_BEFORE = 10 * 60_000

/**
 * Returns all symptoms, one per condition and component, heaviest first. `end`: when the problem ended; null while it is
 * ongoing.
 */
export function symptomsOf(facts: SuspectFacts, components: Components, end: number | null): Symptom[] {
  const sightings = [...alertSightings(facts, components, end), ...eventSightings(facts, components, end)]
  const lastAt = sightings.reduce((latest, { lastAt }) => Math.max(latest, lastAt), Number.NEGATIVE_INFINITY)
  const byGist = new Map(
    [...Map.groupBy(sightings, ({ gist }) => gist)].map(([gist, alike]) => [gist, byComponent(alike)]),
  )
  const weighed = sightings.map((one) => weigh(one, byGist.get(one.gist) ?? [], { lastAt, end, ...facts.incident }))
  return strongest(weighed)
}

/** Symptoms with the same generalized message, grouped by component. */
export type Alike = readonly (readonly SymptomEvent[])[]

function byComponent(alike: readonly SymptomEvent[]): Alike {
  return [...Map.groupBy(alike, ({ component }) => component).values()]
}

/** `lastAt`: the last observation of any symptom. `end`: when the problem ended; null while it is ongoing. */
type Ends = Pick<SuspectFacts['incident'], 'endedAt' | 'endedItself'> & {
  readonly lastAt: number
  readonly end: number | null
}

function weigh(sighting: SymptomEvent, alike: Alike, ends: Ends): Symptom {
  const fresh = freshness(sighting, ends)
  const factors = [...sighting.factors, rarity(sighting, alike), fresh, newness(sighting)]
  const { gist: _gist, seen: _seen, seenBefore: _before, isFiring: _firing, ...symptom } = sighting
  return { ...symptom, factors, weight: factors.reduce((product, { value }) => product * value, 1) }
}

/**
 * Rates how recent a symptom is, compared with the last observation of any symptom. An alert that has not ended is still
 * firing, even if its sender repeats it rarely.
 */
function freshness(
  { lastAt, factors, isFiring }: SymptomEvent,
  { lastAt: latest, end, endedAt, endedItself }: Ends,
): Factor {
  const value = isFiring ? 1 : 0.5 ** ((latest - lastAt) / FRESH_HALF_LIFE)
  const has = (code: string) => factors.some((factor) => factor.code === code)
  if (has('severity') && !has('ended')) {
    if (end === null) return { code: 'ongoing', value, text: 'still firing' }
    const moment = end === endedAt && !endedItself ? 'the incident was resolved' : 'the problem ended'
    return { code: 'ongoing', value, text: `still firing when ${moment}` }
  }
  return { code: 'past', value, text: has('ended') ? '' : `last reported at ${formatTime(lastAt)}` }
}

/** A condition that also occurs at other times does not explain the incident. */
function newness({ seen, seenBefore, evidence }: SymptomEvent): Factor {
  if (seenBefore === 0) return { code: 'new', value: 1, text: '' }
  const value = Math.max(OLD, 1 - seenBefore / seen)
  const text = isAlert({ evidence })
    ? 'the alert began long before the incident'
    : 'some occurrences came long before the incident'
  return { code: 'habitual', value, text }
}

function alertSightings(facts: SuspectFacts, components: Components, end: number | null): SymptomEvent[] {
  return facts.alerts.filter(isNotification).flatMap((alert) => alertSighting(alert, facts, components, end) ?? [])
}

function alertSighting(
  alert: SuspectAlert,
  facts: SuspectFacts,
  components: Components,
  end: number | null,
): SymptomEvent | null {
  const own = componentAt(components, alert.service)
  if (own === null) return null
  const accused = calledServiceOf(components, alert)
  const lastAt = alert.endsAt ?? Math.max(alert.lastSeenAt, alert.startsAt)
  const before = alert.startsAt < facts.incident.startedAt - WELL_BEFORE ? 1 : 0
  return {
    component: accused ?? own,
    witnesses: accused === null ? [] : [own],
    condition: alert.name,
    gist: `${alert.name} ${accused === null ? '' : 'by a caller'}`,
    text: alert.summary,
    startsAt: alert.startsAt,
    lastAt,
    spans: [[alert.startsAt, lastAt]],
    factors: [gravity(alert), ...(accused ? [accusation()] : []), ...propagated(alert), ...ended(alert, end)],
    node: alert.node,
    isMemory: /oom|out of memory/i.test(`${alert.name} ${alert.labels.reason ?? ''}`),
    templates: templatesOf([alert.labels.pod ?? '']),
    isFiring: alert.endsAt === null,
    evidence: [{ alertId: alert.id }],
    // An alert that began before the incident is counted twice: before and during the incident.
    seen: 1 + before,
    seenBefore: before,
  }
}

function gravity({ name, severity, labels }: SuspectAlert): Factor {
  if (labels.alertname === 'DatasourceNoData' || labels.alertname === 'DatasourceError')
    return { code: 'severity', value: BLIND, text: 'a problem with the monitoring system' }
  const words = name.replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ').toLowerCase()
  const signal = SIGNALS.find(([pattern]) => pattern.test(words))
  const value = SEVERITY[severity] * (signal?.[1] ?? 1)
  return { code: 'severity', value, text: signal ? `${severity} alert about ${signal[2]}` : `${severity} alert` }
}

function accusation(): Factor {
  return { code: 'accused', value: ACCUSED, text: 'reported by a service that calls it' }
}

function propagated({ words }: SuspectAlert): Factor[] {
  if (!INTERNAL_ERROR.test(words)) return []
  return [{ code: 'propagated', value: PROPAGATED, text: 'HTTP 500, which a failed dependency can also cause' }]
}

function ended(alert: SuspectAlert, end: number | null): Factor[] {
  if (alert.endsAt === null) return []
  const at = formatTime(alert.endsAt)
  const text = isGuessed(alert.resolution) ? `last reported at ${at}, no end was reported` : `ended at ${at}`
  return [{ code: 'ended', value: hasEndedEarly(alert, end) ? PASSED : 1, text }]
}

/** Merges the equal symptoms of each component into the heaviest symptom, which then has all of the evidence. */
function strongest(symptoms: readonly Symptom[]): Symptom[] {
  const byCondition = Map.groupBy(symptoms, ({ component, condition, witnesses }) => {
    return `${component} ${condition} ${witnesses.length > 0}`
  })
  return [...byCondition.values()].flatMap((same) => merged(same.sort(compare)) ?? []).sort(compare)
}

function merged(same: readonly Symptom[]): Symptom | null {
  const [first] = same
  if (!first) return null
  const startsAt = Math.min(...same.map((one) => one.startsAt))
  const lastAt = Math.max(...same.map((one) => one.lastAt))
  const spans = same.flatMap((one) => one.spans)
  const witnesses = [...new Set(same.flatMap((one) => one.witnesses))].sort()
  const templates = [...new Set(same.flatMap((one) => one.templates))]
  return { ...first, startsAt, lastAt, spans, witnesses, templates, evidence: same.flatMap(({ evidence }) => evidence) }
}

/** Defines a total order, so that the result does not depend on the order of the facts. */
function compare(a: Symptom, b: Symptom): number {
  if (a.weight !== b.weight) return b.weight - a.weight
  if (a.startsAt !== b.startsAt) return a.startsAt - b.startsAt
  if (a.component !== b.component) return a.component < b.component ? -1 : 1
  return keyOf(a) < keyOf(b) ? -1 : 1
}

function keyOf({ component, condition, text, witnesses, evidence }: Symptom): string {
  return JSON.stringify([component, condition, text, witnesses, evidence])
}
