/** Watches one cluster: reads its streams, saves what they deliver in small batches, and reports its state. */

import { BUDGETS } from '../domain/budgets.ts'
import { dueAtOf } from '../domain/kubernetes/observe.ts'
import type { Name } from '../domain/service/service.ts'
import { type ClusterState, type Gap, joined, WATCH, type WatchUpdate } from '../domain/watch/object.ts'
import { workloadNow } from '../domain/watch/workload-now.ts'
import type { Engine } from '../engine/engine.ts'
import type { Watched } from '../store/kubernetes.ts'
import { type Change, changeOf, inOrder } from './changes.ts'
import { ApiError, type Client, TOO_MANY } from './client.ts'
import { type Prepared, prepare } from './intake.ts'
import { createMemory } from './memory.ts'
import { type Delivered, runStream, type Stream, type StreamState, streamsOf, textIn } from './stream.ts'

type ClusterDeps = {
  readonly name: string
  readonly server: string
  readonly organizationId: number
  readonly namespaces: readonly string[]
  readonly client: Client
  readonly engine: Pick<Engine, 'submit'>
  readonly watched: Watched
  readonly now: () => number
  readonly random: () => number
  /** Logs a problem; once until it is over. */
  readonly warn: (problem: string) => void
  /** Called when a list is stored and no other one is missing. */
  readonly onListed: () => void
}

/** How long to collect changes, in milliseconds; longer while a stream connects, so that they can be put in order. */
const GATHER = 150
const GATHER_AT_MOST = 10_000
/**
 * What tells nothing is saved this often, and positions alone less often. After a crash, the streams resume at the saved
 * positions, and compare again with what was saved with them.
 */
const QUIET = 5_000
const BOOKMARKS = 30_000
/** What tells nothing is saved in larger batches. */
const MAX_SAVED = 100
/** A stream waits while this many of its changes wait to be saved. */
const MAX_WAITING = 300
const RETRY = 1_000
const MOST = BUDGETS['cluster-objects'].value
const NOTHING: Prepared['intake'] = { accepted: [], rejected: [], group: null, receiver: WATCH }
const TICK = 1_000
const isOf = (change: Change, stream: Stream) => 'stream' in change && change.stream === stream
const turn = () => new Promise((resolve) => setImmediate(resolve))

