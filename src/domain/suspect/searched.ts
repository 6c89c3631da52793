/** How far back causes are searched, and among how many records. */
import { isPartOf } from '../text.ts'
import { HOUR, MINUTE } from '../units.ts'
import type { SuspectAlert, SuspectFacts } from './suspect.ts'

/**
 * Returns the period in which to search for causes, in ms UTC. The period starts two hours before the incident. The
 * period ends with the incident or at `now`, but at least half an hour after the start. Scalings are read from one day
 * earlier, to determine which ReplicaSet is new.
 */
export function searchedSpan(
  incident: { readonly startedAt: number; readonly resolvedAt: number | null },
  now: number,
): { readonly scalingsFrom: number; readonly from: number; readonly to: number } {
  const from = incident.startedAt - 2 * HOUR
  const to = Math.max(incident.startedAt + 30 * MINUTE, incident.resolvedAt ?? now)
  return { scalingsFrom: from - 24 * HOUR, from, to }
}

/** The maximum number of events to read, newest first. */
export const MAX_EVENTS = 4_000
export const MAX_ALERTS = 1_000
/** The reason with which the kubelet and kube-proxy report that they start. Kubernetes calls it information. */
export const START = 'Starting'

/**
 * Returns the facts without those alerts of the incident that have ended or, if conditions are given, are about others. What
 * caused them did not cause what goes on. If no alert is left, all count.
 */
export function presentOf(facts: SuspectFacts, names: readonly string[] | null): SuspectFacts {
  const isNamed = ({ name }: SuspectAlert) =>
    names === null || names.some((condition) => condition === name || isPartOf(condition, name))
  const isPresent = (one: SuspectAlert) => one.endsAt === null && one.severity !== 'info' && isNamed(one)
  const own = facts.alerts.filter(({ inIncident }) => inIncident)
  const present = own.filter(isPresent)
  if (present.length === 0 || present.length === own.length) return facts
  const left = new Set(own.filter((one) => !isPresent(one)).map(({ id }) => id))
  const events = facts.events.filter(({ alertId }) => alertId === null || !left.has(alertId))
  return { ...facts, alerts: facts.alerts.filter(({ id }) => !left.has(id)), events }
}
