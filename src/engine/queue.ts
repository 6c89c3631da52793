/**
 * The queue collects inputs while a batch is in progress. The next batch stores all collected inputs with one
 * transaction and one sync.
 */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { IncmonError } from '../domain/error.ts'
import { type AnswersDeps, createAnswers } from './answers.ts'
import { type Batch, type Input, SplitBatch } from './batch.ts'
import type { Delivery, Received } from './changes/receive/delivery.ts'
import { unavailable } from './large.ts'
import type { EngineStore } from './store.ts'

/** A queued input. `delivery` is null unless the input is a webhook request or one of its chunks. */
export type Queued = Input & {
  readonly delivery: Delivery | null
  /** Whether the answer waits for the postmortems that the input makes due: a user reads them next, a sender does not. */
  readonly awaitsPostmortems: boolean
  readonly resolve: (outcome: never) => void
  readonly reject: (error: unknown) => void
  /** When the input was submitted, as Unix time in milliseconds. */
  readonly since: number
}

type QueueDeps = AnswersDeps & {
  readonly store: Pick<EngineStore, 'faultOf'>
  readonly now: () => number
  /** Processes inputs in order until `isEnough` returns true, and saves the effects. */
  readonly decide: (inputs: readonly Input[], isEnough: () => boolean) => Promise<Batch>
}

/** The maximum number of inputs in a batch. */
const BATCH_INPUTS = 512
/** How long to retry, in milliseconds, while another process holds the database lock. Some senders never retry. */
const RETRY_MS = 5_000
const PAUSE_MS = 25

export function createQueue(deps: QueueDeps) {
  let inputs: Queued[] = []
  const works: (() => Promise<void>)[] = []
  let running: Promise<void> | null = null
  const pace = createPace(deps.elapsed)
  const answers = createAnswers(deps)

  const start = () => {
    running ??= run()
  }

  const run = async () => {
    while (inputs.length > 0 || works.length > 0) {
      const work = works.shift()
      // A dry run can take long. In the next turn, requests that came meanwhile are read and counted.
      if (work) await work().then(() => setImmediate())
      if (inputs.length === 0) continue
      await pace.gather(() => inputs.length)
      await next()
    }
    running = null
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
    const batch = pace.begin()
    let decided: Batch
    try {
      decided = await deps.decide(taken, batch.isEnough)
    } catch (error) {
      return failed(taken, error)
    }
    batch.saved()
    await answers.sync(taken, decided, batch.began)
    return { count: decided.outcomes.length, retry: [] }
  }

  const failed = async (taken: readonly Queued[], error: unknown): Promise<Progress> => {
    const fault = deps.store.faultOf(error)
    if (fault === 'busy') return { count: taken.length, retry: refuseLate(taken, deps.now(), error) }
    if (fault === 'disk') answers.stopAfter(error, taken)
    else if (fault === 'full' || fault === 'store') for (const one of taken) refuse(one, WHY[fault], error)
    else if (taken.length === 1) for (const one of taken) one.reject(error instanceof SplitBatch ? error.cause : error)
    else {
      const retry: Queued[] = []
      for (const one of taken) retry.push(...(await commit([one])).retry)
      return { count: taken.length, retry }
    }
    return { count: taken.length, retry: [] }
  }

  return {
    add: (input: Queued) => {
      // The next chunk of a large request goes to the front of the queue.
      if (input.delivery?.part?.before) inputs.unshift(input)
      else inputs.push(input)
      start()
    },
    /** Runs `work` between two batches. At most one call to `work` runs before each batch, and in each turn. */
    between: <Result>(work: () => Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        works.push(() => work().then(resolve, reject))
        start()
      }),
    /** Returns the number of inputs that have not been processed yet. */
    size: () => inputs.length,
    /** Resolves once every queued input has been answered. */
    drained: async () => {
      do {
        while (running) await running
        await answers.settled()
      } while (running)
    },
  }
}

/** `count`: the number of processed inputs. */
type Progress = { readonly count: number; readonly retry: readonly Queued[] }

const WHY = {
  full: 'the database disk is full, or its quota is used up ("incmon doctor" shows how much is free)',
  store: 'the database is not writable',
} as const

