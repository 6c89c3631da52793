/** The dependencies of actions: store, engine, clock, random numbers, and listeners. */
import { DEFAULT_LIMITS, type Limits } from '../domain/limits.ts'
import type { Notice } from '../domain/notice.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import type { Committed } from '../engine/queue.ts'
import { createEngineStore } from '../store/engine-store.ts'
import { payloadHash } from '../store/events.ts'
import { type ArgumentsOf, type Read, readHere } from '../store/read.ts'
import type { Db } from '../store/sqlite/open.ts'

export type World = {
  readonly db: Db
  /** Returns the current Unix time in milliseconds. */
  readonly now: () => number
  /** Returns a new UUIDv7. */
  readonly newId: () => string
  /** Returns a new random secret of 43 characters. */
  readonly newSecret: () => string
  /** Returns the limits of each organization. Default: the default limits. */
  readonly limits?: () => Limits
  /** Whether the senders get time to repeat their alerts after a stop, as they need it from a server. Default: false. */
  readonly awaitsRepeats?: boolean
  /** Reads large records for the engine. Default: reads in this thread. */
  readonly read?: Read
  /** Called for each change after the commit. Must not throw. */
  readonly announce: (notice: Notice) => void
  /** Called after each batch is committed. Must not throw, and must take less than a microsecond. */
  readonly observe: (batch: Committed) => void
}

export type Deps = World & { readonly engine: Engine }

/**
 * Creates an engine on top of the store.
 * @param mostWaiting returns the current limit on pending requests; called for each request
 * @param largest the maximum number of items in one transaction
 */
export function withEngine(world: World, mostWaiting?: () => number, largest?: number): Deps {
  const { db, now, newId, limits = () => DEFAULT_LIMITS, awaitsRepeats = false } = world
  const engineDeps = {
    store: createEngineStore(db, world.read ?? readHere(db)),
    ...{ now, newId, limits, awaitsRepeats, hashOf: payloadHash },
    announce: (notice: Notice) => deps.announce(notice),
    observe: (batch: Committed) => deps.observe(batch),
  }
  const deps: Deps = { ...world, engine: createEngine(engineDeps, mostWaiting, largest) }
  return deps
}

type Operation = (deps: Deps, ...args: never[]) => unknown

export type Store = {
  /** Runs a query from src/store, for example `read(findAlert, organizationId, id)`. */
  readonly read: Read
  /** Runs an action from src/actions, for example `run(revokeToken, organizationId, id)`. */
  readonly run: <Of extends Operation>(operation: Of, ...args: ArgumentsOf<Of>) => Promise<Awaited<ReturnType<Of>>>
  readonly file: string
}

export function createStore(deps: Deps, read: Read): Store {
  return { read, run: async (operation, ...args) => operation(deps, ...(args as never[])) as never, file: deps.db.file }
}
