/** The write path: what webhooks bring is gathered, stored in one synced commit, and then answered. */
import { setImmediate, setTimeout } from 'node:timers'
import { IncmonError } from '../domain/error.ts'
import { errorCode, isOfStore } from '../store/open.ts'
import { type Delivery, DryRun, type Receipt, receive } from './delivery.ts'
import type { Committed, Deps } from './deps.ts'
import { evaluate } from './evaluate.ts'
import { inTransaction } from './transaction.ts'

export type { Delivery, Receipt } from './delivery.ts'

export type Ingest = {
  /** Resolves once the delivery is on disk; fails with 'unavailable' where the store cannot take it. */
  readonly submit: (delivery: Delivery) => Promise<Receipt>
  /** Stores what waits and takes no more. */
  readonly close: () => Promise<void>
}

type Waiting = {
  readonly delivery: Delivery
  readonly resolve: (receipt: Receipt) => void
  readonly reject: (error: unknown) => void
  readonly since: number
}

/** Requests that wait at most, unless it is said otherwise; senders retry what is refused. */
const MOST_WAITING = 2_000
const LARGEST_BATCH = 256
/** A batch takes no more deliveries once it has so many items: what waits behind it must not wait long. */
const ENOUGH_ITEMS = 1_000
/** How long a store that another process holds is tried again, in milliseconds: some senders never retry. */
const PATIENCE = 5_000
const PAUSE = 25

/** How long more is waited for, in milliseconds, as long as more comes. */
const GATHER = 2

/**
 * Group commit: while one batch is being synced to disk the next gathers, and all that has arrived by then shares a
 * transaction and a sync. A lone request commits at once.
 * @param mostWaiting asked for at each delivery, since it may change
 */
export function createIngest(deps: Deps, mostWaiting: () => number = () => MOST_WAITING): Ingest {
  let waiting: Waiting[] = []
  let scheduled = false
  let closed = false

  const schedule = (later: number) => {
    if (scheduled) return
    scheduled = true
    if (later > 0) setTimeout(work, later)
    else gather(0, performance.now() + GATHER)
  }

  /** Waits as long as each turn of the event loop brings more: what shares a commit shares the pages that it writes. */
  const gather = (before: number, until: number) => {
    setImmediate(() => {
      if (waiting.length > before && waiting.length > 1 && performance.now() < until) gather(waiting.length, until)
      else void work()
    })
  }

  const work = async () => {
    const batch = firstOf(waiting)
    waiting = waiting.slice(batch.length)
    const held = await commit(deps, batch)
    const now = deps.now()
    const [late, patient] = partition(held, ({ since }) => now - since > PATIENCE)
    for (const { reject } of late) reject(unavailable('another process holds the database'))
    waiting = [...patient, ...waiting]
    scheduled = false
    if (waiting.length > 0) schedule(held.length > 0 ? PAUSE : 0)
  }

  return {
    submit: (delivery) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(unavailable('incmon is stopping'))
        if (waiting.length >= mostWaiting()) return reject(unavailable('too many requests wait'))
        waiting.push({ delivery, resolve, reject, since: deps.now() })
        schedule(0)
      }),
    close: async () => {
      closed = true
      while (scheduled) await new Promise((done) => setTimeout(done, PAUSE))
    },
  }
}

function firstOf(waiting: readonly Waiting[]): readonly Waiting[] {
  let items = 0
  const enough = waiting.findIndex(({ delivery }) => {
    items += delivery.intake.accepted.length
    return items >= ENOUGH_ITEMS
  })
  return waiting.slice(0, enough === -1 ? LARGEST_BATCH : Math.min(LARGEST_BATCH, enough + 1))
}

type Outcome =
  | { readonly receipt: Receipt; readonly kind: 'stored' | 'repeated' | 'dry run' }
  | { readonly error: unknown }

/**
 * One transaction and one sync for the batch; those that another process's hold on the store kept from being stored. A
 * delivery that fails costs only itself; so does one whose services cannot be evaluated, since then each is tried alone.
 */
