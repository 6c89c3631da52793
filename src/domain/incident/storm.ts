/** Puts unresolved incidents together that pages show as one: groups with a common cause, and storms. */
import { ordered } from '../order.ts'
import { formatDuration } from '../shown-time.ts'
import { MINUTE } from '../units.ts'

/** Times are Unix times in milliseconds. `isOn`: whether the problem goes on. */
type Member = { readonly id: string; readonly startedAt: number; readonly isOn: boolean }
/** Incidents with a common cause. `leader` and `members` are ids. */
type Group = { readonly leader: string; readonly cause: string; readonly members: readonly string[] }

/** Incidents that are shown together. `cause`: null if only time connects them. */
export type Cluster<One> = { readonly leader: One; readonly cause: string | null; readonly members: readonly One[] }

/** All problems of a storm begin within this time of the first one. Fewer than `LEAST_STORM` are shown one by one. */
const TOGETHER = 10 * MINUTE
const LEAST_STORM = 10

/**
 * Returns the incidents in the given order, each together with its group or storm, which takes the place of its first
 * incident. The members of a storm are the burning incidents without a group; what began first is its leader.
 */
export function clustersOf<One extends Member>(
  incidents: readonly One[],
  groups: ReadonlyMap<string, Group>,
): readonly Cluster<One>[] {
  const clusterOf = new Map<string, Cluster<One>>()
  const known = new Map(incidents.map((one) => [one.id, one]))
  const keep = (cluster: Cluster<One>) => {
    for (const { id } of cluster.members) clusterOf.set(id, cluster)
  }
  for (const { leader, cause, members } of new Set(groups.values())) {
    const own = members.flatMap((id) => known.get(id) ?? [])
    const first = known.get(leader) ?? own[0]
    if (first) keep({ leader: first, cause, members: own })
  }
  for (const members of stormsOf(incidents.filter((one) => one.isOn && !clusterOf.has(one.id)))) {
    const [leader] = members
    if (leader) keep({ leader, cause: null, members })
  }
  return [...new Set(incidents.map((one) => clusterOf.get(one.id) ?? alone(one)))]
}

function alone<One>(one: One): Cluster<One> {
  return { leader: one, cause: null, members: [one] }
}

/** Returns the storms: a problem and all that began soon after it, if they are many. */
function stormsOf<One extends Member>(incidents: readonly One[]): readonly (readonly One[])[] {
  const sorted = ordered(incidents, ({ startedAt, id }) => [startedAt, id])
  const storms: One[][] = []
  let end = 0
  for (let start = 0; start < sorted.length; start += 1) {
    const until = (sorted[start]?.startedAt ?? 0) + TOGETHER
    while ((sorted[end]?.startedAt ?? Number.POSITIVE_INFINITY) <= until) end += 1
    if (end - start < LEAST_STORM) continue
    storms.push(sorted.slice(start, end))
    start = end - 1
  }
  return storms
}

/** Returns `began within 9 min`: how close together the problems began, in whole minutes. */
export function beganText(members: readonly Pick<Member, 'startedAt'>[]): string {
  const starts = members.map(({ startedAt }) => startedAt)
  const minutes = Math.ceil((Math.max(...starts) - Math.min(...starts)) / MINUTE)
  return `began within ${formatDuration(MINUTE * Math.max(1, minutes))}`
}
