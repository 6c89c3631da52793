/** The write path: what webhooks bring is gathered, stored in one synced commit, and then answered. */
import { setImmediate, setTimeout } from 'node:timers'
import type { Source } from '../domain/event/event.ts'
import { commit, unavailable, type Waiting } from './batch.ts'
import type { Delivery, Receipt, Received } from './delivery.ts'
import type { Deps } from './deps.ts'
import { isLarge, standInLine } from './parts.ts'

export type { Delivery, Receipt } from './delivery.ts'

export type Ingest = {
  /** Resolves once the delivery is on disk; fails with 'unavailable' where the store cannot take it. */
  readonly submit: (delivery: Delivery) => Promise<Receipt>
  /** Stores what waits and takes no more. */
  readonly close: () => Promise<void>
}

/** Requests that wait at most, unless it is said otherwise; Alertmanager and Grafana send again what is refused. */
const MOST_WAITING = 2_000
/** What exporters of Kubernetes events and GitLab are refused is lost: so many times more may wait before they are. */
const LONGER = 4
const LARGEST_BATCH = 256
/**
 * A batch takes no more deliveries once it has so many items, and a delivery of more is stored in parts: what waits
 * behind them must not wait long.
 */
const ENOUGH_ITEMS = 1_000
/** How long a store that another process holds is tried again, in milliseconds: some senders never retry. */
const PATIENCE = 5_000
const PAUSE = 25
/**
 * How long more is waited for, as long as more comes: so many milliseconds, or this part of what the last batch took. Node
 * takes one new connection a turn of its loop, so that a storm of them would else wait for as many batches.
 */
const GATHER = 2
const GATHER_SHARE = 1 / 4

/**
 * Group commit: while one batch is being synced to disk the next gathers, and all that has arrived by then shares a
 * transaction and a sync. A lone request commits at once.
 * @param mostWaiting asked for at each delivery, since it may change
 * @param largest items of a delivery that is stored at once; what has more is stored in parts, others among them
 */
export function createIngest(
  deps: Deps,
  mostWaiting: () => number = () => MOST_WAITING,
  largest = ENOUGH_ITEMS,
): Ingest {
  let waiting: Waiting[] = []
  let scheduled = false
  let closed = false
  /** Milliseconds. */
  let lastTook = 0

  const schedule = (later: number) => {
    if (scheduled) return
    scheduled = true
    if (later > 0) setTimeout(work, later)
    else gather(0, performance.now() + Math.max(GATHER, lastTook * GATHER_SHARE))
  }

  /** Waits as long as each turn of the event loop brings more: what shares a commit shares the pages that it writes. */
  const gather = (before: number, until: number) => {
    setImmediate(() => {
      if (waiting.length > before && waiting.length > 1 && performance.now() < until) gather(waiting.length, until)
      else void work()
    })
  }

  const work = async () => {
    const began = performance.now()
    const batch = firstOf(waiting)
    waiting = waiting.slice(batch.length)
    const held = await commit(deps, batch)
    lastTook = performance.now() - began
    const now = deps.now()
    const [late, patient] = partition(held, ({ since }) => now - since > PATIENCE)
    for (const { reject, delivery } of late) reject(unavailable('another process holds the database', delivery))
    waiting = [...patient, ...waiting]
    scheduled = false
    if (waiting.length > 0) schedule(held.length > 0 ? PAUSE : 0)
  }

  /** Before all that wait, who came later than the delivery that it is a part of. */
  const putFirst = (delivery: Delivery, since: number): Promise<Received> =>
    new Promise((resolve, reject) => {
      waiting.unshift({ delivery, resolve, reject, since })
      schedule(0)
    })

  const large = standInLine(putFirst, deps.now)

  return {
    submit: (delivery) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(unavailable('incmon is stopping', delivery))
        const most = mostWaiting() * (isSentAgain(delivery.source) ? 1 : LONGER)
        if (waiting.length + large.waiting() >= most) return reject(unavailable('too many requests wait', delivery))
        if (isLarge(delivery, largest)) return resolve(large.store(delivery))
        waiting.push({ delivery, resolve: ({ receipt }) => resolve(receipt), reject, since: deps.now() })
        schedule(0)
      }),
    close: async () => {
      closed = true
      await large.close()
      while (scheduled) await new Promise((done) => setTimeout(done, PAUSE))
    },
  }
}

function firstOf(waiting: readonly Waiting[]): readonly Waiting[] {
  let items = 0
  const enough = waiting.findIndex(({ delivery }) => {
    items += delivery.intake.accepted.length + delivery.intake.rejected.length
    return items >= ENOUGH_ITEMS
  })
  return waiting.slice(0, enough === -1 ? LARGEST_BATCH : Math.min(LARGEST_BATCH, enough + 1))
}

function isSentAgain(source: Source): boolean {
  return source === 'metrics' || source === 'dashboard'
}

function partition<Item>(items: readonly Item[], test: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(test), items.filter((item) => !test(item))]
}
