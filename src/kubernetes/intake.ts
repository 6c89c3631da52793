/** Turns what the streams deliver into one update: observations for the engine, and what to remember with them. */
import type { Accepted, Draft, Intake, Rejected } from '../domain/event/event.ts'
import { observe, observeDeleted } from '../domain/kubernetes/observe.ts'
import { readSeen } from '../domain/kubernetes/parse.ts'
import { type Gap, type Kind, type Seen, WATCH, type WatchUpdate, workloadOf } from '../domain/watch/object.ts'
import { readCluster } from '../intake/cluster.ts'
import type { Memory } from './memory.ts'
import { type Delivered, type Json, RESOURCES, type Stream } from './stream.ts'

/** A change that waits to be saved. Objects are reduced to what is remembered as soon as they are parsed. */
export type Change =
  | {
      readonly type: 'seen'
      readonly seen: Seen
      readonly event: Json | null
      readonly stream: Stream
      readonly version: string | null
    }
  | { readonly type: 'deleted'; readonly uid: string; readonly stream: Stream; readonly version: string }
  | { readonly type: 'bookmark'; readonly stream: Stream; readonly version: string }
  | { readonly type: 'listed'; readonly stream: Stream; readonly uids: ReadonlySet<string>; readonly version: string }
  /** The same version of an object, because time has passed. */
  | { readonly type: 'again'; readonly uid: string }
  /** An event of some time ago, whose pod was not known then. */
  | { readonly type: 'unseen'; readonly draft: Draft }
  | { readonly type: 'gap'; readonly gap: Gap }

/** Reduces what a stream delivers. Returns null for an object without a uid. */
export function changeOf(delivered: Delivered, stream: Stream, now: number): Change | null {
  if (delivered.type === 'bookmark' || delivered.type === 'listed') return { ...delivered, stream }
  const { type, object, version } = delivered
  if (type === 'deleted') return { type, uid: String(object?.metadata?.uid), stream, version: version ?? '' }
  const { kind } = stream.resource
  const seen = readSeen(kind, object, now)
  if (!seen) return null
  const event = kind === 'Event' ? { ...object, metadata: { ...object.metadata, managedFields: undefined } } : null
  return { type: 'seen', seen, event, stream, version }
}

/**
 * Brings what several streams delivered into the order in which it happened: the resource versions of a cluster count
 * up. An object of a list is as it is now, whatever its version: it follows what arrived before the first of them, and
 * owners come before what they own. The changes of one stream keep their order, because the position of a stream must not
 * be saved before the objects of its list.
 */
export function inOrder(changes: readonly Change[]): Change[] {
  const firstOfList = changes.findIndex((change) => change.type === 'seen' && change.version === null)
  const before = changes.slice(0, Math.max(0, firstOfList)).map((change) => versionOf(change) ?? 0)
  const afterThem = Math.max(0, ...before) + 0.5
  const reached = new Map<Stream | null, number>()
  const dated = changes.map((change) => {
    const stream = 'stream' in change ? change.stream : null
    const isOfList = change.type === 'seen' && change.version === null
    const at = Math.max(reached.get(stream) ?? 0, isOfList ? afterThem : (versionOf(change) ?? 0))
    reached.set(stream, at)
    return { change, at, rank: stream ? RESOURCES.indexOf(stream.resource) : 0 }
  })
  return dated.sort((a, b) => a.at - b.at || a.rank - b.rank).map(({ change }) => change)
}

function versionOf(change: Change): number | null {
  const version = 'version' in change && change.version ? Number(change.version) : null
  return Number.isSafeInteger(version) ? version : null
}

export type Prepared = {
  readonly update: WatchUpdate
  readonly intake: Intake
  /** Whether the update must be saved now, and not with a later one. */
  readonly isNews: boolean
  /** When to look again at objects that do not change, by uid. */
  readonly due: ReadonlyMap<string, number | null>
  /** Events of pods that are not known. The streams are not in step: such a pod may be gone, or become known soon. */
  readonly unseen: readonly Draft[]
}

/** `isFirst`: returns whether a stream is listed for the first time. */
type Circumstances = {
  readonly cluster: string
  readonly memory: Memory
  readonly now: number
  readonly isFirst: (stream: Stream) => boolean
  /** Whether all pods are known. */
  readonly arePodsListed?: boolean
}

