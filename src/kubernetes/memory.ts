/** The objects of one cluster, as incmon remembers them. The same is on disk; see `store/kubernetes.ts`. */
import type { Kind, Known, Seen, SeenOf } from '../domain/watch/object.ts'

export type Memory = Known & {
  readonly get: (uid: string) => Seen | null
  readonly put: (seen: Seen) => void
  readonly remove: (uid: string) => void
  readonly all: () => Iterable<Seen>
  readonly size: () => number
}

export function createMemory(objects: readonly Seen[]): Memory {
  const byUid = new Map<string, Seen>()
  const byName = new Map<string, string>()
  /** The uids of the ReplicaSets of each Deployment, and of the pods on each node. */
  const groups = new Map<string, Set<string>>()

  const remove = (uid: string) => {
    const seen = byUid.get(uid)
    if (!seen) return
    byUid.delete(uid)
    // A StatefulSet's next pod has the same name.
    if (byName.get(nameKey(seen.kind, seen.namespace, seen.name)) === uid)
      byName.delete(nameKey(seen.kind, seen.namespace, seen.name))
    const group = groupOf(seen)
    if (group !== null) groups.get(group)?.delete(uid)
  }
  const put = (seen: Seen) => {
    remove(seen.uid)
    byUid.set(seen.uid, seen)
    // Nobody looks for an event by its name.
    if (seen.kind !== 'Event') byName.set(nameKey(seen.kind, seen.namespace, seen.name), seen.uid)
    const group = groupOf(seen)
    if (group === null) return
    const uids = groups.get(group) ?? new Set()
    groups.set(group, uids.add(seen.uid))
  }
  const inGroup = (group: string) => [...(groups.get(group) ?? [])].flatMap((uid) => byUid.get(uid) ?? [])
  for (const seen of objects) put(seen)
  return {
    get: (uid) => byUid.get(uid) ?? null,
    ...{ put, remove, all: () => byUid.values(), size: () => byUid.size },
    find: (kind, namespace, name) => byUid.get(byName.get(nameKey(kind, namespace, name)) ?? '') ?? null,
    replicaSetsOf: (namespace, deployment) => inGroup(`${namespace}/${deployment}`) as SeenOf<'ReplicaSet'>[],
    podsOn: (node) => inGroup(node) as SeenOf<'Pod'>[],
  }
}

function nameKey(kind: Kind, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`
}

/** The name of a node contains no slash. */
function groupOf(seen: Seen): string | null {
  if (seen.kind === 'Pod') return seen.facts.node
  return seen.kind === 'ReplicaSet' && seen.owner ? `${seen.namespace}/${seen.owner.name}` : null
}
