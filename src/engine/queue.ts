/**
 * The queue collects inputs while a batch is in progress. The next batch stores all collected inputs with one
 * transaction and one sync.
 */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Delivery } from '../domain/decide/delivery.ts'
import { IncmonError } from '../domain/error.ts'
import { type Batch, type Input, SplitBatch } from './batch.ts'
import { unavailable } from './large.ts'
import { createPostmortemQueue, PostmortemsDue } from './postmortems.ts'
import type { EngineStore } from './store.ts'

/** A queued input. `delivery` is null unless the input is a webhook request or one of its chunks. */
export type Queued = Input & {
  readonly delivery: Delivery | null
  readonly resolve: (outcome: never) => void
  readonly reject: (error: unknown) => void
  /** When the input was submitted, as Unix time in milliseconds. */
  readonly since: number
}

export type Queue = {
  readonly add: (input: Queued) => void
  /** Runs `work` between two batches. At most one call to `work` runs before each batch. */
  readonly between: <Result>(work: () => Promise<Result>) => Promise<Result>
  /** Returns the number of inputs that have not been processed yet. */
  readonly size: () => number
  /** Resolves once every queued input has been answered. */
  readonly drained: () => Promise<void>
}

/** A saved batch, without its effects. */
export type Answers = Omit<Batch, 'effects'>

export type QueueDeps = {
  readonly store: Pick<EngineStore, 'sync' | 'faultOf' | 'prepare'>
  readonly now: () => number
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly elapsed: () => number
  /** Processes inputs in order until `isEnough` returns true, and saves the effects. */
  readonly decide: (inputs: readonly Input[], isEnough: () => boolean) => Promise<Batch>
  /**
   * Called once a batch is on disk and its requests have been answered. `milliseconds`: the time since the batch
   * started.
   */
  readonly committed: (inputs: readonly Queued[], batch: Answers, milliseconds: number) => void
}

/**
 * The limits for a batch: its estimated duration in milliseconds, and its number of inputs. In an alert storm, every
 * batch rewrites the same index pages, so a longer batch writes fewer pages per alert. A read waits for at most one
 * batch.
 */
const BATCH_MS = 40
const BATCH_INPUTS = 512
/** How long to retry, in milliseconds, while another process holds the database lock. Some senders never retry. */
const RETRY_MS = 5_000
const PAUSE_MS = 25
const FULL = 'the database disk is full ("incmon doctor" shows how much is free)'
/**
 * The maximum time for gathering inputs before a batch: `GATHER_MS` milliseconds, or `GATHER_SHARE` of the last batch's
 * duration if that is longer. Node accepts one connection per turn of its event loop, so without this wait a burst of
 * new connections would need many batches.
 */
const GATHER_MS = 2
const GATHER_SHARE = 1 / 4
/**
 * Before a batch, the queue waits for at least one event loop turn per millisecond of the last batch's duration. This
 * minimum is limited to `GATHER_TURNS`.
 */
const GATHER_TURNS = 50
/** A batch is assumed to take at most this many times as long as its decisions. */
const MAX_SAVING = 8

