/** Imports: deliveries of elsewhere, taken in as if each had been received here when it was received there. */
import { hash } from 'node:crypto'
import { type Delivery, keyUseOf, type Receipt } from '../domain/decide/delivery.ts'
import type { Source } from '../domain/event/event.ts'
import { isStored } from '../store/imports.ts'
import { type Deps, withEngine } from './deps.ts'

/** `isRecorded`: whether the time of receipt is part of the record, and not the time of this import. */
export type Imported = Delivery & { readonly idempotencyKey: string; readonly isRecorded: boolean }

/** Returns the Idempotency-Key of an entry: the same for the same source, time and text. */
export function importKey(entry: {
  readonly source: Source
  readonly receivedAt: number | null
  readonly payload: string
}): string {
  return `import:${hash('sha256', JSON.stringify([entry.source, entry.receivedAt, entry.payload]))}`
}

export type Import = {
  /** In order of receipt, from call to call too. Null for what is stored already: an import may be run again. */
  readonly take: (deliveries: readonly Imported[]) => Promise<(Receipt | null)[]>
  /** Waits until all is on disk; then time goes on to the present. */
  readonly close: () => Promise<void>
}

/** The sweep of a server comes so often, in milliseconds. */
const SWEEP_EVERY = 5_000

/**
 * Where no server keeps time, the import does: what silence and quiet minutes would have ended in between is ended at
 * its time, so that the record is what a server would have made. Beside a server the present is the present.
 */
export function createImport(world: Deps, beside: { readonly server: boolean }): Import {
  const clock = beside.server ? null : createClock(world.now)
  // In their order, each at once: nobody else waits, and what came later must not be stored among the chunks of another.
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

/** Runs on from where it is set, at the pace of the real one: what waits for the store must not wait for ever. */
function createClock(real: () => number): Clock {
  let ahead = 0
  return {
    now: () => real() + ahead,
    set: (at) => {
      ahead = at - real()
    },
  }
}

/** Sweeps at each time at which something is due. */
async function advance({ engine, now }: Deps, clock: Clock, to: number): Promise<void> {
  await engine.load()
  for (let due = engine.nextDue(); due !== null && due < to; due = engine.nextDue()) {
    clock.set(Math.min(to, Math.max(due, now() + SWEEP_EVERY)))
    while (await engine.sweep()) {}
    if (now() >= to) return
  }
  clock.set(to)
}

/** By the key for a day, and by what is stored for ever: whatever names its own time. */
async function isKnown({ db, engine }: Deps, delivery: Imported): Promise<boolean> {
  const { organizationId, source, intake, receivedAt, isRecorded } = delivery
  const use = await engine.run(organizationId, (ctx) => keyUseOf(ctx, delivery).kind)
  if (use === 'repeated') return true
  return intake.accepted.every(({ draft: { at, payload } }) =>
    isStored(db, { organizationId, source, at, payload, receivedAt: isRecorded ? receivedAt : null }),
  )
}
