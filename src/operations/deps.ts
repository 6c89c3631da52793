/** The dependencies of operations: the store, the engine, the clock, random numbers, and a listener. */
import type { Notice } from '../domain/notice.ts'
import { type Committed, createEngine, type Engine } from '../engine/engine.ts'
import { createEngineStore } from '../store/engine-store.ts'
import { payloadHash } from '../store/events.ts'
import type { Read } from '../store/read.ts'
import type { Db } from '../store/sqlite/open.ts'

export type World = {
  readonly db: Db
  /** Milliseconds since 1970, UTC. */
  readonly now: () => number
  /** A new UUID, version 7. */
  readonly newId: () => string
  /** A new secret that nobody can guess, of 43 characters. */
  readonly newSecret: () => string
  /** Called after the commit with each change; never throws. */
  readonly announce: (notice: Notice) => void
  /** Called after the commit of each batch; never throws, and takes less than a microsecond. */
  readonly observe: (batch: Committed) => void
}

export type Deps = World & { readonly engine: Engine }

/**
 * Adds an engine over the store.
 * @param mostWaiting returns the maximum number of pending requests; called for each request
 * @param largest the maximum number of items that are stored in one transaction
 */
export function withEngine(world: World, mostWaiting?: () => number, largest?: number): Deps {
  const { db, now, newId } = world
  const engineDeps = {
    store: createEngineStore(db),
    ...{ now, newId, hashOf: payloadHash },
    announce: (notice: Notice) => deps.announce(notice),
    observe: (batch: Committed) => deps.observe(batch),
  }
  const deps: Deps = { ...world, engine: createEngine(engineDeps, mostWaiting, largest) }
  return deps
}

type Operation = (deps: Deps, ...args: never[]) => unknown
type ArgumentsOf<Of extends Operation> = Of extends (deps: Deps, ...args: infer Arguments) => unknown
  ? Arguments
  : never

export type Store = {
  /** Runs a query of src/store, for example `read(findAlert, organizationId, id)`. */
  readonly read: Read
  /** Runs an operation of src/operations, for example `run(revokeToken, organizationId, id)`. */
  readonly run: <Of extends Operation>(operation: Of, ...args: ArgumentsOf<Of>) => Promise<Awaited<ReturnType<Of>>>
  /** The path of the database file. */
  readonly file: string
}

export function createStore(deps: Deps, read: Read): Store {
  return {
    read,
    run: async (operation, ...args) => operation(deps, ...(args as never[])) as never,
    file: deps.db.file,
  }
}
