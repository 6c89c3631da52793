/** Symptoms: what went wrong where, out of alerts and events, each with how much it says about a cause. */

import { accusedBy, type Places, placeAt } from './place.ts'
import { eventSightings } from './sighting.ts'
import type { Facts, SuspectAlert } from './suspect.ts'

/** Times in milliseconds UTC. Every factor is within 0..1; `weight` is their product. */
export type Symptom = {
  /** The place that it accuses: a service's UUID, `node/<name>` or `namespace/<name>`. */
  readonly place: string
  /** The services that show it, where those are others: callers, or what runs on the node. */
  readonly witnesses: readonly string[]
  /** The condition: equal ones of one place count once. */
  readonly condition: string
  readonly text: string
  readonly startsAt: number
  readonly lastAt: number
  /** Each time that it was there, from when to when. */
  readonly spans: readonly (readonly [startsAt: number, lastAt: number])[]
  readonly factors: readonly Factor[]
  readonly weight: number
  readonly node: string | null
  readonly evidence: readonly Evidence[]
}

export type Evidence = { readonly alertId?: string; readonly eventId?: string }
export type Factor = { readonly code: string; readonly value: number; readonly text: string }

/** What was seen of one condition at one place, before it is compared with the rest. */
export type Sighting = Omit<Symptom, 'weight'> & {
  /** What would be the same trouble elsewhere: conditions with an equal gist have a common cause, if many show them. */
  readonly gist: string
  /** How often it was seen, and how often of that well before the incident. */
  readonly seen: number
  readonly seenBefore: number
}

/** The four golden signals: users feel errors first, then slowness; saturation is a hint that often harms nobody. */
const SIGNALS: readonly (readonly [RegExp, number, string])[] = [
  [/oom|killed|crash/, 1, 'a failure'],
  [/latency|slow|duration|response time|apdex/, 0.75, 'slowness'],
  [/cpu|mem(?:ory)?|saturat|throttl|usage|utili[sz]ation|load|disk/, 0.5, 'saturation, which may harm nobody'],
  [/traffic|throughput|request rate|anomal/, 0.6, 'a change of traffic'],
]
const SEVERITY = { critical: 0.9, error: 0.75, warning: 0.5, info: 0.1 } as const
/** Grafana cannot evaluate its rule: that says nothing of the service. */
const BLIND = 0.1
/** An accusation by a caller is a measure from outside: nearly as good as the accused one's own. */
const ACCUSED = 0.9
/** Ended before the incident's evidence was complete: it passed by itself. */
const PASSED = 0.5
/** In this time what is not seen again loses half of its weight: what goes on at the end matters most. */
const FRESH_HALF_LIFE = 15 * 60_000
/** How much a condition is worth that so many services share: the power of their number. */
const SHARED = 0.75
/** The least that a condition seen mostly before the incident still counts. */
const OLD = 0.2
const TOGETHER = 10 * 60_000

/** All symptoms of the facts, each condition of each place once, the heaviest first. */
export function symptomsOf(facts: Facts, places: Places): Symptom[] {
  const sightings = [...alertSightings(facts, places), ...eventSightings(facts, places)]
  const end = sightings.reduce((latest, { lastAt }) => Math.max(latest, lastAt), Number.NEGATIVE_INFINITY)
  const weighed = sightings.map((one) => weigh(one, sightings, end))
  return strongest(weighed)
}

function weigh(sighting: Sighting, all: readonly Sighting[], end: number): Symptom {
  const factors = [...sighting.factors, rarity(sighting, all), freshness(sighting, end), newness(sighting)]
  const { gist: _gist, seen: _seen, seenBefore: _before, ...symptom } = sighting
  return { ...symptom, factors, weight: factors.reduce((product, { value }) => product * value, 1) }
}

/** What many services show alike at the same time has a cause that they share, not one in each of them. */
function rarity(sighting: Sighting, all: readonly Sighting[]): Factor {
  const alike = all.filter(
    (one) =>
      one.gist === sighting.gist &&
      one.startsAt <= sighting.lastAt + TOGETHER &&
      one.lastAt >= sighting.startsAt - TOGETHER,
  )
  const places = new Set(alike.map(({ place }) => place)).size
  if (places <= 1) return { code: 'only_here', value: 1, text: 'nothing else shows it' }
  return { code: 'shared', value: places ** -SHARED, text: `${places} show the same at the same time` }
}