export function watchCluster(deps: ClusterDeps) {
  const { name, watched, now, warn, client } = deps
  const memory = createMemory(watched.objects)
  const streams = streamsOf(deps.namespaces)
  const listed = new Set(watched.positions.keys())
  const states = new Map<Stream, StreamState>()
  const due = new Map<string, number>()
  const stop = new AbortController()
  let waiting: Change[] = []
  let waitingSince = 0
  let timer: NodeJS.Timeout | null = null
  let saving: Promise<void> | null = null
  const room: (() => void)[] = []
  let heardAt = Math.max(0, ...[...watched.positions.values()].map(({ at }) => at)) || null
  let gap: Gap | null = null
  /** What is in the memory, but not on disk. */
  let unsaved: WatchUpdate | null = null
  let reached = new AbortController()

  const add = (change: Change) => {
    if (waiting.length === 0) waitingSince = now()
    waiting.push(change)
    const isUrgent = change.type !== 'bookmark' || now() - (heardAt ?? 0) >= BOOKMARKS
    if (isUrgent && !timer && !saving) timer = setTimeout(start, GATHER)
  }
  /** Whether a stream that continues where it stopped will deliver what happened before the waiting changes. */
  const isComing = (stream: Stream) => {
    const { doing, status } = states.get(stream) ?? { doing: 'connect', status: 200 }
    return listed.has(stream.name) && doing !== 'watch' && (status === 0 || status === 200)
  }
  const start = () => {
    timer = null
    if (now() - waitingSince < GATHER_AT_MOST && streams.some(isComing)) {
      timer = setTimeout(start, GATHER)
      return
    }
    saving ??= save().finally(() => {
      saving = null
      waitingSince = now()
      if (waiting.length > 0 && !stop.signal.aborted) timer ??= setTimeout(start, GATHER)
    })
  }

  const save = async () => {
    if (unsaved && isDue(unsaved)) await submit(unsaved, NOTHING)
    // A process that stood still has not read yet what arrived meanwhile, on any of its connections.
    for (let before = -1; before < waiting.length; await turn()) before = waiting.length
    while (waiting.length > 0 && !stop.signal.aborted) {
      const isFirst = (stream: Stream) => !listed.has(stream.name)
      const at = { now: now(), ahead: client.ahead() }
      const prepared = prepare(inOrder(waiting), { cluster: name, memory, ...at, isFirst, isFollowed, warn })
      waiting = prepared.rest
      if (prepared.applied.length === 0) return
      const update = unsaved ? joined(unsaved, prepared.update) : prepared.update
      unsaved = update
      if (prepared.isNews || isDue(update)) await submit(update, prepared.intake)
      const lists = prepared.applied.flatMap((change) => (change.type === 'listed' ? change.stream.name : []))
      for (const name of lists) listed.add(name)
      if (lists.length > 0 && isComplete()) deps.onListed()
      for (const [uid, at] of prepared.due) {
        if (at === null) due.delete(uid)
        else due.set(uid, at)
      }
      if (waiting.length < MAX_WAITING) for (const go of room.splice(0)) go()
      // Requests of others come first.
      await turn()
    }
  }

  const isFollowed = (kind: string, namespace: string) =>
    [...states].some(
      ([stream, { doing }]) =>
        doing === 'watch' && stream.resource.kind === kind && ['', namespace].includes(stream.namespace),
    )
  const isComplete = () =>
    streams.every((stream) => listed.has(stream.name) || (states.get(stream)?.error ?? null) !== null)
  const isBlind = () => [...states].some(([{ resource }, { status }]) => resource.kind === 'Pod' && status === 403)

  const isDue = ({ saved, deleted }: WatchUpdate) => {
    const changed = saved.length + deleted.length
    return changed >= MAX_SAVED || now() - (heardAt ?? 0) >= (changed > 0 ? QUIET : BOOKMARKS)
  }

  /** Retries until the update is on disk, because the memory already contains it. */
  const submit = async (update: WatchUpdate, intake: Prepared['intake']) => {
    while (!stop.signal.aborted) {
      const { organizationId, engine } = deps
      // Without pods, nothing shows when a crash loop is over. Then its end is inferred, as for the events of an exporter.
      const seen = isBlind() ? { ...intake, receiver: '' } : intake
      const common = { organizationId, cluster: name, source: 'cluster', intake: seen, receivedAt: update.at } as const
      try {
        await engine.submit({ ...common, idempotencyKey: null, dryRun: false, isFromCache: false, watch: update })
        heardAt = update.at
        unsaved = null
        return
      } catch (error) {
        warn(`what was observed cannot be stored yet: ${error instanceof Error ? error.message : String(error)}`)
        await new Promise((resolve) => setTimeout(resolve, RETRY))
      }
    }
  }

  /** An object that cannot be read must not keep the server from reading the others. */
  const readable = (delivered: Delivered, stream: Stream): Change | null => {
    try {
      return changeOf(delivered, stream, now())
    } catch (error) {
      warn(`${stream.name}: an object has unknown fields: ${error}`)
      return null
    }
  }
  const run = (stream: Stream) =>
    runStream(stream, watched.positions.get(stream.name)?.version ?? null, {
      ...{ client, warn, random: deps.random, signal: stop.signal, reached: () => reached.signal },
      take: (delivered) => {
        if (
          delivered.type === 'object' &&
          memory.size() >= MOST &&
          !memory.get(textIn(delivered.object?.metadata?.uid))
        )
          throw new ApiError(TOO_MANY, `the cluster has more than ${MOST} objects; watch only some namespaces`)
        const change = readable(delivered, stream)
        if (change) add(change)
        const isFull = waiting.length >= MAX_WAITING && waiting.filter((one) => isOf(one, stream)).length >= MAX_WAITING
        return isFull && !stop.signal.aborted ? new Promise((resolve) => room.push(resolve)) : undefined
      },
      forgotten: () => {
        // The streams lose their history together, so this is one gap.
        const from = gap && heardAt !== null && heardAt - gap.to < BOOKMARKS ? gap.from : (heardAt ?? now())
        gap = { from, to: now() }
        add({ type: 'gap', gap })
      },
      state: (state) => {
        const before = states.get(stream)
        states.set(stream, state)
        // All streams come back together, so that their changes can be put in order.
        if (state.doing === 'watch' && before?.doing !== 'watch') {
          reached.abort()
          reached = new AbortController()
        }
        if (state.error !== null && before?.error !== state.error) warn(`${stream.name}: ${state.error}`)
      },
    })

  const tick = () => {
    for (const [uid, dueAt] of due) {
      if (dueAt > now() + client.ahead()) continue
      due.delete(uid)
      add({ type: 'again', uid })
    }
    if (unsaved && isDue(unsaved) && !timer) start()
  }
  // What was due when the server stopped.
  for (const seen of memory.all()) {
    const at = dueAtOf(seen)
    if (at !== null) due.set(seen.uid, at)
  }
  const ticking = setInterval(tick, TICK)
  const running = runAll(streams, run, (stream) => listed.has(stream.name) || stop.signal.aborted)

  return {
    state: (): ClusterState => ({
      ...{ name, server: deps.server, objects: memory.size(), heardAt },
      failures: [...states].flatMap(([{ name, resource }, { error, status }]) =>
        error === null ? [] : [{ resource: name, without: resource.without, error, status }],
      ),
      isComplete: isComplete(),
    }),
    /** Returns what is known of a workload; null if the cluster has none of this name. */
    workload: (named: Name) =>
      workloadNow(named, { known: memory, all: memory.all(), cluster: name, now: now() + client.ahead() }),
    close: async () => {
      stop.abort()
      if (timer) clearTimeout(timer)
      clearInterval(ticking)
      client.close()
      for (const go of room.splice(0)) go()
      await saving
      await running
    },
  }
}

/** The first lists run one after the other, so that owners are known before what they own. */
async function runAll(
  streams: readonly Stream[],
  run: (stream: Stream) => Promise<void>,
  isReady: (stream: Stream) => boolean,
): Promise<void> {
  const running: Promise<void>[] = []
  for (const stream of streams) {
    running.push(run(stream))
    for (let waited = 0; waited < 50 && !isReady(stream); waited += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  await Promise.all(running)
}
