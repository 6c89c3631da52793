/** What the streams of a cluster deliver: what is kept of it, and its order. */

import { readSeen } from '../domain/kubernetes/parse.ts'
import type { Gap, Seen } from '../domain/watch/object.ts'
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
      /** When it arrived, in ms UTC. */
      readonly at: number
    }
  | { readonly type: 'deleted'; readonly uid: string; readonly stream: Stream; readonly version: string }
  | { readonly type: 'bookmark'; readonly stream: Stream; readonly version: string }
  | { readonly type: 'listed'; readonly stream: Stream; readonly uids: ReadonlySet<string>; readonly version: string }
  /** The same version of an object, because time has passed. */
  | { readonly type: 'again'; readonly uid: string }
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
  return { type: 'seen', seen, event, stream, version, at: now }
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

/** The streams of a cluster are not in step. A change waits this long for the object that it depends on, in milliseconds. */
const MAX_WAIT = 3_000

export type Circumstances = {
  readonly memory: Memory
  readonly now: number
  /** Returns whether the objects of a kind in a namespace were listed, and their changes are read. */
  readonly isFollowed: (kind: string, namespace: string) => boolean
}

/**
 * Returns a function that tells whether a change waits, called in order: it is early, or something is early that it could
 * own. Only what may be awaited goes on; an object that was deleted meanwhile would not be known.
 */
export function waitingWith(circumstances: Circumstances): (change: Change) => boolean {
  const waiting = new Set<Stream>()
  let rank = RESOURCES.length
  return (change) => {
    if (!('stream' in change)) return false
    const { stream, type } = change
    const own = RESOURCES.indexOf(stream.resource)
    if (isEarly(change, circumstances)) rank = Math.min(rank, own)
    const mayOwn = own < rank && (rank === RESOURCES.length || type === 'seen' || type === 'bookmark')
    if (mayOwn && !waiting.has(stream)) return false
    waiting.add(stream)
    return true
  }
}

/** Returns whether the owner of a new object, or the object of an event, is not known yet, but may be soon. */
function isEarly(change: Change, { memory, now, isFollowed }: Circumstances): boolean {
  // A list shows what is. It follows the lists of what its objects depend on.
  if (change.type !== 'seen' || change.version === null || Math.abs(now - change.at) >= MAX_WAIT) return false
  const { seen, event } = change
  const of: Json = event ? (event.regarding ?? event.involvedObject) : seen.owner
  const namespace = event ? (of?.namespace ?? '') : seen.namespace
  if (!of || !isFollowed(of.kind, namespace)) return false
  const found = memory.find(of.kind, namespace, of.name)
  // The controller first makes the ReplicaSet of a rollout, and then shows its revision in the Deployment.
  if (seen.kind === 'ReplicaSet' && found?.kind === 'Deployment')
    return Number(found.facts.revision) < seen.facts.revision
  return !found && (event !== null || memory.get(seen.uid) === null)
}
