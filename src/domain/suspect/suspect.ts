/** Suspects: the probable causes of an incident over all services of its organization, each with its reasons. */
import type { Alert, Resolution } from '../alert/alert.ts'
import type { EventKind } from '../alert/judgement.ts'
import type { Change } from '../correlation/change.ts'
import type { Severity } from '../severity.ts'
import { changeSuspects } from './change.ts'
import { explain } from './explanation.ts'
import { objectSuspects } from './object.ts'
import { placesOf } from './place.ts'
import { type Evidence, symptomsOf } from './symptom.ts'

/** What is known near an incident. Times in milliseconds UTC, ids are UUIDs; the order of the lists does not matter. */
export type Facts = {
  /** `startedAt`: its first evidence. `endedAt`: null while it goes on; what came later is no evidence. */
  readonly incident: { readonly service: string; readonly startedAt: number; readonly endedAt: number | null }
  /** All services of the organization that anything below names, or that a label could. */
  readonly services: readonly SuspectService[]
  readonly changes: readonly Change[]
  readonly alerts: readonly SuspectAlert[]
  /** Cluster events of warning or worse, and scalings of ReplicaSets. */
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
  'source' | 'name' | 'summary' | 'node' | 'labels' | 'startsAt' | 'endsAt' | 'lastSeenAt'
> & {
  readonly id: string
  readonly service: string
  readonly severity: Severity
  readonly resolution: Resolution | null
}

export type SuspectEvent = {
  readonly id: string
  readonly service: string | null
  readonly alertId: string | null
  readonly kind: EventKind
  /** The reason. */
  readonly name: string
  /** `Pod/cart-1`. */
  readonly object: string
  readonly text: string
  readonly at: number
  /** The sender's own count, at least 1. */
  readonly count: number
}

export type Suspect = {
  readonly kind: 'pipeline' | 'rollout' | 'node' | 'object'
  /** The change's ref; `node/worker-1`; an object's `namespace/name`, and `namespace/<name>` for the namespace itself. */
  readonly ref: string
  /** Null where no service stands for it. */
  readonly serviceId: string | null
  /** 0 to 1, comparable within one answer. */
  readonly score: number
  readonly reasons: readonly { readonly code: string; readonly text: string }[]
  readonly evidence: readonly Evidence[]
}

const MOST = 20
const MINUTE = 60_000
const HOUR = 60 * MINUTE

/**
 * The time around an incident in which its causes are looked for, in milliseconds UTC: from two hours before its start to
 * its end, or to `now`, and half an hour after the start at least. Scalings of a day before show which ReplicaSet is new.
 */
export function searchedSpan(
  incident: { readonly startedAt: number; readonly resolvedAt: number | null },
  now: number,
): { readonly scalingsFrom: number; readonly from: number; readonly to: number } {
  const from = incident.startedAt - 2 * HOUR
  const to = Math.max(incident.startedAt + 30 * MINUTE, incident.resolvedAt ?? now)
  return { scalingsFrom: from - 24 * HOUR, from, to }
}

/** So many at most are read of an incident's span, the newest first. */
export const MOST_EVENTS = 4_000
export const MOST_ALERTS = 1_000

/**
 * The probable causes, best first: the changes before the trouble, the nodes, and the objects whose trouble nothing else
 * accounts for. Each score is what its symptoms say together, and each symptom's weight a product of named factors:
 * how specific and how lasting it is, whether others show the same, whether it is new, whether it goes on.
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