function freshness({ lastAt }: Sighting, end: number): Factor {
  const age = end - lastAt
  const value = 0.5 ** (age / FRESH_HALF_LIFE)
  const minutes = Math.round(age / 60_000)
  return minutes < 1
    ? { code: 'ongoing', value, text: 'it was there to the end' }
    : { code: 'past', value, text: `last seen ${minutes} min before the end` }
}

/** What also occurs without the incident does not account for it. */
function newness({ seen, seenBefore }: Sighting): Factor {
  if (seenBefore === 0) return { code: 'new', value: 1, text: 'it was not seen before the incident' }
  const value = Math.max(OLD, 1 - seenBefore / seen)
  return { code: 'habitual', value, text: `${seenBefore} of ${seen} times it was seen well before the incident` }
}

function alertSightings(facts: Facts, places: Places): Sighting[] {
  return facts.alerts
    .filter(({ source }) => source === 'metrics' || source === 'dashboard')
    .flatMap((alert) => alertSighting(alert, facts, places) ?? [])
}

function alertSighting(alert: SuspectAlert, facts: Facts, places: Places): Sighting | null {
  const own = placeAt(places, alert.service)
  if (own === null) return null
  const accused = accusedBy(places, alert)
  const lastAt = alert.endsAt ?? Math.max(alert.lastSeenAt, alert.startsAt)
  const before = alert.startsAt < facts.incident.startedAt - TOGETHER ? 1 : 0
  return {
    place: accused ?? own,
    witnesses: accused === null ? [] : [own],
    condition: alert.name,
    gist: `${alert.name} ${accused === null ? '' : 'by a caller'}`,
    text: alert.summary,
    startsAt: alert.startsAt,
    lastAt,
    spans: [[alert.startsAt, lastAt]],
    factors: [gravity(alert), ...(accused ? [accusation()] : []), ...lasting(alert)],
    node: alert.node,
    evidence: [{ alertId: alert.id }],
    seen: 1 + before,
    seenBefore: before,
  }
}

function gravity({ name, severity, labels }: SuspectAlert): Factor {
  if (labels.alertname === 'DatasourceNoData' || labels.alertname === 'DatasourceError')
    return { code: 'severity', value: BLIND, text: 'a fault of the monitoring' }
  const words = name.replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ').toLowerCase()
  const signal = SIGNALS.find(([pattern]) => pattern.test(words))
  const value = SEVERITY[severity] * (signal?.[1] ?? 1)
  return { code: 'severity', value, text: signal ? `${severity}, speaks of ${signal[2]}` : severity }
}

function accusation(): Factor {
  return { code: 'accused', value: ACCUSED, text: 'a caller names it' }
}

function lasting({ endsAt }: SuspectAlert): Factor[] {
  return endsAt === null ? [] : [{ code: 'ended', value: PASSED, text: 'it ended' }]
}

/** Of equal conditions of one place the heaviest, with the evidence of all. */
function strongest(symptoms: readonly Symptom[]): Symptom[] {
  const byCondition = new Map<string, Symptom[]>()
  for (const symptom of symptoms) {
    const key = `${symptom.place} ${symptom.condition} ${symptom.witnesses.length > 0}`
    const same = byCondition.get(key)
    if (same) same.push(symptom)
    else byCondition.set(key, [symptom])
  }
  return [...byCondition.values()].flatMap((same) => merged(same.sort(compare)) ?? []).sort(compare)
}

function merged(same: readonly Symptom[]): Symptom | null {
  const [first] = same
  if (!first) return null
  const startsAt = Math.min(...same.map((one) => one.startsAt))
  const lastAt = Math.max(...same.map((one) => one.lastAt))
  const spans = same.flatMap((one) => one.spans)
  const witnesses = [...new Set(same.flatMap((one) => one.witnesses))].sort()
  return { ...first, startsAt, lastAt, spans, witnesses, evidence: same.flatMap(({ evidence }) => evidence) }
}

/** A total order, so that the order of the facts does not matter. */
function compare(a: Symptom, b: Symptom): number {
  if (a.weight !== b.weight) return b.weight - a.weight
  if (a.startsAt !== b.startsAt) return a.startsAt - b.startsAt
  return keyOf(a) < keyOf(b) ? -1 : 1
}

function keyOf({ place, condition, text, witnesses, evidence }: Symptom): string {
  return JSON.stringify([place, condition, text, witnesses, evidence])
}
