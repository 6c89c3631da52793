/** Reads the groups of the incidents that a message is about. */
import { problemAt } from '../../domain/incident/problem.ts'
import type { GroupMember, MessageGroup } from '../../domain/notification/group-words.ts'
import type { IncidentGroup } from '../../domain/suspect/group.ts'
import { findGroups } from '../incident/groups.ts'
import { toProblem } from '../incident/live-incidents.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidBytes, uuidFromBytes } from '../sqlite/uuid.ts'

/** Returns the group of each incident that is in one, by the id of the incident. */
export function listMessageGroups(
  db: Db,
  organizationId: number,
  ids: readonly string[],
  now: number,
): ReadonlyMap<string, MessageGroup> {
  const known = new Map<IncidentGroup, MessageGroup>()
  const groups = findGroups(db, organizationId)
  return new Map(
    ids.flatMap((id) => {
      const group = groups.get(id)
      if (!group) return []
      const found = known.get(group) ?? messageGroup(db, group, now)
      if (!found) return []
      known.set(group, found)
      return [[id, found] as const]
    }),
  )
}

function messageGroup(db: Db, { leader, cause, members }: IncidentGroup, now: number): MessageGroup | null {
  const rows = db.sql
    .selectFrom('incidents')
    .innerJoin('services', 'services.id', 'incidents.service_id')
    .select(['incidents.uuid', 'number', 'title', 'severity', 'incidents.status', 'started_at as startedAt'])
    .select(['acknowledged_by as acknowledgedBy', 'problem', 'services.name', 'namespace', 'cluster'])
    .where(
      'incidents.uuid',
      'in',
      members.map((id) => uuidBytes(id)),
    )
    .orderBy('incidents.id')
  const incidents = db.all(rows).map(({ uuid, problem, name, namespace, cluster, ...incident }): GroupMember => {
    const service = { name, namespace, cluster }
    return { id: uuidFromBytes(uuid), ...incident, problem: problemAt(toProblem(problem), now), service }
  })
  const first = incidents.find(({ id }) => id === leader)
  return first ? { leader: first, cause, incidents } : null
}
