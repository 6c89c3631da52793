/** Suspects: the probable causes of an incident in all services of the organization, with reasons. Start here. */

import type { Alert, Resolution } from '../alert/alert.ts'
import type { EventKind } from '../alert/judgement.ts'
import type { Change } from '../correlation/change.ts'
import type { Labels } from '../event/event.ts'
import type { Severity } from '../severity.ts'
import { changeSuspects } from './change.ts'
import { explain } from './explanation.ts'
import { objectSuspects } from './object.ts'
import { placesOf } from './place.ts'
import { type Evidence, symptomsOf } from './symptom.ts'

/** The facts around an incident. Times in ms UTC, IDs are UUIDs, lists in any order. */
export type Facts = {
  /** `startedAt`: the first evidence. `endedAt`: null while it goes on; later facts do not count. */
  readonly incident: { readonly service: string; readonly startedAt: number; readonly endedAt: number | null }
  /** All services that the facts mention or that a label could mean. */
  readonly services: readonly SuspectService[]
  readonly changes: readonly Change[]
  readonly alerts: readonly SuspectAlert[]
  /** Cluster events of severity warning or worse, and scalings of ReplicaSets. */
  readonly events: readonly SuspectEvent[]
}

export type SuspectService = {
  readonly id: string
  readonly cluster: string
  readonly namespace: string
  readonly name: string
}

export type SuspectAlert = Pick<
  Alert,
  'source' | 'name' | 'summary' | 'node' | 'startsAt' | 'endsAt' | 'lastSeenAt'
> & {
  readonly id: string
  readonly labels: Labels
  readonly service: string
  readonly severity: Severity
  readonly resolution: Resolution | null
}

export type SuspectEvent = {
  readonly id: string
  readonly service: string | null
  readonly alertId: string | null
  readonly kind: EventKind
  /** The Kubernetes reason. */
  readonly name: string
  /** `Pod/cart-1`. */
  readonly object: string
  readonly text: string
  readonly at: number
  /** The count of the sender, at least 1. */
  readonly count: number
}

export type Suspect = {
  readonly kind: 'pipeline' | 'rollout' | 'node' | 'object'
  /** The ref of the change; `node/worker-1`; `namespace/name` of an object; `namespace/<name>` for a namespace. */
  readonly ref: string
  /** Null if there is no service. */
  readonly serviceId: string | null
  /** 0 to 1, comparable within one response. */
  readonly score: number
  readonly reasons: readonly { readonly code: string; readonly text: string }[]
  readonly evidence: readonly Evidence[]
}

const MOST = 20
const MINUTE = 60_000
const HOUR = 60 * MINUTE

/**
 * Returns the period in which causes are searched, in ms UTC: from two hours before the start to the end or `now`, and
 * at least half an hour after the start. Scalings of the day before show which ReplicaSet is new.
 */
export function searchedSpan(
  incident: { readonly startedAt: number; readonly resolvedAt: number | null },
  now: number,
): { readonly scalingsFrom: number; readonly from: number; readonly to: number } {
  const from = incident.startedAt - 2 * HOUR
  const to = Math.max(incident.startedAt + 30 * MINUTE, incident.resolvedAt ?? now)
  return { scalingsFrom: from - 24 * HOUR, from, to }
}

/** The maximum number of events that are read, newest first. */
export const MOST_EVENTS = 4_000
export const MOST_ALERTS = 1_000

/**
 * Returns the probable causes, best first: changes before the problem, nodes, and objects whose problem has no other
 * explanation. A score combines the weights of the symptoms. The weight of a symptom is a product of factors: how
 * specific and lasting it is, whether others show the same, whether it is new, and whether it goes on.
 */
export function rankSuspects(known: Facts): Suspect[] {
  const facts = untilItsEnd(known)
  const places = placesOf(facts)
  const symptoms = explain(symptomsOf(facts, places))
  const changes = changeSuspects(facts, places, symptoms)
  return [...changes, ...objectSuspects(facts, places, symptoms, changes)]
    .filter(({ score }) => score > 0)
    .sort(compare)
    .slice(0, MOST)
}

function untilItsEnd(facts: Facts): Facts {
  const end = facts.incident.endedAt
  if (end === null) return facts
  return {
    ...facts,
    changes: facts.changes.filter(({ startsAt }) => startsAt <= end),
    events: facts.events.filter(({ at }) => at <= end),
    alerts: facts.alerts
      .filter(({ startsAt }) => startsAt <= end)
      .map((alert) => ({ ...alert, lastSeenAt: Math.min(alert.lastSeenAt, end) })),
  }
}

function compare(a: Suspect, b: Suspect): number {
  if (a.score !== b.score) return b.score - a.score
  if (a.kind !== b.kind) return a.kind < b.kind ? 1 : -1
  if (a.ref !== b.ref) return a.ref < b.ref ? -1 : 1
  return (a.serviceId ?? '') < (b.serviceId ?? '') ? -1 : 1
}
