/**
 * The engine: the only writer of a running server. Read this file first, then `queue.ts` (when something is decided, and
 * what happens if the disk fails) and `batch.ts` (how it is decided and saved).
 */
import { type Delivery, type Receipt, type Received, receive } from '../domain/decide/delivery.ts'
import { nextDue } from '../domain/decide/sweep.ts'
import { IncmonError } from '../domain/error.ts'
import type { Source } from '../domain/event/event.ts'
import type { Notice } from '../domain/notice.ts'
import type { Context } from '../domain/state/context.ts'
import type { Effect } from '../domain/state/effect.ts'
import { createState, type OrganizationState } from '../domain/state/state.ts'
import { type Batch, decideBatch, type Input, loadOrganization, tryInput } from './batch.ts'
import { createEnvironment } from './environment.ts'
import { createLargeQueue, isLarge, unavailable } from './large.ts'
import { createQueue, type Queued } from './queue.ts'
import type { EngineStore } from './store.ts'
import { sweep } from './sweep.ts'

/** A batch that is on disk, without dry runs. */
export type Committed = {
  readonly deliveries: number
  readonly items: number
  readonly rejected: number
  /** Deliveries that were answered by their Idempotency-Key. */
  readonly repeated: number
  /** From the first decision to the end of the sync. */
  readonly milliseconds: number
}

export type EngineDeps = {
  readonly store: EngineStore
  /** Milliseconds since 1970, UTC. */
  readonly now: () => number
  readonly newId: () => string
  /** A hash that tells payloads apart: an integer. */
  readonly hashOf: (payload: string) => number
  /** Called after the commit with each change; never throws. */
  readonly announce: (notice: Notice) => void
  /** Called after the commit of each batch; never throws, and costs no more than a few additions. */
  readonly observe: (batch: Committed) => void
}

export type Engine = {
  /** Resolves once the delivery is on disk; rejects with 'unavailable' if it cannot be stored. */
  readonly submit: (delivery: Delivery) => Promise<Receipt>
  /** Decides about a change, and resolves with the outcome once it is on disk. Rejects with what `decide` throws. */
  readonly run: <Outcome>(organizationId: number, decide: (ctx: Context, now: number) => Outcome) => Promise<Outcome>
  /**
   * Does one step of what is due; whether more is.
   * @throws AggregateError after the commit, of what failed and was postponed
   */
  readonly sweep: () => Promise<boolean>
  /** The earliest time at which something is due, in milliseconds UTC; null for never. */
  readonly nextDue: () => number | null
  /** Looks at the live state of an organization. `look` must not change it. Rejects if there is no such organization. */
  readonly read: <Found>(organizationId: number, look: (state: OrganizationState) => Found) => Promise<Found>
  /** Loads all organizations, so that no request has to wait for that. */
  readonly load: () => Promise<void>
  /** Drops the live state; it is loaded again with the next input. `change` is made to the store before, while nothing else runs. */
  readonly reload: (change?: () => void) => Promise<void>
  /** Inputs that wait. */
  readonly pending: () => number
  /** Stores what waits and takes no more. */
  readonly close: () => Promise<void>
}

/** Requests that wait at most by default. Alertmanager and Grafana send again what is refused. */
const MOST_WAITING = 2_000
/** What exporters of Kubernetes events and GitLab are refused is lost: so many times more may wait before they are. */
const LONGER = 4
/** A delivery with more items is stored in chunks: what waits behind it must not wait long. */
const LARGEST = 1_000

/**
 * @param mostWaiting read for each delivery, since it may change
 * @param largest items of a delivery that is stored at once
 */
