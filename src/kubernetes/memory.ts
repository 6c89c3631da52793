/** The objects of one cluster, as incmon remembers them. The same is on disk; see `store/kubernetes.ts`. */
import { shareEqual } from '../domain/memoize.ts'
import type { Container, Kind, Known, Owner, Seen, SeenOf } from '../domain/watch/object.ts'

export type Memory = Known & {
  readonly get: (uid: string) => Seen | null
  readonly put: (seen: Seen) => void
  readonly remove: (uid: string) => void
  readonly all: () => Iterable<Seen>
  readonly size: () => number
}

export function createMemory(objects: Iterable<Seen>): Memory {
  const byUid = new Map<string, Seen>()
  /** The uids by name, for each kind and namespace. */
  const byName = new Map<string, Map<string, string>>()
  /** The uids of the ReplicaSets of each Deployment, of the pods on each node, and of each workload's autoscaler. */
  const groups = new Map<string, Set<string>>()

  const remove = (uid: string) => {
    const seen = byUid.get(uid)
    if (!seen) return
    byUid.delete(uid)
    // A StatefulSet's next pod has the same name.
    const named = byName.get(placeOf(seen.kind, seen.namespace))
    if (named?.get(seen.name) === uid) named.delete(seen.name)
    const group = groupOf(seen)
    if (group !== null) groups.get(group)?.delete(uid)
  }
  const put = (found: Seen) => {
    const seen = sharing(found)
    remove(seen.uid)
    byUid.set(seen.uid, seen)
    // Nobody looks for an event by its name.
    if (seen.kind !== 'Event') {
      const place = placeOf(seen.kind, seen.namespace)
      const named = byName.get(place) ?? new Map()
      byName.set(place, named.set(seen.name, seen.uid))
    }
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
    find: (kind, namespace, name) => byUid.get(byName.get(placeOf(kind, namespace))?.get(name) ?? '') ?? null,
    replicaSetsOf: (namespace, deployment) => inGroup(`${namespace}/${deployment}`) as SeenOf<'ReplicaSet'>[],
    podsOn: (node) => inGroup(node) as SeenOf<'Pod'>[],
    autoscalerOf: ({ namespace, kind, name }) =>
      (inGroup(`${namespace}/${kind}/${name}`) as SeenOf<'HorizontalPodAutoscaler'>[])[0] ?? null,
    podsOf: ({ kind, namespace, name }) =>
      [...byUid.values()].filter(
        (one): one is SeenOf<'Pod'> =>
          one.kind === 'Pod' && one.namespace === namespace && one.owner?.kind === kind && one.owner.name === name,
      ),
  }
}

function placeOf(kind: Kind, namespace: string): string {
  return `${kind}/${namespace}`
}

const shareText = shareEqual((text: string) => text)
const shareOwner = shareEqual(({ kind, name }: Owner) => `${kind}/${name}`)

/** Shares equal texts: the pods of a workload differ in little, and a cluster has ten thousand of them. */
function sharing(seen: Seen): Seen {
  const namespace = shareText(seen.namespace)
  const owner = seen.owner && shareOwner(seen.owner)
  if (seen.kind !== 'Pod') return { ...seen, namespace, owner }
  const { facts } = seen
  const node = facts.node === null ? null : shareText(facts.node)
  const containers = facts.containers.map(sharingContainer)
  return { ...seen, namespace, owner, facts: { ...facts, node, phase: shareText(facts.phase), containers } }
}

function sharingContainer(one: Container): Container {
  return { ...one, name: shareText(one.name), digest: shareText(one.digest) }
}

/** The name of a node contains no slash. */
function groupOf(seen: Seen): string | null {
  if (seen.kind === 'Pod') return seen.facts.node
  if (seen.kind === 'HorizontalPodAutoscaler')
    return `${seen.namespace}/${seen.facts.target.kind}/${seen.facts.target.name}`
  return seen.kind === 'ReplicaSet' && seen.owner ? `${seen.namespace}/${seen.owner.name}` : null
}