export function createQueue({ store, now, elapsed, decide, committed }: QueueDeps): Queue {
  let inputs: Queued[] = []
  const works: (() => Promise<void>)[] = []
  let running: Promise<void> | null = null
  /** Resolves once the inputs of every saved batch have been answered. */
  let answered = Promise.resolve()
  let diskError: unknown = null
  let lastMs = 0
  /** The ratio of the last batch's total duration to the duration of its decisions. */
  let wholeByDecided = 1

  const start = () => {
    running ??= run()
  }

  const postmortems = createPostmortemQueue(store.prepare, (input) => {
    inputs.unshift(input)
    start()
  })

  const run = async () => {
    while (inputs.length > 0 || works.length > 0) {
      const work = works.shift()
      if (work) {
        await work()
        postmortems.invalidate()
      }
      if (inputs.length === 0) continue
      await gather()
      await next()
    }
    running = null
  }

  /**
   * Keeps waiting while each turn of the event loop adds inputs, because inputs in the same commit share written pages.
   * The wait grows with the load. Otherwise, new connections would wait for seconds behind existing ones.
   */
  const gather = async () => {
    const least = Math.min(GATHER_TURNS, lastMs)
    const until = elapsed() + Math.max(GATHER_MS, lastMs * GATHER_SHARE)
    let before = 0
    for (let turn = 1; ; turn += 1) {
      await setImmediate()
      if (inputs.length < 2) return
      if (turn >= least && (inputs.length === before || elapsed() > until)) return
      before = inputs.length
    }
  }

  const next = async () => {
    const taken = inputs.slice(0, BATCH_INPUTS)
    inputs = inputs.slice(BATCH_INPUTS)
    const { count, retry } = await commit(taken)
    inputs = [...retry, ...taken.slice(count), ...inputs]
    if (retry.length > 0) await sleep(PAUSE_MS)
  }

  /** Processes and saves the first inputs. Returns the number of processed inputs and the inputs to retry. */
  const commit = async (taken: readonly Queued[]): Promise<Progress> => {
    const began = elapsed()
    let decidedMs = 0
    const isEnough = () => {
      decidedMs = elapsed() - began
      return decidedMs * wholeByDecided > BATCH_MS
    }
    let decided: Batch
    try {
      decided = await decide(taken, isEnough)
    } catch (error) {
      return failed(taken, error)
    }
    const { effects, ...batch } = decided
    postmortems.watch(effects)
    lastMs = elapsed() - began
    wholeByDecided = Math.min(MAX_SAVING, lastMs / Math.max(decidedMs, lastMs / MAX_SAVING))
    // While a batch is being synced, only one more batch can be decided and saved. An error in the earlier batch must not
    // count as an error of this one, which is already saved.
    await answered
    // The effects are not kept during the sync, because they take too much memory.
    answered = answer(taken, batch, began, effects.length > 0)
    return { count: batch.outcomes.length, retry: [] }
  }

  const answer = async (taken: readonly Queued[], batch: Answers, began: number, isSaved: boolean) => {
    try {
      if (diskError !== null) throw diskError
      if (isSaved) await store.sync()
    } catch (error) {
      return stopAfter(error, taken.slice(0, batch.outcomes.length))
    }
    batch.outcomes.forEach((result, index) => {
      if ('error' in result) taken[index]?.reject(result.error)
      else taken[index]?.resolve(result.outcome as never)
    })
    committed(taken, batch, elapsed() - began)
  }

  const failed = async (taken: readonly Queued[], error: unknown): Promise<Progress> => {
    if (error instanceof PostmortemsDue && taken[0]) {
      postmortems.add(taken[0], error)
      return { count: 1, retry: [] }
    }
    const fault = store.faultOf(error)
    const count = taken.length
    if (fault === 'busy') {
      const isLate = ({ since }: Queued) => now() - since > RETRY_MS
      for (const one of taken.filter(isLate)) refuse(one, 'another process has locked the database', error)
      return { count, retry: taken.filter((one) => !isLate(one)) }
    }
    if (fault === 'disk') stopAfter(error, taken)
    else if (fault === 'full') for (const one of taken) refuse(one, FULL, error)
    else if (fault === 'store') for (const one of taken) refuse(one, 'the database is not writable', error)
    else if (count > 1) {
      const retry: Queued[] = []
      for (const one of taken) retry.push(...(await commit([one])).retry)
      return { count, retry }
    } else for (const one of taken) one.reject(error instanceof SplitBatch ? error.cause : error)
    return { count, retry: [] }
  }

  /** Rejects all inputs and ends the process. After a disk error, there is no way to know what was stored. */
  const stopAfter = (error: unknown, taken: readonly Queued[]) => {
    diskError ??= error
    const message = 'the disk failed, and this request may or may not have been stored: send it again'
    for (const { reject } of taken) reject(Object.assign(new IncmonError('unavailable', message), { cause: error }))
    endSoon(error)
  }

  return {
    add: (input) => {
      // The next chunk of a large request goes to the front of the queue.
      if (input.delivery?.part?.before) inputs.unshift(input)
      else inputs.push(input)
      start()
    },
    between: (work) =>
      new Promise((resolve, reject) => {
        works.push(() => work().then(resolve, reject))
        start()
      }),
    size: () => inputs.length + postmortems.size(),
    drained: async () => {
      do {
        while (running) await running
        await answered
        await postmortems.settled()
      } while (running || postmortems.size() > 0)
    },
  }
}

/** `count`: the number of processed inputs. */
type Progress = { readonly count: number; readonly retry: readonly Queued[] }

function refuse({ delivery, reject }: Queued, why: string, cause: unknown): void {
  const error = delivery
    ? unavailable(why, delivery)
    : new IncmonError('unavailable', `${why}: nothing was changed, try again`)
  reject(Object.assign(error, { cause }))
}

/** Throws an uncaught error once the responses have been sent. The supervisor restarts the process. */
function endSoon(error: unknown): void {
  setTimeout(() => {
    throw error
  }, 100)
}