async function commit(deps: Deps, batch: readonly Waiting[]): Promise<readonly Waiting[]> {
  const began = performance.now()
  try {
    const outcomes = store(deps, batch)
    await deps.db.sync()
    const milliseconds = performance.now() - began
    outcomes.forEach((outcome, index) => {
      const one = batch[index]
      if ('receipt' in outcome) one?.resolve(outcome.receipt)
      else one?.reject(outcome.error)
    })
    deps.observe(committed(outcomes, milliseconds))
    return []
  } catch (error) {
    if (errorCode(error).startsWith('SQLITE_BUSY')) return batch
    if (!isOfStore(error) && batch.length > 1) return commitEach(deps, batch)
    for (const { reject } of batch) reject(isOfStore(error) ? refusal(error) : error)
    if (isOfDisk(error)) endSoon(error)
    return []
  }
}

async function commitEach(deps: Deps, batch: readonly Waiting[]): Promise<readonly Waiting[]> {
  const held: Waiting[] = []
  for (const one of batch) held.push(...(await commit(deps, [one])))
  return held
}

function committed(outcomes: readonly Outcome[], milliseconds: number): Committed {
  const batch = { deliveries: 0, items: 0, rejected: 0, repeated: 0, milliseconds }
  for (const outcome of outcomes) {
    if (!('receipt' in outcome) || outcome.kind === 'dry run') continue
    batch.deliveries += 1
    if (outcome.kind === 'repeated') batch.repeated += 1
    else {
      batch.items += outcome.receipt.eventIds.length
      batch.rejected += outcome.receipt.rejected.length
    }
  }
  return batch
}

/** All together; where one of them fails, or is only tried, each in a savepoint of its own. */
function store(deps: Deps, batch: readonly Waiting[]): readonly Outcome[] {
  if (batch.some(({ delivery }) => delivery.dryRun)) return storeWith(deps, batch, attempt)
  try {
    return storeWith(deps, batch, take)
  } catch (error) {
    if (isOfStore(error)) throw error
    return storeWith(deps, batch, attempt)
  }
}

type Take = (deps: Deps, delivery: Delivery, touched: Set<number>) => Outcome

function storeWith(deps: Deps, batch: readonly Waiting[], takeOne: Take): readonly Outcome[] {
  const all = (inside: Deps) => {
    const touched = new Set<number>()
    const received = batch.map(({ delivery }) => takeOne(inside, delivery, touched))
    const now = deps.now()
    for (const serviceId of touched) evaluate(inside, serviceId, now)
    return received
  }
  return inTransaction(deps, all, deps.db.transactionAhead)
}

function take(deps: Deps, delivery: Delivery, touched: Set<number>): Outcome {
  const { receipt, serviceIds, isAnsweredAgain } = receive(deps, delivery)
  for (const id of serviceIds) touched.add(id)
  return { receipt, kind: isAnsweredAgain ? 'repeated' : 'stored' }
}

/** In a savepoint, so that a delivery that fails takes nothing of the others with it. */
function attempt(deps: Deps, delivery: Delivery, touched: Set<number>): Outcome {
  try {
    return inTransaction(deps, (inside) => take(inside, delivery, touched))
  } catch (error) {
    if (error instanceof DryRun) return { receipt: error.receipt, kind: 'dry run' }
    if (isOfStore(error)) throw error
    return { error }
  }
}

/** After a failed sync nobody knows what is on the disk: the file must be opened anew, by a process that knows nothing. */
function isOfDisk(error: unknown): boolean {
  // An index of the log that cannot grow: the disk is full, and has not failed.
  return /^SQLITE_(IOERR(?!_SHMSIZE)|CORRUPT)/.test(errorCode(error))
}

/** Uncaught on purpose, once the refusals are sent: the process ends, and its supervisor starts it again. */
function endSoon(error: unknown): void {
  setTimeout(() => {
    throw error
  }, 100)
}

function refusal(cause: unknown): IncmonError {
  const error = isOfDisk(cause)
    ? new IncmonError('unavailable', 'the disk failed, and this request may be stored or not: send it again')
    : unavailable('the database cannot be written')
  error.cause = cause
  return error
}

function unavailable(why: string): IncmonError {
  return new IncmonError('unavailable', `${why}: nothing of this request was stored, send it again`)
}

function partition<Item>(items: readonly Item[], test: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(test), items.filter((item) => !test(item))]
}
