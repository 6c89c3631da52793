/** The queue: inputs wait while a batch is decided. The next batch stores them with one transaction and one sync. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Delivery } from '../domain/decide/delivery.ts'
import { IncmonError } from '../domain/error.ts'
import { type Batch, type Input, SplitBatch } from './batch.ts'
import { unavailable } from './large.ts'
import type { EngineStore } from './store.ts'

/** A queued input. `delivery` is set for a webhook request or a chunk of a request; otherwise it is null. */
export type Queued = Input & {
  readonly delivery: Delivery | null
  readonly resolve: (outcome: never) => void
  readonly reject: (error: unknown) => void
  /** When the input was submitted, in milliseconds UTC. */
  readonly since: number
}

export type Queue = {
  readonly add: (input: Queued) => void
  /** Runs other work between two batches. Each batch waits for at most one such call. */
  readonly between: <Result>(work: () => Promise<Result>) => Promise<Result>
  /** Returns the number of undecided inputs. */
  readonly size: () => number
  /** Resolves once every queued input is answered. */
  readonly drained: () => Promise<void>
}

export type QueueDeps = {
  readonly store: Pick<EngineStore, 'sync' | 'faultOf'>
  readonly now: () => number
  /** Decides about the inputs in order until `isEnough` returns true, and saves the effects. */
  readonly decide: (inputs: readonly Input[], isEnough: () => boolean) => Promise<Batch>
  /** Called once a batch is on disk and answered. `milliseconds`: the time since its first decision. */
  readonly committed: (inputs: readonly Queued[], batch: Batch, milliseconds: number) => void
}

/**
 * Limits of a batch: its estimated duration in milliseconds, and its number of inputs. In a storm, each batch writes
 * the same index pages of every service, so a longer batch writes fewer pages per alert. Readers wait for one batch.
 */
const BATCH_MS = 40
const BATCH_INPUTS = 512
/** The time for retries while another process locks the database, in milliseconds. Some senders never retry. */
const RETRY_MS = 5_000
const PAUSE_MS = 25
const FULL = 'the disk of the database is full, "incmon doctor" shows how much is free'
/**
 * The maximum time for which the queue gathers inputs: a number of milliseconds or a share of the last batch's
 * duration, whichever is longer. Node accepts one connection per turn of its event loop. Without this wait, many new
 * connections would need many batches.
 */
const GATHER_MS = 2
const GATHER_SHARE = 1 / 4
/** The maximum number of turns for new connections: one for each millisecond of the last batch. */
const GATHER_TURNS = 50
/** The estimate assumes that a whole batch takes at most this many times as long as its decisions. */
const MAX_SAVING = 8

export function createQueue({ store, now, decide, committed }: QueueDeps): Queue {
  let inputs: Queued[] = []
  const works: (() => Promise<void>)[] = []
  let running: Promise<void> | null = null
  /** Resolves once all saved batches have been answered. */
  let answered = Promise.resolve()
  let diskError: unknown = null
  let lastMs = 0
  /** The duration of the last batch divided by the duration of its decisions. */
  let wholeByDecided = 1

  const start = () => {
    running ??= run()
  }

  const run = async () => {
    while (inputs.length > 0 || works.length > 0) {
      await works.shift()?.()
      if (inputs.length === 0) continue
      await gather()
      await next()
    }
    running = null
  }

  /**
   * Waits while each turn of the event loop adds inputs, because inputs of one commit share the written pages. Under
   * load, the wait is longer. Otherwise new connections would wait for seconds behind senders that are already
   * connected.
   */
  const gather = async () => {
    const least = Math.min(GATHER_TURNS, lastMs)
    const until = performance.now() + Math.max(GATHER_MS, lastMs * GATHER_SHARE)
    let before = 0
    for (let turn = 1; ; turn += 1) {
      await setImmediate()
      if (inputs.length < 2) return
      if (turn >= least && (inputs.length === before || performance.now() > until)) return
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

  /** Decides about the first inputs and saves. Returns the number of decided inputs, and the inputs to retry. */
  const commit = async (taken: readonly Queued[]): Promise<Progress> => {
    const began = performance.now()
    let decidedMs = 0
    const isEnough = () => {
      decidedMs = performance.now() - began
      return decidedMs * wholeByDecided > BATCH_MS
    }
    try {
      const batch = await decide(taken, isEnough)
      lastMs = performance.now() - began
      wholeByDecided = Math.min(MAX_SAVING, lastMs / Math.max(decidedMs, lastMs / MAX_SAVING))
      // While a batch is being synced, only one further batch is decided and saved.
      await answered
      answered = answer(taken, batch, began)
      return { count: batch.outcomes.length, retry: [] }
    } catch (error) {
      return failed(taken, error)
    }
  }

  const answer = async (taken: readonly Queued[], batch: Batch, began: number) => {
    try {
      if (diskError !== null) throw diskError
      if (batch.effects.length > 0) await store.sync()
    } catch (error) {
      return stopAfter(error, taken.slice(0, batch.outcomes.length))
    }
    batch.outcomes.forEach((result, index) => {
      if ('error' in result) taken[index]?.reject(result.error)
      else taken[index]?.resolve(result.outcome as never)
    })
    committed(taken, batch, performance.now() - began)
  }

  const failed = async (taken: readonly Queued[], error: unknown): Promise<Progress> => {
    const fault = store.faultOf(error)
    const count = taken.length
    if (fault === 'busy') {
      const isLate = ({ since }: Queued) => now() - since > RETRY_MS
      for (const one of taken.filter(isLate)) refuse(one, 'another process has locked the database', error)
      return { count, retry: taken.filter((one) => !isLate(one)) }
    }
    if (fault === 'disk') stopAfter(error, taken)
    else if (fault === 'full') for (const one of taken) refuse(one, FULL, error)
    else if (fault === 'store') for (const one of taken) refuse(one, 'the database cannot be written', error)
    else if (count > 1) {
      const retry: Queued[] = []
      for (const one of taken) retry.push(...(await commit([one])).retry)
      return { count, retry }
    } else for (const one of taken) one.reject(error instanceof SplitBatch ? error.cause : error)
    return { count, retry: [] }
  }

  /** After a disk error, the stored state is unknown. Rejects all inputs and ends the process. */
  const stopAfter = (error: unknown, taken: readonly Queued[]) => {
    diskError ??= error
    const message = 'the disk failed, and this request may be stored or not: send it again'
    for (const { reject } of taken) reject(Object.assign(new IncmonError('unavailable', message), { cause: error }))
    endSoon(error)
  }

  return {
    add: (input) => {
      // The next chunk of a large request goes first.
      if (input.delivery?.part?.before) inputs.unshift(input)
      else inputs.push(input)
      start()
    },
    between: (work) =>
      new Promise((resolve, reject) => {
        works.push(() => work().then(resolve, reject))
        start()
      }),
    size: () => inputs.length,
    drained: async () => {
      while (running) await running
      await answered
    },
  }
}

/** The number of processed inputs, and the inputs to retry. */
type Progress = { readonly count: number; readonly retry: readonly Queued[] }

function refuse({ delivery, reject }: Queued, why: string, cause: unknown): void {
  const error = delivery
    ? unavailable(why, delivery)
    : new IncmonError('unavailable', `${why}: nothing was changed, try again`)
  reject(Object.assign(error, { cause }))
}

/** Ends the process with an uncaught error after the answers are sent. The supervisor restarts the process. */
function endSoon(error: unknown): void {
  setTimeout(() => {
    throw error
  }, 100)
}
