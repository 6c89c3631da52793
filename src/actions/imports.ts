/**
 * Imports requests recorded by another incmon server or in a log, as if they had been received at their original time.
 */
import { hash } from 'node:crypto'
import { type Delivery, keyUseOf, type Receipt } from '../domain/decide/delivery.ts'
import type { Source } from '../domain/event/event.ts'
import { isStored } from '../store/events.ts'
import { type Deps, withEngine } from './deps.ts'

/** `isRecorded`: whether the time of receipt was recorded. Otherwise, the time of the import is used. */
export type Imported = Delivery & { readonly idempotencyKey: string; readonly isRecorded: boolean }

/** Returns the Idempotency-Key of an entry, which is the same for entries with the same source, time and payload. */
export function importKey(entry: {
  readonly source: Source
  readonly receivedAt: number | null
  readonly payload: string
}): string {
  return `import:${hash('sha256', JSON.stringify([entry.source, entry.receivedAt, entry.payload]))}`
}

export type Import = {
  /** Stores requests in the order of receipt. For each request that was already stored, the result is null. */
  readonly take: (deliveries: readonly Imported[]) => Promise<(Receipt | null)[]>
  /** Waits until all requests are on disk, and then sweeps until the present time. */
  readonly close: () => Promise<void>
}

/** How often a server sweeps, in milliseconds. */
const SWEEP_EVERY = 5_000

/**
 * Creates an import. If a server is running, the import uses the server's clock. Without a server, the import sets the
 * clock and sweeps at each due time between two requests. Alerts and incidents end as they would have ended on a
 * server.
 */
export function createImport(world: Deps, beside: { readonly server: boolean }): Import {
  const clock = beside.server ? null : createClock(world.now)
  // Stores each request in a single transaction. Otherwise, another request could be stored between two chunks.
  const deps = clock ? withEngine({ ...world, now: clock.now }, undefined, Number.POSITIVE_INFINITY) : world
  return {
    take: async (deliveries) => {
      const [first] = deliveries
      if (clock && first) await advance(deps, clock, first.receivedAt)
      return await Promise.all(
        deliveries.map(async (one) => ((await isKnown(deps, one)) ? null : await deps.engine.submit(one))),
      )
    },
    close: async () => {
      if (clock) await advance(deps, clock, world.now())
      if (clock) await deps.engine.close()
    },
  }
}

type Clock = { readonly now: () => number; readonly set: (at: number) => void }

/** A clock that can be set. Once set, it runs at normal speed, so that retries time out. */
function createClock(real: () => number): Clock {
  let ahead = 0
  return {
    now: () => real() + ahead,
    set: (at) => {
      ahead = at - real()
    },
  }
}

/** Sweeps at each due time before `to`. */
async function advance({ engine, now }: Deps, clock: Clock, to: number): Promise<void> {
  await engine.load()
  for (let due = engine.nextDue(); due !== null && due < to; due = engine.nextDue()) {
    clock.set(Math.min(to, Math.max(due, now() + SWEEP_EVERY)))
    while (await engine.sweep()) {}
    if (now() >= to) return
  }
  clock.set(to)
}

/**
 * Returns whether a request is already stored. For a day, a request is recognized by its key. After that, a request is
 * recognized by its events if each event contains its own time.
 */
async function isKnown({ db, engine }: Deps, delivery: Imported): Promise<boolean> {
  const { organizationId, source, intake, receivedAt, isRecorded } = delivery
  const use = await engine.run(organizationId, (ctx) => keyUseOf(ctx, delivery).kind)
  if (use === 'repeated') return true
  return intake.accepted.every(({ draft: { at, payload } }) =>
    isStored(db, { organizationId, source, at, payload, receivedAt: isRecorded ? receivedAt : null }),
  )
}
