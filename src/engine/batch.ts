/** Processes the inputs of a batch one by one in memory, then saves all effects in one transaction. */

import type { Notice } from '../domain/notice.ts'
import { isNodeService } from '../domain/service/node.ts'
import { evaluateOrPostpone, MAX_EVALUATION_WORK } from './changes/evaluate.ts'
import { applyDueSilences } from './changes/silences/silences.ts'
import { awaitRepeats } from './changes/sweep.ts'
import { settleBatch } from './state/apply.ts'
import { type Context, createContext, type Environment, undoFrom } from './state/context.ts'
import type { Effect } from './state/effect.ts'
import { type History, readOnce } from './state/facts.ts'
import { type Changes, changesSince, isEmpty } from './state/journal.ts'
import type { State } from './state/state.ts'
import type { EngineStore } from './store.ts'

/** An input to the engine: a webhook request, a user's change, or a step of the sweep. */
export type Input<Outcome = unknown> = {
  readonly organizationId: number
  /** Decides the outcome and the effects of this input. `now`: the Unix time in milliseconds. */
  readonly decide: (ctx: Context, now: number) => Decided<Outcome>
}
/** `serviceIds`: the row ids of the services to evaluate at the end of the batch. */
export type Decided<Outcome> = { readonly outcome: Outcome; readonly serviceIds: readonly number[] }

type BatchDeps = {
  readonly store: EngineStore
  readonly state: State
  readonly environment: Environment
  readonly now: () => number
  /** Whether the senders get time to repeat their alerts after a stop. */
  readonly awaitsRepeats: boolean
}

/** Thrown when an evaluation fails in a batch with several inputs. The engine then runs each input in its own batch. */
export class SplitBatch extends Error {}

/**
 * The outcomes of a batch, in input order. Notices are published only after the sync. `resolving`: the
 * positions of the inputs that resolved an incident.
 */
export type Batch = {
  readonly outcomes: readonly ({ readonly outcome: unknown } | { readonly error: unknown })[]
  /** Whether the batch changed anything that has to be synced. */
  readonly isSaved: boolean
  readonly notices: readonly Notice[]
  readonly resolving: ReadonlySet<number>
}

/**
 * Processes inputs until `isEnough` returns true, then saves the effects. A failing input does not affect the others.
 * @returns the outcomes of the inputs that were processed, in order
 * @throws the error from `save`, after rolling everything back
 * @throws SplitBatch if a service cannot be evaluated and there is more than one input
 */
export async function decideBatch(deps: BatchDeps, inputs: readonly Input[], isEnough: () => boolean): Promise<Batch> {
  const { store, state, environment } = deps
  await environment.loadRowIds(store.lastRowIds)
  for (const { organizationId } of inputs) {
    if (!state.organizations.has(organizationId)) await loadOrganization(deps, organizationId)
  }
  const deciding = startDeciding(deps)
  const { effects } = deciding
  const [mark, undo] = [state.journal.mark(), savepoint(deciding)]
  const outcomes: Batch['outcomes'][number][] = []
  const resolving = new Set<number>()
  const touched = new Map<number, { readonly organizationId: number; readonly inputs: number[] }>()
  try {
    for (const input of inputs) {
      const before = effects.length
      const undoInput = savepoint(deciding)
      const result = decideOne(deciding, input, deps.now(), undoInput)
      const isAlone = hasSince(effects, before, MERGES)
      if (isAlone && outcomes.length > 0) {
        undoInput()
        // Each context counts the work done for its organization. Clearing the contexts also discards the work counted
        // for the undone input.
        deciding.contexts.clear()
        break
      }
      const position = outcomes.push(result) - 1
      if (hasSince(effects, before, RESOLUTIONS)) resolving.add(position)
      for (const id of 'serviceIds' in result ? result.serviceIds : []) {
        const inputs = touched.get(id)?.inputs ?? []
        inputs.push(position)
        touched.set(id, { organizationId: input.organizationId, inputs })
      }
      if (isAlone || isEnough()) break
    }
    const limits = new Map<number, number>()
    for (const [serviceId, { organizationId, inputs }] of nodesFirst(state, touched)) {
      const before = effects.length
      const most =
        limits.get(organizationId) ?? (contextOf(deciding, organizationId)?.workload() ?? 0) + MAX_EVALUATION_WORK
      limits.set(organizationId, most)
      const result = decideOne(deciding, { organizationId, decide: evaluationOf(serviceId, most) }, deps.now())
      if ('error' in result)
        throw outcomes.length > 1 ? new SplitBatch('evaluation', { cause: result.error }) : result.error
      if (hasSince(effects, before, RESOLUTIONS)) for (const position of inputs) resolving.add(position)
    }
    const changes = changesSince(state.journal, mark, effects)
    const isSaved = !isEmpty(changes)
    const linked = isSaved ? await store.save(changes, environment.newId) : []
    for (const organization of state.organizations.values()) settleBatch(organization)
    state.journal.clear()
    return { outcomes, isSaved, notices: [...noticesOf(changes), ...linked], resolving }
  } catch (error) {
    undo()
    throw error
  }
}

/** The fields of an incident that clients can see. */
const INCIDENT_FIELDS = [
  ...(['alertCount', 'status', 'severity', 'title', 'serviceId', 'startedAt'] as const),
  ...(['acknowledgedAt', 'resolvedAt', 'touchedAt'] as const),
] as const