export function createEngine(
  deps: EngineDeps,
  mostWaiting: () => number = () => MOST_WAITING,
  largest = LARGEST,
): Engine {
  const { store, now } = deps
  const environment = createEnvironment(deps)
  let state = createState()
  let isAllLoaded = false
  let isClosed = false

  const batchDeps = () => ({ store, state, environment, now })

  const queue = createQueue({
    ...{ store, now },
    decide: (inputs, isEnough) => decideBatch(batchDeps(), inputs, isEnough),
    committed: (inputs, batch, milliseconds) => {
      for (const notice of batch.notices) deps.announce(notice)
      const sum = count(inputs, batch)
      if (sum.deliveries + sum.items > 0) deps.observe({ ...sum, milliseconds })
    },
  })

  const push = <Outcome>(
    organizationId: number,
    decide: Input<Outcome>['decide'],
    delivery: Delivery | null = null,
    since = now(),
  ) =>
    new Promise<Outcome>((resolve, reject) => {
      queue.add({ organizationId, decide, delivery, since, resolve, reject })
    })

  const take = (delivery: Delivery, since = now()): Promise<Received> => {
    const decide = (ctx: Context) => {
      const outcome = receive(ctx, delivery)
      return { outcome, serviceIds: outcome.serviceIds }
    }
    return push(delivery.organizationId, decide, delivery, since)
  }

  const large = createLargeQueue(take, now)

  const tryDelivery = (delivery: Delivery): Promise<Receipt> => {
    const decide = (ctx: Context) => ({ outcome: receive(ctx, delivery).receipt, serviceIds: [] })
    const input = { organizationId: delivery.organizationId, decide }
    const complete = (receipt: Receipt, effects: readonly Effect[]) => withLinks(deps, receipt, effects)
    return queue.between(() => tryInput(batchDeps(), input, complete))
  }

  const load = async () => {
    isAllLoaded = true
    await environment.loadRowIds(store.lastRowIds)
    for (const organizationId of await store.organizations()) await loadOrganization(batchDeps(), organizationId)
  }

  const isFull = (source: Source) => {
    const most = mostWaiting() * (source === 'metrics' || source === 'dashboard' ? 1 : LONGER)
    return queue.size() + large.pending() >= most
  }

  return {
    submit: async (delivery) => {
      if (isClosed) throw unavailable('incmon is stopping', delivery)
      if (isFull(delivery.source)) throw unavailable('too many requests wait', delivery)
      if (delivery.dryRun) return tryDelivery(delivery)
      if (isLarge(delivery, largest)) return large.store(delivery)
      return (await take(delivery)).receipt
    },
    run: (organizationId, decide) => {
      if (isClosed) return Promise.reject(new IncmonError('unavailable', 'incmon is stopping: nothing was changed'))
      return push(organizationId, (ctx) => ({ outcome: decide(ctx, now()), serviceIds: [] }))
    },
    sweep: async () => {
      if (!isAllLoaded) await queue.between(load)
      // What the store refused stays due, and nothing of it is postponed.
      const isOfStore = (error: unknown) => store.faultOf(error instanceof IncmonError ? error.cause : error) !== null
      return sweep({ state, now, push, isOfStore })
    },
    nextDue: () => {
      const times = [...state.organizations.values()].flatMap((organization) => nextDue(organization) ?? [])
      return times.length > 0 ? Math.min(...times) : null
    },
    read: async (organizationId, look) => {
      if (!state.organizations.has(organizationId)) {
        await queue.between(() => loadOrganization(batchDeps(), organizationId))
      }
      const organization = state.organizations.get(organizationId)
      if (!organization) throw new Error(`no organization ${organizationId}`)
      return look(organization)
    },
    load: () => queue.between(load),
    reload: (change = () => {}) =>
      queue.between(async () => {
        change()
        state = createState()
        environment.reset()
        isAllLoaded = false
      }),
    pending: () => queue.size() + large.pending(),
    close: async () => {
      isClosed = true
      await large.close()
      await queue.drained()
    },
  }
}

/** Completes the decisions of a dry run with the links that its alerts would have. */
async function withLinks(
  { store, newId }: Pick<EngineDeps, 'store' | 'newId'>,
  receipt: Receipt,
  effects: readonly Effect[],
): Promise<Receipt> {
  const tried = receipt.decisions ?? []
  const links = await store.tryLinks(
    effects,
    tried.flatMap(({ alertRowId }) => alertRowId ?? []),
    newId,
  )
  const decisions = tried.map(({ alertRowId, ...decision }) => ({
    ...decision,
    correlations: (alertRowId !== undefined && links.get(alertRowId)) || [],
  }))
  return { ...receipt, decisions }
}

/** Counts what a batch stored. A delivery that is stored in chunks counts with its last. */
function count(inputs: readonly Queued[], { outcomes }: Batch): Omit<Committed, 'milliseconds'> {
  const sum = { deliveries: 0, items: 0, rejected: 0, repeated: 0 }
  outcomes.forEach((result, index) => {
    const delivery = inputs[index]?.delivery
    if (!delivery || 'error' in result) return
    const { kind } = result.outcome as Received
    if (kind !== 'part') sum.deliveries += 1
    if (kind === 'repeated') sum.repeated += 1
    else {
      sum.items += delivery.intake.accepted.length
      sum.rejected += delivery.intake.rejected.length
    }
  })
  return sum
}
