/** One batch: decided item by item in memory, saved in one transaction, synced, and only then answered. */

import { evaluate } from '../domain/decide/evaluate.ts'
import type { Notice } from '../domain/notice.ts'
import { settleBatch } from '../domain/state/apply.ts'
import type { Context, Loaded, Surroundings } from '../domain/state/context.ts'
import { createContext, factKey, MissingFact, undoFrom } from '../domain/state/context.ts'
import type { Effect } from '../domain/state/effect.ts'
import type { State } from '../domain/state/state.ts'
import { noticesOf } from './notices.ts'
import type { EngineStore } from './store.ts'

/** What the engine is asked to decide: a delivery, a person's change, or what time alone changes. */
export type Input<Outcome = unknown> = {
  readonly organizationId: number
  /** Called again if a fact was missing; its effects are undone before. */
  readonly decide: (ctx: Context) => Decided<Outcome>
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
  /** When it was submitted, in milliseconds UTC. */
  readonly since: number
}
/** `serviceIds`: the services to evaluate once the batch is decided. */
export type Decided<Outcome> = { readonly outcome: Outcome; readonly serviceIds: readonly number[] }

export type BatchDeps = {
  readonly store: EngineStore
  readonly state: State
  readonly surroundings: Surroundings
  readonly now: () => number
  /** Remembers the row ids that were given, and returns how to go back to them. */
  readonly markRowIds: () => () => void
  /** Forgets what was concluded from the names of services. */
  readonly forgetPlaces: () => void
}

/** Thrown if a batch cannot be evaluated as a whole: its inputs are then decided one by one. */
export class NotTogether extends Error {}

/** What became of the inputs of a batch, in order, and what to announce once it is on disk. */
export type Batch = {
  readonly outcomes: readonly ({ readonly outcome: unknown } | { readonly error: unknown })[]
  readonly effects: readonly Effect[]
  readonly notices: readonly Notice[]
}

/**
 * Decides about the inputs until `isEnough`, and saves. An input that fails costs only itself.
 * @returns the outcomes of the first inputs, as many as were decided
 * @throws what `save` throws; then nothing has changed
 * @throws NotTogether if a service cannot be evaluated and there is more than one input
 */
export async function decideBatch(deps: BatchDeps, inputs: readonly Input[], isEnough: () => boolean): Promise<Batch> {
  const { store, state, surroundings } = deps
  for (const { organizationId } of inputs) await loadOrganization(deps, organizationId)
  const effects: Effect[] = []
  const loaded: Loaded = new Map()
  const undo = undoFrom(state.journal, effects)
  const restoreIds = deps.markRowIds()
  const outcomes: Batch['outcomes'][number][] = []
  const touched = new Map<number, number>()
  try {
    for (const input of inputs) {
      const before = effects.length
      const result = await decideOne(deps, input, loaded, effects)
      outcomes.push(result)
      if ('serviceIds' in result) for (const id of result.serviceIds) touched.set(id, input.organizationId)
      if (isEnough() || effects.slice(before).some(isMerge)) break
    }
    for (const [serviceId, organizationId] of touched) {
      await evaluateOne(deps, organizationId, serviceId, loaded, effects, outcomes.length > 1)
    }
    const linked = effects.length > 0 ? await store.save(effects, surroundings.newId) : []
    for (const organization of state.organizations.values()) settleBatch(organization)
    state.journal.clear()
    return { outcomes, effects, notices: [...noticesOf(effects), ...linked] }
  } catch (error) {
    undo()
    restoreIds()
    deps.forgetPlaces()
    throw error
  }
}

/** Loads the live state of an organization, unless it is loaded or there is none. */
export async function loadOrganization(
  { store, state, now }: Pick<BatchDeps, 'store' | 'state' | 'now'>,
  organizationId: number,
): Promise<void> {
  if (state.organizations.has(organizationId)) return
  const organization = await store.load(state.journal, organizationId, now())
  if (organization) state.organizations.set(organizationId, organization)
  state.journal.clear()
}

/** A merge moves rows by their owner. What the next input asks of the tables must be read after that. */
function isMerge({ kind }: Effect): boolean {
  return kind === 'service-merged' || kind === 'incident-merged'
}

type One = (Decided<unknown> & { readonly outcome: unknown }) | { readonly error: unknown }

/** Decides about one input, and loads the facts that it needs; hardly any needs one. */
async function decideOne(deps: BatchDeps, input: Input, loaded: Loaded, effects: Effect[]): Promise<One> {
  const organization = deps.state.organizations.get(input.organizationId)
  if (!organization) return { error: new Error(`no organization ${input.organizationId}`) }
  const ctx = createContext(organization, deps.state.journal, deps.surroundings, loaded, effects)
  for (;;) {
    const undo = undoFrom(deps.state.journal, effects)
    const restoreIds = deps.markRowIds()
    try {
      return input.decide(ctx)
    } catch (error) {
      undo()
      // The facts that are loaded next are those of records with these row ids.
      restoreIds()
      deps.forgetPlaces()
      if (!(error instanceof MissingFact)) return { error }
      await loadFact(deps, input.organizationId, error, loaded)
    }
  }
}

async function loadFact(
  { store }: BatchDeps,
  organizationId: number,
  { kind, asked }: MissingFact,
  loaded: Loaded,
): Promise<void> {
  loaded.set(factKey(organizationId, kind, asked), await store.fact(organizationId, kind, asked))
}

async function evaluateOne(
  deps: BatchDeps,
  organizationId: number,
  serviceId: number,
  loaded: Loaded,
  effects: Effect[],
  isTogether: boolean,
): Promise<void> {
  const decide = (ctx: Context) => {
    evaluate(ctx, serviceId, deps.now())
    return { outcome: null, serviceIds: [] }
  }
  const input = { organizationId, decide, resolve: () => {}, reject: () => {}, since: 0 }
  const result = await decideOne(deps, input, loaded, effects)
  if ('error' in result) throw isTogether ? new NotTogether('evaluation', { cause: result.error }) : result.error
}

/** Decides about one input, and undoes it: what it would have done. `add` completes the outcome with the effects. */
export async function tryInput<Outcome>(
  deps: BatchDeps,
  input: Input<Outcome>,
  complete: (outcome: Outcome, effects: readonly Effect[]) => Promise<Outcome>,
): Promise<Outcome> {
  await loadOrganization(deps, input.organizationId)
  const effects: Effect[] = []
  const undo = undoFrom(deps.state.journal, effects)
  const restoreIds = deps.markRowIds()
  try {
    const result = await decideOne(deps, input as Input, new Map(), effects)
    if ('error' in result) throw result.error
    return await complete(result.outcome as Outcome, [...effects])
  } finally {
    undo()
    restoreIds()
    deps.forgetPlaces()
    deps.state.journal.clear()
  }
}
