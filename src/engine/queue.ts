/** The queue: inputs wait while a batch is decided. All that has arrived then shares one transaction and one sync. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Delivery } from '../domain/decide/delivery.ts'
import { IncmonError } from '../domain/error.ts'
import { type Batch, type Input, NotTogether } from './batch.ts'
import { unavailable } from './large.ts'
import type { EngineStore } from './store.ts'

/** What the queue is asked to store: `delivery` is set for a webhook request, or for a chunk of one. */
export type Queued = Input & {
  readonly delivery: Delivery | null
  readonly resolve: (outcome: never) => void
  readonly reject: (error: unknown) => void
  /** When it was submitted, in milliseconds UTC. */
  readonly since: number
}

export type Queue = {
  readonly add: (input: Queued) => void
  /** Does other work between two batches; each batch waits for at most one such piece of work. */
  readonly between: <Result>(work: () => Promise<Result>) => Promise<Result>
  /** Inputs that are not decided yet. */
  readonly size: () => number
  /** Resolves once everything that was added is answered. */
  readonly drained: () => Promise<void>
}

export type QueueDeps = {
  readonly store: Pick<EngineStore, 'sync' | 'faultOf'>
  readonly now: () => number
  /** Decides about the first of the inputs until `isEnough`, and saves. */
  readonly decide: (inputs: readonly Input[], isEnough: () => boolean) => Promise<Batch>
  /** Called once a batch is on disk and answered, with the milliseconds since its first decision. */
  readonly committed: (inputs: readonly Queued[], batch: Batch, milliseconds: number) => void
}

/** A batch takes no more inputs once deciding and saving would take so long, in milliseconds, or after so many. */
const BATCH_MS = 24
const BATCH_INPUTS = 512
/** How long a database that another process has locked is tried again, in milliseconds: some senders never retry. */
const RETRY_MS = 5_000
const PAUSE_MS = 25
/**
 * How long the queue waits for more input while more arrives: so many milliseconds, or this part of the last batch. Node
 * accepts one new connection in each turn of its loop, so a storm of them would otherwise wait for as many batches.
 */
const GATHER_MS = 2
const GATHER_SHARE = 1 / 4
/** Saving takes so many times as long as deciding, at most. */
const MOST_SAVING = 8

export function createQueue({ store, now, decide, committed }: QueueDeps): Queue {
  let inputs: Queued[] = []
  const works: (() => Promise<void>)[] = []
  let running: Promise<void> | null = null
  /** Resolves once every batch that is saved has been answered. */
  let answered = Promise.resolve()
  let diskError: unknown = null
  let lastMs = 0
  /** The last batch, decided and saved, took so many times as long as deciding alone. */
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

  /** Waits as long as each turn of the event loop brings more: what shares a commit shares the pages that it writes. */
  const gather = async () => {
    const until = performance.now() + Math.max(GATHER_MS, lastMs * GATHER_SHARE)
    for (let before = 0; ; before = inputs.length) {
      await setImmediate()
      if (inputs.length === before || inputs.length < 2 || performance.now() > until) return
    }
  }

  const next = async () => {
    const taken = inputs.slice(0, BATCH_INPUTS)
    inputs = inputs.slice(BATCH_INPUTS)
    const { count, retry } = await commit(taken)
    inputs = [...retry, ...taken.slice(count), ...inputs]
    if (retry.length > 0) await sleep(PAUSE_MS)
  }

  /** Decides about the first of the inputs, and saves; how many, and those that must be tried again. */
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
      wholeByDecided = Math.min(MOST_SAVING, lastMs / Math.max(decidedMs, lastMs / MOST_SAVING))
      // While one batch is being synced, the next is decided and saved, and no further one.
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
      for (const one of taken.filter(isLate)) refuse(one, 'another process holds the database', error)
      return { count, retry: taken.filter((one) => !isLate(one)) }
    }
    if (fault === 'disk') stopAfter(error, taken)
    else if (fault === 'store') for (const one of taken) refuse(one, 'the database cannot be written', error)
    else if (count > 1) {
      const retry: Queued[] = []
      for (const one of taken) retry.push(...(await commit([one])).retry)
      return { count, retry }
    } else for (const one of taken) one.reject(error instanceof NotTogether ? error.cause : error)
    return { count, retry: [] }
  }

  /** Nobody knows what is on disk: everything from now on is refused, and the process ends. */
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

/** The number of inputs that were taken care of, and those of them that must be tried again. */
type Progress = { readonly count: number; readonly retry: readonly Queued[] }

function refuse({ delivery, reject }: Queued, why: string, cause: unknown): void {
  const error = delivery
    ? unavailable(why, delivery)
    : new IncmonError('unavailable', `${why}: nothing was changed, try again`)
  reject(Object.assign(error, { cause }))
}

/** Throws outside of every request, once the refusals are sent: the process ends, and its supervisor starts it again. */
function endSoon(error: unknown): void {
  setTimeout(() => {
    throw error
  }, 100)
}
