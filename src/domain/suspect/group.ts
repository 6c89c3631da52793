/** Groups open incidents that have a common cause. A group is computed whenever it is shown, and never stored. */
import type { ServiceKey } from '../service/service.ts'
import { MINUTE } from '../units.ts'
import { type DependentAlert, dependenciesOf, type Target, targetOfService, type Unwell } from './dependency.ts'

/** An unresolved incident. Times are Unix times in milliseconds. */
export type OpenIncident = {
  readonly id: string
  readonly createdAt: number
  readonly startedAt: number
  readonly service: ServiceKey
  readonly alerts: readonly DependentAlert[]
  /** The ref of the change that is likely to have caused the incident; null if there is none. */
  readonly change: string | null
}

export type IncidentGroup = {
  /** The incident of the cause, or the earliest incident if the cause has none. */
  readonly leader: string
  /** Whether the leader is the incident of the cause. */
  readonly isLedByCause: boolean
  /** The name of the cause, such as `postgres` or `node worker-3`. */
  readonly cause: string
  /** The ids of the incidents, earliest first. */
  readonly members: readonly string[]
}

/** This many incidents with a common cause are a group. */
export const LEAST_MEMBERS = 3
/** Incidents that share only a node must open within this time of each other. */
export const TOGETHER = 5 * MINUTE

type Candidate = {
  readonly target: Target
  /** The incident of the cause itself; null if the cause has no incident. */
  readonly cause: OpenIncident | null
  readonly members: readonly OpenIncident[]
}

/** Returns the groups of incidents with a common cause. Every incident is in at most one group. */
export function incidentGroupsOf(incidents: readonly OpenIncident[], unwell: Unwell): readonly IncidentGroup[] {
  const groupOf = new Map<OpenIncident, Candidate>()
  for (const candidate of candidatesOf(incidents, unwell)) {
    const { cause, members } = candidate
    const fresh = members.filter((one) => !groupOf.has(one))
    const above = cause === null ? undefined : groupOf.get(cause)
    const below = members.flatMap((one) => (groupOf.get(one)?.cause === one ? (groupOf.get(one) ?? []) : []))[0]
    if (!above && !below && fresh.length < LEAST_MEMBERS) continue
    // If the cause of one group is a victim in another one, the two are one group.
    const wider = above ?? candidate
    const group = { ...wider, members: [...((above ?? below)?.members ?? []), ...fresh] }
    for (const one of group.members) groupOf.set(one, group)
  }
  return [...new Set(groupOf.values())].map(shownGroup)
}

function shownGroup({ target, cause, members }: Candidate): IncidentGroup {
  const ordered = members.toSorted(byStart)
  const leader = cause ?? ordered[0]
  return {
    leader: leader?.id ?? '',
    isLedByCause: cause !== null,
    cause: target.name,
    members: ordered.map(({ id }) => id),
  }
}

/** Returns the possible groups: those whose cause has an incident first, then the largest. */
function candidatesOf(incidents: readonly OpenIncident[], unwell: Unwell): Candidate[] {
  const causes = new Map(
    incidents
      .toSorted(byStart)
      .reverse()
      .map((one) => [targetOfService(one.service).key, one]),
  )
  const byKey = new Map<string, { readonly target: Target; readonly victims: OpenIncident[] }>()
  for (const incident of incidents) {
    for (const target of targetsOf(incident, unwell)) {
      const known = byKey.get(target.key)
      if (known) known.victims.push(incident)
      else byKey.set(target.key, { target, victims: [incident] })
    }
  }
  return [...byKey.values()]
    .flatMap(({ target, victims }) => candidateOf(target, causes.get(target.key) ?? null, victims) ?? [])
    .sort(
      (a, b) =>
        Number(b.cause !== null) - Number(a.cause !== null) ||
        b.members.length - a.members.length ||
        (a.target.key < b.target.key ? -1 : 1),
    )
}

function targetsOf({ service, alerts, change }: OpenIncident, unwell: Unwell): readonly Target[] {
  const named = dependenciesOf(service, alerts, unwell)
  return change === null ? named : [...named, { kind: 'change', key: `change ${change}`, name: change }]
}

function candidateOf(target: Target, cause: OpenIncident | null, victims: readonly OpenIncident[]): Candidate | null {
  if (target.kind === 'node') return onNode(target, cause, victims)
  // What went on long before the cause has another one.
  const caused = victims.filter((one) => one !== cause && (!cause || one.startedAt >= cause.startedAt - TOGETHER))
  const members = cause ? [cause, ...caused] : caused
  return members.length >= LEAST_MEMBERS ? { target, cause, members } : null
}

/** In a small cluster, many pods share a node. So only incidents that open together with another one form a group. */
function onNode(target: Target, cause: OpenIncident | null, victims: readonly OpenIncident[]): Candidate | null {
  const inOrder = victims.toSorted((a, b) => a.createdAt - b.createdAt)
  const first = cause ?? inOrder[0]
  if (!first) return null
  const others = inOrder.filter((one) => one !== first && Math.abs(one.createdAt - first.createdAt) <= TOGETHER)
  return others.length >= LEAST_MEMBERS ? { target, cause, members: [first, ...others] } : null
}

function byStart(a: OpenIncident, b: OpenIncident): number {
  return a.startedAt - b.startedAt || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)
}
