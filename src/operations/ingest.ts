/** The write path: what webhooks bring is gathered, stored in one synced commit, and then answered. */
import { setImmediate, setTimeout } from 'node:timers'
import {
  commit,
  commitInParts,
  ENOUGH_ITEMS,
  HELD,
  isLong,
  PATIENCE,
  PAUSE,
  unavailable,
  type Waiting,
} from './batch.ts'
import type { Delivery, Receipt } from './delivery.ts'
import type { Deps } from './deps.ts'

export type { Delivery, Receipt } from './delivery.ts'

export type Ingest = {
  /** Resolves once the delivery is on disk; fails with 'unavailable' where the store cannot take it. */
  readonly submit: (delivery: Delivery) => Promise<Receipt>
  /** Stores what waits and takes no more. */
  readonly close: () => Promise<void>
}

/** Requests that wait at most, unless it is said otherwise; senders retry what is refused. */
const MOST_WAITING = 2_000
const LARGEST_BATCH = 256
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
    const [first] = batch
    const held = first && isLong(first) ? await commitInParts(deps, first) : await commit(deps, batch)
    const now = deps.now()
    const [late, patient] = partition(held, ({ since }) => now - since > PATIENCE)
    for (const { reject } of late) reject(unavailable(HELD))
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

/** One that is long comes alone. */
function firstOf(waiting: readonly Waiting[]): readonly Waiting[] {
  const long = waiting.findIndex(isLong)
  if (long !== -1) return long === 0 ? waiting.slice(0, 1) : firstOf(waiting.slice(0, long))
  let items = 0
  const enough = waiting.findIndex(({ delivery }) => {
    items += delivery.intake.accepted.length
    return items >= ENOUGH_ITEMS
  })
  return waiting.slice(0, enough === -1 ? LARGEST_BATCH : Math.min(LARGEST_BATCH, enough + 1))
}

function partition<Item>(items: readonly Item[], test: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(test), items.filter((item) => !test(item))]
}
