/** What incmon remembers of the Kubernetes clusters that it watches. */
import type { EntryFact } from '../domain/incident/facts.ts'
import type { LiveIncident } from '../domain/incident/live-incident.ts'
import { formatDuration } from '../domain/shown-time.ts'
import type { Gap, Owner, Seen, WatchUpdate } from '../domain/watch/object.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'

type OfCluster = { readonly organizationId: number; readonly cluster: string }

type ObjectRow = OfCluster &
  Record<'uid' | 'kind' | 'namespace' | 'name' | 'version' | 'facts', string> & { readonly owner: string | null }

const saveObject = query<ObjectRow>()((sql, hole) =>
  sql.replaceInto('kubernetes_objects').values({
    ...{ organization_id: hole('organizationId'), cluster: hole('cluster'), uid: hole('uid'), kind: hole('kind') },
    ...{ namespace: hole('namespace'), name: hole('name'), version: hole('version') },
    ...{ owner: hole('owner'), facts: hole('facts') },
  }),
)

const deleteObject = query<OfCluster & { uid: string }>()((sql, hole) =>
  sql
    .deleteFrom('kubernetes_objects')
    .where('organization_id', '=', hole('organizationId'))
    .where('cluster', '=', hole('cluster'))
    .where('uid', '=', hole('uid')),
)

const savePosition = query<OfCluster & { resource: string; version: string; at: number }>()((sql, hole) =>
  sql.replaceInto('kubernetes_positions').values({
    ...{ organization_id: hole('organizationId'), cluster: hole('cluster') },
    ...{ resource: hole('resource'), version: hole('version'), at: hole('at') },
  }),
)

/** Saves what a watch has seen, inside the caller's transaction. */
export function saveWatch(db: Db, organizationId: number, update: WatchUpdate): void {
  const { cluster, at } = update
  const of = { organizationId, cluster }
  for (const { uid, kind, namespace, name, version, owner, facts } of update.saved) {
    const row = { ...of, uid, kind, namespace, name, version, owner: owner && `${owner.kind}/${owner.name}` }
    db.run(saveObject, { ...row, facts: JSON.stringify(facts) })
  }
  for (const uid of update.deleted) db.run(deleteObject, { ...of, uid })
  for (const { resource, version } of update.positions) db.run(savePosition, { ...of, resource, version, at })
  if (update.gap) {
    const { from: starts_at, to: ends_at } = update.gap
    db.run(
      db.sql.replaceInto('kubernetes_gaps').values({ organization_id: organizationId, cluster, starts_at, ends_at }),
    )
  }
}

const objects = query<OfCluster>()((sql, hole) =>
  sql
    .selectFrom('kubernetes_objects')
    .select(['uid', 'kind', 'namespace', 'name', 'version', 'owner', 'facts'])
    .where('organization_id', '=', hole('organizationId'))
    .where('cluster', '=', hole('cluster')),
)

const positions = query<OfCluster>()((sql, hole) =>
  sql
    .selectFrom('kubernetes_positions')
    .select(['resource', 'version', 'at'])
    .where('organization_id', '=', hole('organizationId'))
    .where('cluster', '=', hole('cluster')),
)

export type Watched = {
  /** Reads the objects anew each time, so that nobody keeps a second copy. */
  readonly objects: Iterable<Seen>
  readonly positions: ReadonlyMap<string, { readonly version: string; readonly at: number }>
}

/** Returns where the watch of a cluster resumes. */
export function loadWatch(db: Db, organizationId: number, cluster: string): Watched {
  const of = { organizationId, cluster }
  return {
    objects: { [Symbol.iterator]: () => Iterator.from(db.each(objects, of)).map(seenOf) },
    positions: new Map(db.all(positions, of).map(({ resource, version, at }) => [resource, { version, at }])),
  }
}

type Row = Record<'uid' | 'kind' | 'namespace' | 'name' | 'version' | 'facts', string> & Record<'owner', string | null>

function seenOf({ owner, facts, ...row }: Row): Seen {
  return { ...row, owner: owner === null ? null : ownerOf(owner), facts: JSON.parse(facts) } as Seen
}

function ownerOf(text: string): Owner {
  const slash = text.indexOf('/')
  return { kind: text.slice(0, slash), name: text.slice(slash + 1) }
}

/** Lists the periods in which a cluster was not observed, newest first. */
export function listGaps(db: Db, organizationId: number, cluster: string, from: number, to: number): readonly Gap[] {
  const gaps = db.sql
    .selectFrom('kubernetes_gaps')
    .select(['starts_at as from', 'ends_at as to'])
    .where('organization_id', '=', organizationId)
    .where('cluster', '=', cluster)
    .where('ends_at', '>=', from)
    .where('starts_at', '<=', to)
  return db.all(gaps.orderBy('starts_at', 'desc').limit(20))
}

/** Returns timeline entries for the periods in which the cluster of a service was not observed. */
export function gapEntries(
  db: Db,
  { organizationId, serviceId, startedAt }: LiveIncident,
  until: number,
): readonly EntryFact[] {
  const service = db.first(db.sql.selectFrom('services').select('cluster').where('id', '=', serviceId))
  if (!service?.cluster) return []
  return listGaps(db, organizationId, service.cluster, startedAt, until).map(({ from, to }) => ({
    ...{ at: from, kind: 'gap', code: null, actor: null, ref: null },
    text: `the cluster ${service.cluster} was not observed for ${formatDuration(to - from)}, because the API server had forgotten the changes`,
  }))
}