/** Applies changes in order to the memory, and returns what to save. */
export function prepare(changes: readonly Change[], circumstances: Circumstances): Prepared {
  const { cluster, memory, now, isFirst, arePodsListed = false } = circumstances
  const saved = new Map<string, Seen>()
  const deleted = new Set<string>()
  const positions = new Map<string, string>()
  const due = new Map<string, number | null>()
  const accepted: Accepted[] = []
  const rejected: Rejected[] = []
  const unseen: Draft[] = []
  let gap: Gap | null = null
  const add = (drafts: readonly Draft[]) => {
    for (const draft of drafts) accepted.push({ index: accepted.length, draft })
  }
  const look = (before: Seen | null, seen: Seen, isFirstList: boolean) => {
    const { after, told, dueAt } = observe(before, seen, { known: memory, now, isFirst: isFirstList })
    due.set(after.uid, dueAt)
    add(told)
    if (before && isSame(before, after)) {
      memory.put({ ...before, version: after.version })
      return
    }
    memory.put(after)
    saved.set(after.uid, after)
    deleted.delete(after.uid)
  }
  const remove = (uid: string) => {
    const before = memory.get(uid)
    if (!before) return
    add(observeDeleted(before, memory, now))
    memory.remove(uid)
    saved.delete(uid)
    deleted.add(uid)
    due.set(uid, null)
  }
  for (const change of changes) {
    if (change.type === 'seen') {
      const before = memory.get(change.seen.uid)
      // A list after a 410 contains what is stored already.
      if (before?.version !== change.seen.version) {
        look(before, change.seen, isFirst(change.stream))
        const drafts = change.event ? readEvent(change.event, { memory, now, accepted, rejected }) : []
        const absent = arePodsListed ? drafts.filter((draft) => podGone(draft, memory) !== null) : []
        // A list has the events of the last hour. Pods are listed before them: one that is not known is gone.
        if (change.version === null) add(absent.flatMap((draft) => podGone(draft, memory) ?? []))
        else unseen.push(...absent)
      }
    } else if (change.type === 'deleted') remove(change.uid)
    else if (change.type === 'listed') for (const uid of missingFrom(change, memory)) remove(uid)
    else if (change.type === 'again') {
      const seen = memory.get(change.uid)
      if (seen) look(seen, seen, false)
    } else if (change.type === 'unseen') add([podGone(change.draft, memory)].filter((draft) => draft !== null))
    else if (change.type === 'gap') gap = change.gap
    if ('version' in change && change.version) positions.set(change.stream.name, change.version)
  }
  return {
    update: {
      ...{ cluster, gap, at: now, saved: [...saved.values()], deleted: [...deleted] },
      positions: [...positions].map(([resource, version]) => ({ resource, version })),
    },
    intake: { accepted, rejected, group: null, receiver: WATCH },
    isNews: accepted.length + rejected.length > 0 || gap !== null || changes.some(({ type }) => type === 'listed'),
    ...{ due, unseen },
  }
}

/**
 * Returns whether two versions differ in nothing that is remembered. The older one may stay on disk: comparing it with
 * any later version tells the same. Each version of an event is an occurrence.
 */
function isSame(before: Seen, after: Seen): boolean {
  if (after.kind === 'Event') return false
  return JSON.stringify([before.facts, before.owner]) === JSON.stringify([after.facts, after.owner])
}

/** Returns the uids of the remembered objects that a complete list does not contain. */
function missingFrom({ stream, uids }: Extract<Change, { type: 'listed' }>, memory: Memory): string[] {
  const { resource, namespace } = stream
  const missing: string[] = []
  for (const { uid, kind, namespace: own } of memory.all()) {
    if (kind === resource.kind && (namespace === '' || own === namespace) && !uids.has(uid)) missing.push(uid)
  }
  return missing
}

/** Adds a later update to one that was not saved. */
export function joined(before: WatchUpdate, after: WatchUpdate): WatchUpdate {
  const saved = new Map([...before.saved, ...after.saved].map((seen) => [seen.uid, seen]))
  const gone = new Set([...before.deleted, ...after.deleted])
  const isBack = new Set(after.saved.map(({ uid }) => uid))
  for (const uid of after.deleted) saved.delete(uid)
  const positions = new Map([...before.positions, ...after.positions].map((one) => [one.resource, one]))
  return {
    ...after,
    saved: [...saved.values()],
    deleted: [...gone].filter((uid) => !isBack.has(uid)),
    positions: [...positions.values()],
    gap: after.gap ?? before.gap,
  }
}

/** Parses an event like one from a webhook. Its object's workload is known, so it need not be guessed from the name. */
function readEvent(
  event: Json,
  { memory, now, accepted, rejected }: { memory: Memory; now: number; accepted: Accepted[]; rejected: Rejected[] },
): Draft[] {
  const read = readCluster(event, now)
  for (const { draft, warnings } of read.accepted) {
    const found =
      draft.source === 'cluster'
        ? memory.find(draft.object.kind as Kind, draft.object.namespace, draft.object.name)
        : null
    const owner = found && workloadOf(found, memory)
    const node = found?.kind === 'Pod' ? found.facts.node : null
    const exact =
      draft.source === 'cluster' && owner
        ? { ...draft, object: { ...draft.object, owners: [owner], node: node ?? draft.object.node } }
        : draft
    accepted.push({ index: accepted.length, draft: exact, ...(warnings ? { warnings } : {}) })
  }
  rejected.push(...read.rejected)
  return read.accepted.map(({ draft }) => draft)
}

const GONE = 'Pod does not exist any more; its workload was guessed from its name'

/** Returns the end of a pod that an event names, if there is no such pod. */
function podGone(draft: Draft, memory: Memory): Draft | null {
  if (draft.source !== 'cluster' || draft.object.kind !== 'Pod' || draft.type === 'Normal') return null
  if (memory.find('Pod', draft.object.namespace, draft.object.name)) return null
  return { ...draft, reason: 'PodDeleted', message: GONE, type: 'Normal', startsAt: draft.at, count: 1 }
}
