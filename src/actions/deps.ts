/** The dependencies of actions: store, engine, clock, random numbers, and listeners. */
import { createEngine, type Engine, type EngineDeps } from '../engine/engine.ts'
import type { Context } from '../engine/state/context.ts'
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

/** Reads and changes what belongs to the organization of a caller, and nothing else. */
export type Own = {
  /** Runs a query from src/store about the organization, for example `read(findAlert, id)`. */
  readonly read: <Of extends OwnQuery>(query: Of, ...args: RestOf<Of>) => Promise<ReturnType<Of>>
  /** Runs an action from src/actions on the organization, for example `run(revokeToken, id)`. */
  readonly run: <Of extends OwnOperation>(operation: Of, ...args: RestOf<Of>) => Promise<Awaited<ReturnType<Of>>>
  /**
   * Runs a decision on behalf of the caller. Resolves with the outcome of the decision after the changes are on disk.
   * Rejects with any error that `decide` throws.
   */
  readonly change: <Outcome>(decide: (ctx: Context, now: number, actor: string) => Outcome) => Promise<Outcome>
}
type OwnQuery = (db: Db, organizationId: number, ...args: never[]) => unknown
type OwnOperation = (deps: Deps, organizationId: number, ...args: never[]) => unknown
/** The arguments of a query or action after the organization. */
type RestOf<Of> = Of extends (first: never, organizationId: never, ...args: infer Rest) => unknown ? Rest : never

/** @param actor the name of the caller in timelines */
export function ownOf(
  { deps, store }: { readonly deps: Pick<Deps, 'engine'>; readonly store: Store },
  organizationId: number,
  actor: string,
): Own {
  return {
    read: (query, ...args) => store.read(query, ...([organizationId, ...args] as never)) as never,
    run: (operation, ...args) => store.run(operation, ...([organizationId, ...args] as never)) as never,
    change: (decide) => deps.engine.run(organizationId, (ctx, now) => decide(ctx, now, actor)),
  }
}

export function createStore(deps: Deps, read: Read): Store {
  return { read, run: async (operation, ...args) => operation(deps, ...(args as never[])) as never, file: deps.db.file }
}
