/** Turns what the streams deliver into one update: observations for the engine, and what to remember with them. */
import type { Accepted, Draft, Intake, Rejected } from '../domain/event/event.ts'
import { observe, observeDeleted } from '../domain/kubernetes/observe.ts'
import { corrected } from '../domain/sender/sender.ts'
import { type Gap, type Kind, type Seen, WATCH, type WatchUpdate, workloadOf } from '../domain/watch/object.ts'
import { readCluster } from '../intake/cluster.ts'
import { type Change, type Circumstances, waitingWith } from './changes.ts'
import type { Memory } from './memory.ts'
import type { Json, Stream } from './stream.ts'

/** What is applied at once blocks other requests for some milliseconds. */
const MAX_CHANGES = 25

export type Prepared = {
  readonly applied: readonly Change[]
  /** The changes to prepare later, in order. */
  readonly rest: Change[]
  readonly update: WatchUpdate
  readonly intake: Intake
  /** Whether the update must be saved now, and not with a later one. */
  readonly isNews: boolean
  /** When to look again at objects that do not change, by uid. */
  readonly due: ReadonlyMap<string, number | null>
}

/** `isFirst`: returns whether a stream is listed for the first time. */
type Preparing = Circumstances & {
  readonly cluster: string
  /** By how many milliseconds the cluster's clock is ahead. */
  readonly ahead: number
  readonly isFirst: (stream: Stream) => boolean
  /** Logs a problem. An object that cannot be understood must not keep the server from reading the others. */
  readonly warn: (problem: string) => void
}

/**
 * Applies changes in order to the memory, and returns what to save. A change that comes before what it depends on waits,
 * and with it what follows. It is not saved meanwhile, so a crash changes nothing.
 */
export function prepare(changes: readonly Change[], circumstances: Preparing): Prepared {
  const { cluster, memory, ahead, isFirst } = circumstances
  // The times in objects are compared with the clock of their cluster.
  const now = circumstances.now + ahead
  const applied: Change[] = []
  const rest: Change[] = []
  const waits = waitingWith(circumstances)
  const saved = new Map<string, Seen>()
  const deleted = new Set<string>()
  const positions = new Map<string, string>()
  const due = new Map<string, number | null>()
  const accepted: Accepted[] = []
  const rejected: Rejected[] = []
  let gap: Gap | null = null
  const add = (drafts: readonly Draft[]) => {
    for (const draft of drafts) accepted.push({ index: accepted.length, draft })
  }
  const inOurTime = (one: Accepted) => ({ ...one, draft: corrected(one.draft, ahead, circumstances.now) })
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
  const apply = (change: Change) => {
    if (change.type === 'seen') {
      const before = memory.get(change.seen.uid)
      // A list after a 410 contains what is stored already.
      if (before?.version !== change.seen.version) {
        look(before, change.seen, isFirst(change.stream))
        const drafts = change.event ? readEvent(change.event, { memory, now, accepted, rejected }) : []
        // A pod that is still not known is gone.
        add(drafts.flatMap((draft) => podGone(draft, circumstances) ?? []))
      }
    } else if (change.type === 'deleted') remove(change.uid)
    else if (change.type === 'listed') for (const uid of missingFrom(change, memory)) remove(uid)
    else if (change.type === 'again') {
      const seen = memory.get(change.uid)
      if (seen) look(seen, seen, false)
    } else if (change.type === 'gap') gap = change.gap
  }
  for (const change of changes) {
    if (applied.length === MAX_CHANGES || waits(change)) {
      rest.push(change)
      continue
    }
    applied.push(change)
    try {
      apply(change)
    } catch (error) {
      circumstances.warn(`an object cannot be understood: ${error}`)
    }
    if ('version' in change && change.version) positions.set(change.stream.name, change.version)
  }
  return {
    ...{ applied, rest, due },
    update: {
      ...{ cluster, gap, at: circumstances.now, saved: [...saved.values()], deleted: [...deleted] },
      positions: [...positions].map(([resource, version]) => ({ resource, version })),
    },
    intake: { accepted: accepted.map(inOurTime), rejected, group: null, receiver: WATCH },
    isNews: accepted.length + rejected.length > 0 || gap !== null || applied.some(({ type }) => type === 'listed'),
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
function podGone(draft: Draft, { memory, isFollowed }: Circumstances): Draft | null {
  if (draft.source !== 'cluster' || draft.object.kind !== 'Pod' || draft.type === 'Normal') return null
  const { namespace, name } = draft.object
  if (!isFollowed('Pod', namespace) || memory.find('Pod', namespace, name)) return null
  return { ...draft, reason: 'PodDeleted', message: GONE, type: 'Normal', startsAt: draft.at, count: 1 }
}