/** Refuses the inputs that have been waiting for too long. Returns the others. */
function refuseLate(taken: readonly Queued[], now: number, error: unknown): readonly Queued[] {
  const isLate = ({ since }: Queued) => now - since > RETRY_MS
  for (const one of taken.filter(isLate)) refuse(one, 'another process has locked the database', error)
  return taken.filter((one) => !isLate(one))
}

function refuse({ delivery, reject }: Queued, why: string, cause: unknown): void {
  const error = delivery
    ? unavailable(why, delivery)
    : new IncmonError('unavailable', `${why}: nothing was changed, try again`)
  reject(Object.assign(error, { cause }))
}

/**
 * How long a batch should take, in milliseconds. In an alert storm, every batch rewrites the same index pages, so a
 * longer batch writes fewer pages per alert. A read waits for at most one batch.
 */
const BATCH_MS = 40
/** After a shorter batch, the queue does not gather: few inputs are waiting, and gathering would only delay them. */
const LONG_MS = 8
/**
 * The maximum time for gathering: `GATHER_SHARE` of the last batch's duration. Node accepts one connection per turn of
 * its event loop, so without this wait a burst of new connections would need many batches.
 */
const GATHER_SHARE = 1 / 4
/**
 * Before a batch, the queue waits for at least one event loop turn per millisecond of the last batch's duration. This
 * minimum is limited to `GATHER_TURNS`.
 */
const GATHER_TURNS = 50
/** A batch is assumed to take at most this many times as long as its decisions. */
const MAX_SAVING = 8

/** @param elapsed returns the time of a monotonic clock in milliseconds */
function createPace(elapsed: () => number) {
  let lastMs = 0
  /** The ratio of the last batch's total duration to the duration of its decisions. */
  let wholeByDecided = 1
  return {
    /**
     * Keeps waiting while each turn of the event loop adds inputs, because inputs in the same commit share written pages.
     * The wait grows with the load. Otherwise, new connections would wait for seconds behind existing ones.
     */
    gather: async (waiting: () => number) => {
      const least = Math.min(GATHER_TURNS, lastMs)
      const until = elapsed() + lastMs * GATHER_SHARE
      let before = 0
      for (let turn = 1; ; turn += 1) {
        await setImmediate()
        const count = waiting()
        if (count < 2 || lastMs < LONG_MS) return
        if (turn >= least && (count === before || elapsed() > until)) return
        before = count
      }
    },
    /** Starts measuring a batch. */
    begin: () => {
      const began = elapsed()
      let decidedMs = 0
      return {
        began,
        /** Returns whether the batch has enough inputs. Called after each decision. */
        isEnough: () => {
          decidedMs = elapsed() - began
          return decidedMs * wholeByDecided > BATCH_MS
        },
        /** Called when the batch is saved. */
        saved: () => {
          lastMs = elapsed() - began
          wholeByDecided = Math.min(MAX_SAVING, lastMs / Math.max(decidedMs, lastMs / MAX_SAVING))
        },
      }
    },
  }
}

/** Statistics of a batch that is on disk. Dry runs are not counted. */
export type Committed = {
  readonly deliveries: number
  readonly items: number
  readonly rejected: number
  /** The number of deliveries whose Idempotency-Key was already stored. */
  readonly repeated: number
  /** The time from the first decision to the end of the sync. */
  readonly milliseconds: number
}

/** Counts stored deliveries and items. A chunked delivery is counted once, with its last chunk. */
export function count(
  inputs: readonly Queued[],
  { outcomes }: Pick<Batch, 'outcomes'>,
): Omit<Committed, 'milliseconds'> {
  const sum = { deliveries: 0, items: 0, rejected: 0, repeated: 0 }
  outcomes.forEach((result, index) => {
    const delivery = inputs[index]?.delivery
    if (!delivery || 'error' in result) return
    const { kind } = result.outcome as Received
    if (kind !== 'part') sum.deliveries += 1
    if (kind === 'repeated') sum.repeated += 1
    else {
      sum.items += delivery.intake.accepted.length
      sum.rejected += delivery.intake.rejected.length
    }
  })
  return sum
}