/** Returns one notice for each record with a visible change. */
function noticesOf({ rows, effects }: Changes): Notice[] {
  const notices: Notice[] = []
  const add = (kind: Notice['kind'], { id, organizationId }: Omit<Notice, 'kind'>) =>
    void notices.push({ kind, id, organizationId })
  for (const { before, after, isGone } of rows.services) {
    if (!isGone && (before?.health.status !== after.health.status || before.name !== after.name)) add('service', after)
  }
  for (const effect of effects) if (effect.kind === 'service-merged') add('service', effect.into)
  for (const { before, after } of rows.alerts) {
    const [was, is] = [before?.alert, after.alert]
    if (was?.status !== is.status || was.severity !== is.severity) add('alert', after)
  }
  for (const effect of effects) if (effect.kind === 'event-stored') add('event', effect.event)
  for (const change of rows.incidents)
    if (INCIDENT_FIELDS.some((name) => change.before?.[name] !== change.after[name])) add('incident', change.after)
  for (const { after } of rows.silences) add('silence', after.silence)
  return notices
}

/**
 * Loads the live state of an organization. Does nothing if the live state is already loaded or the organization does
 * not exist.
 */
export async function loadOrganization(
  { store, state, now, awaitsRepeats }: Omit<BatchDeps, 'environment'>,
  organizationId: number,
): Promise<void> {
  if (state.organizations.has(organizationId)) return
  const at = now()
  const organization = await store.load(state.journal, organizationId, at)
  if (organization) {
    if (awaitsRepeats) awaitRepeats(organization, at)
    state.organizations.set(organizationId, organization)
  }
  state.journal.clear()
}

/**
 * Processes one input, rolls it back, and returns its outcome. `complete` adds details from the changes to the outcome.
 */
export async function tryInput<Outcome>(
  deps: BatchDeps,
  input: Input<Outcome>,
  complete: (outcome: Outcome, changes: Changes) => Promise<Outcome>,
): Promise<Outcome> {
  await deps.environment.loadRowIds(deps.store.lastRowIds)
  await loadOrganization(deps, input.organizationId)
  const deciding = startDeciding(deps)
  const [mark, undo] = [deps.state.journal.mark(), savepoint(deciding)]
  try {
    const result = decideOne(deciding, input, deps.now())
    if ('error' in result) throw result.error
    return await complete(result.outcome as Outcome, changesSince(deps.state.journal, mark, deciding.effects))
  } finally {
    undo()
    deps.state.journal.clear()
  }
}

type Deciding = BatchDeps & {
  readonly effects: Effect[]
  readonly history: History
  readonly contexts: Map<number, Context>
}

function startDeciding(deps: BatchDeps): Deciding {
  const { fact, faultOf } = deps.store
  const history = readOnce({ fact, isFault: (error) => faultOf(error) !== null })
  return { ...deps, effects: [], history, contexts: new Map() }
}

/** Returns a function that undoes all changes made after this call. */
function savepoint({ state, environment, effects }: Deciding): () => void {
  const [undo, restore] = [undoFrom(state.journal, effects), environment.mark()]
  return () => {
    undo()
    restore()
  }
}

/** An input with a merge needs a batch of its own: it must be saved before later inputs read the facts that it moved. */
const MERGES: ReadonlySet<Effect['kind']> = new Set(['service-merged', 'incident-merged'])
const RESOLUTIONS: ReadonlySet<Effect['kind']> = new Set(['postmortem-due'])

/** Returns whether one of the effects since `from` is of these kinds. */
function hasSince(effects: readonly Effect[], from: number, kinds: ReadonlySet<Effect['kind']>): boolean {
  return effects.slice(from).some(({ kind }) => kinds.has(kind))
}

/**
 * Processes one input, after the silences that were due by then. If it fails, undoes its changes and returns the error.
 * @throws the error if the store caused it
 */
function decideOne(
  deciding: Deciding,
  input: Input,
  now: number,
  undo = savepoint(deciding),
): Decided<unknown> | { readonly error: unknown } {
  const ctx = contextOf(deciding, input.organizationId)
  if (!ctx) return { error: new Error(`no organization ${input.organizationId}`) }
  try {
    applyDueSilences(ctx, now)
    return input.decide(ctx, now)
  } catch (error) {
    if (deciding.history.isFault(error)) throw error
    undo()
    return { error }
  }
}

/** What a failed node explains depends on its incident. */
function nodesFirst(
  { organizations }: State,
  touched: ReadonlyMap<number, { readonly organizationId: number; readonly inputs: readonly number[] }>,
) {
  const { nodes = [], others = [] } = Object.groupBy(touched, ([serviceId, { organizationId }]) => {
    const service = organizations.get(organizationId)?.services.get(serviceId)
    return service && isNodeService(service) ? 'nodes' : 'others'
  })
  return [...nodes, ...others]
}

function contextOf(
  { state, environment, effects, history, contexts }: Deciding,
  organizationId: number,
): Context | null {
  const known = contexts.get(organizationId)
  if (known) return known
  const organization = state.organizations.get(organizationId)
  if (!organization) return null
  const made = createContext(organization, state.journal, environment, history, effects)
  contexts.set(organizationId, made)
  return made
}

function evaluationOf(serviceId: number, most: number): Input['decide'] {
  return (ctx, now) => {
    evaluateOrPostpone(ctx, serviceId, now, most)
    return { outcome: null, serviceIds: [] }
  }
}
