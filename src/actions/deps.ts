/** The dependencies of actions: store, engine, clock, random numbers, and listeners. */
import { createEngine, type Engine, type EngineDeps } from '../engine/engine.ts'
import { createEngineStore } from '../store/engine-store.ts'
import { payloadHash } from '../store/events.ts'
import { type ArgumentsOf, type Read, readHere } from '../store/read.ts'
import type { Db } from '../store/sqlite/open.ts'

/** What the engine needs from the world, except its store, and what actions need. */
export type World = Omit<EngineDeps, 'store' | 'hashOf' | 'elapsed'> & {
  readonly db: Db
  /** Returns a new random secret of 43 characters. */
  readonly newSecret: () => string
  /** Reads large records for the engine. Default: reads in this thread. */
  readonly read?: Read
}

export type Deps = World & { readonly engine: Engine }

/**
 * Creates an engine on top of the store.
 * @param mostWaiting returns the current limit on pending requests; called for each request
 * @param largest the maximum number of items in one transaction
 */
export function withEngine(world: World, mostWaiting?: () => number, largest?: number): Deps {
  const engineDeps: EngineDeps = {
    ...world,
    store: createEngineStore(world.db, world.read ?? readHere(world.db)),
    hashOf: payloadHash,
    announce: (notice) => deps.announce(notice),
    observe: (batch) => deps.observe(batch),
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
