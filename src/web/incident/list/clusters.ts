/** Puts the unresolved incidents into the groups and storms that pages show as one. */
import { problemAt } from '../../../domain/incident/problem.ts'
import { type Cluster, clustersOf } from '../../../domain/incident/storm.ts'
import { mostUrgentFirst } from '../../../domain/incident/urgency.ts'
import { findGroups } from '../../../store/incident/groups.ts'
import { type IncidentRecord, listUnresolvedIncidents } from '../../../store/incident/incidents.ts'
import type { Visit } from '../../page.ts'

/** The maximum number of incidents to sort. */
const MAX_ORDERED = 10_000

/** Returns the unresolved incidents, the most urgent first, and their groups and storms in the same order. */
export async function findClusters({ store, visitor, now }: Visit): Promise<{
  readonly unresolved: readonly IncidentRecord[]
  readonly clusters: readonly Cluster<IncidentRecord>[]
}> {
  const { organizationId } = visitor
  const [all, groups] = await Promise.all([
    store.read(listUnresolvedIncidents, organizationId, MAX_ORDERED),
    store.read(findGroups, organizationId),
  ])
  const unresolved = mostUrgentFirst(all, now)
  const withState = unresolved.map((one) => ({ ...one, isOn: problemAt(one.problem, now) === 'on' }))
  return { unresolved, clusters: clustersOf(withState, groups) }
}

/** Returns the incidents of a group or storm in the order in which their problems began. */
export function inOrder({ members }: Cluster<IncidentRecord>): readonly IncidentRecord[] {
  return members.toSorted((a, b) => a.startedAt - b.startedAt || a.number - b.number)
}

/** Returns whether no other incident began before the leader. */
export function wentFirst({ leader, members }: Cluster<IncidentRecord>): boolean {
  return members.every(({ startedAt }) => startedAt >= leader.startedAt)
}
