/**
 * The engine is the only writer in a running server. Start with this file. `queue.ts` decides when an input is
 * processed, and handles disk errors. `batch.ts` processes and saves inputs.
 */
import { BUDGETS } from '../domain/budgets.ts'
import { IncmonError } from '../domain/error.ts'
import { isNotification, type Source } from '../domain/event/event.ts'
import { earliest } from '../domain/instant.ts'
import { DEFAULT_LIMITS, type Limits } from '../domain/limits.ts'
import type { Notice } from '../domain/notice.ts'
import { decideBatch, type Input, loadOrganization, tryInput } from './batch.ts'
import { type Delivery, type Received, receive } from './changes/receive/delivery.ts'
import type { Receipt } from './changes/receive/receipt.ts'
import { type Usage, usageOf } from './changes/room.ts'
import { refusedError } from './changes/shortage.ts'
import { awaitedSince, followJump, nextDue } from './changes/sweep.ts'
import { withCauses } from './dry-run.ts'
import { createLargeQueue, createStopwatch, isLarge, unavailable } from './large.ts'
import { createPostmortems } from './postmortems.ts'
import { type Committed, count, createQueue, type Queued } from './queue.ts'
import { type Context, createEnvironment } from './state/context.ts'
import { createState, type OrganizationState, type State } from './state/state.ts'
import type { EngineStore } from './store.ts'
import { sweep } from './sweep.ts'

export type EngineDeps = {
  readonly store: EngineStore
  /** Returns the current Unix time in milliseconds. */
  readonly now: () => number
  /** Returns monotonic time in milliseconds, used to limit the duration of a batch. Default: `performance.now`. */
  readonly elapsed?: () => number
  readonly newId: () => string
  /** Returns an integer hash of a payload. */
  readonly hashOf: (payload: string) => number
  /** Returns the limits of each organization. Default: the default limits. */
  readonly limits?: () => Limits
  /** Whether the senders get time to repeat their alerts after a stop. Default: false. */
  readonly awaitsRepeats?: boolean
  /** Returns how often `now` has jumped: the senders get the same time after a jump. Default: never. */
  readonly jumps?: () => number
  /** Called for each notice after the commit. Must not throw. */
  readonly announce: (notice: Notice) => void
  /** Called after each commit. Must be fast and must not throw. */
  readonly observe: (batch: Committed) => void
}

export type Engine = ReturnType<typeof createEngine>

/** The default limit on queued requests. Alertmanager and Grafana retry a rejected request. */
const MAX_QUEUED = 2_000
/** The limit on queued items. Storing this many items takes one to two seconds. */
const MAX_ITEMS_QUEUED = 10_000
/** The limits are this many times higher for Kubernetes exporters and GitLab, which never retry. */
const LONGER = 4
/** A delivery with more items than this is stored in chunks, so that it does not block other requests. */
const MAX_ITEMS = 250

/**
 * Creates the engine.
 * @param mostWaiting returns the current limit on queued requests; called for each delivery
 * @param largest the maximum number of items in one transaction
 */
export function createEngine(deps: EngineDeps, mostWaiting: () => number = () => MAX_QUEUED, largest = MAX_ITEMS) {
  const { store, now, awaitsRepeats = false, jumps = () => 0, elapsed = () => performance.now() } = deps
  const { limits = () => DEFAULT_LIMITS } = deps
  const environment = createEnvironment({ ...deps, limits })
  let state = createState()
  let isAllLoaded = false
  let isCaughtUp = false
  let isClosed = false
  /** The number of pending items, not counting deliveries stored in chunks. */
  let pendingItems = 0
  let dryRuns = 0
  const stopwatch = createStopwatch()
  const clock = createFollower({ now, jumps }, awaitsRepeats)
  const batchDeps = () => {
    clock.follow(state)
    return { store, state, environment, now, awaitsRepeats }
  }

  const postmortems = createPostmortems({ ...deps, newId: environment.newId })
  const queue = createQueue({
    writePostmortems: postmortems.write,
    ...{ store, now, elapsed },
    decide: (inputs, isEnough) => stopwatch.during(() => decideBatch(batchDeps(), inputs, isEnough)),
    committed: (inputs, batch, milliseconds) => {
      for (const notice of batch.notices) deps.announce(notice)
      const sum = count(inputs, batch)
      if (sum.deliveries + sum.items > 0) deps.observe({ ...sum, milliseconds })
    },
  })

  const push = <Outcome>(
    organizationId: number,
    decide: Input<Outcome>['decide'],
    { delivery = null, since = now(), awaitsPostmortems = false }: Partial<Omit<Queued, keyof Input>> = {},
  ) =>
    new Promise<Outcome>((resolve, reject) => {
      queue.add({ organizationId, decide, delivery, since, awaitsPostmortems, resolve, reject })
    })

  const take = (delivery: Delivery, since = now()): Promise<Received> => {
    const decide = (ctx: Context) => {
      const outcome = receive(ctx, delivery)
      return { outcome, serviceIds: outcome.serviceIds }
    }
    return push(delivery.organizationId, decide, { delivery, since })
  }

  const large = createLargeQueue(take, now, stopwatch.lastMs)

  const tryDelivery = async (delivery: Delivery): Promise<Receipt> => {
    if (dryRuns >= BUDGETS['dry-runs'].value) throw unavailable('too many dry runs are waiting')
    dryRuns += 1
    try {
      return await tryAlone(delivery)
    } finally {
      dryRuns -= 1
    }
  }

  const tryAlone = (delivery: Delivery): Promise<Receipt> => {
    const decide = (ctx: Context) => ({ outcome: receive(ctx, delivery).receipt, serviceIds: [] })
    const input = { organizationId: delivery.organizationId, decide }
    const at = { organizationId: delivery.organizationId, now: delivery.receivedAt }
    return queue.between(() => tryInput(batchDeps(), input, (...tried) => withCauses(deps, ...tried, at)))
  }

  const loadAll = async () => {
    isAllLoaded = true
    await environment.loadRowIds(store.lastRowIds)
    for (const organizationId of await store.organizations()) await loadOrganization(batchDeps(), organizationId)
  }

  const load = async () => {
    await queue.between(loadAll)
    await postmortems.write()
    isCaughtUp = true
  }

  const read = async <Found>(organizationId: number, look: (state: OrganizationState) => Found): Promise<Found> => {
    if (!state.organizations.has(organizationId)) {
      await queue.between(() => loadOrganization(batchDeps(), organizationId))
    }
    const organization = state.organizations.get(organizationId)
    if (!organization) throw new Error(`no organization ${organizationId}`)
    return look(organization)
  }

  const admit = (source: Source) => {
    if (isClosed) throw unavailable('incmon is stopping')
    const factor = isNotification({ source }) ? 1 : LONGER
    const requests = queue.size() + large.pending()
    if (requests >= mostWaiting() * factor) throw unavailable('too many requests are pending')
    if (pendingItems >= MAX_ITEMS_QUEUED * factor) throw unavailable('too many alerts are pending')
  }

  const submit = async (delivery: Delivery): Promise<Receipt> => {
    if (delivery.dryRun) return tryDelivery(delivery)
    const items = delivery.intake.accepted.length + delivery.intake.rejected.length
    pendingItems += items
    try {
      return isLarge(delivery, largest) ? await large.store(delivery) : (await take(delivery)).receipt
    } finally {
      pendingItems -= items
    }
  }
  return {
    /** Throws 'unavailable' if the queue is full for this source. Called before the body is parsed. */
    admit,
    /** Resolves once the delivery is on disk. Rejects with 'unavailable' if an item cannot be stored. */
    submit: async (delivery: Delivery): Promise<Receipt> => {
      admit(delivery.source)
      const receipt = await submit(delivery)
      if (receipt.refused) throw refusedError(receipt, receipt.refused, limits())
      return receipt
    },
    /**
     * Makes a change. Resolves with the outcome once the change is on disk. Rejects with any error that `decide` throws.
     */
    run: <Outcome>(organizationId: number, decide: (ctx: Context, now: number) => Outcome): Promise<Outcome> => {
      if (isClosed)
        return Promise.reject(new IncmonError('unavailable', 'incmon is shutting down: nothing was changed'))
      const input: Input<Outcome>['decide'] = (ctx, at) => ({ outcome: decide(ctx, at), serviceIds: [] })
      return push(organizationId, input, { awaitsPostmortems: true })
    },
    /**
     * Processes one step of due work in each organization. Resolves with true if more work is due.
     * @throws AggregateError after the commit, with the errors of the records that failed and were postponed
     */
    sweep: async (): Promise<boolean> => {
      if (!isAllLoaded) await load()
      else await postmortems.retry()
      if (clock.isBehind()) await queue.between(async () => clock.follow(state))
      // If the store itself fails, every record stays due and none is postponed.
      const isOfStore = (error: unknown) => store.faultOf(error instanceof IncmonError ? error.cause : error) !== null
      return sweep({ state, now, limits, push, isOfStore })
    },
    /** Returns when the next work is due, as Unix time in milliseconds, or null. */
    nextDue: () => earliest([...state.organizations.values()].map(nextDue)),
    /** Reads the live state, which `look` must not change. Rejects if the organization does not exist. */
    read,
    /** Returns how much of each limit an organization uses. Rejects if the organization does not exist. */
    usage: (organizationId: number): Promise<readonly Usage[]> =>
      read(organizationId, (organization) => usageOf(organization, limits(), now())),
    /** Returns since when senders' repeats are awaited after a stop, or null; now until the state is loaded. In ms UTC. */
    awaitedSince: (organizationId: number) => clock.awaitedSince(state, organizationId),
    /**
     * Loads all organizations at startup, so that the first requests do not have to load them, and writes the postmortems
     * that were due when the server stopped.
     */
    load,
    /** Returns whether `load` is complete. */
    isLoaded: () => isCaughtUp,
    /** Runs `change` while the engine is idle, then drops the live state. The next input loads the live state again. */
    reload: (change = () => {}): Promise<void> =>
      queue.between(async () => {
        change()
        state = createState()
        environment.reset()
        isAllLoaded = false
      }),
    pending: () => queue.size() + large.pending(),
    /** Resolves once every queued input is answered, and the postmortems are written that were due. */
    settled: queue.drained,
    /** Rejects new inputs. Resolves once all queued inputs are stored. */
    close: async () => {
      isClosed = true
      await large.close()
      await queue.drained()
    },
  }
}

// After a jump of the clock, what senders repeat seems overdue: they get time to repeat it, as after a start.

type Clock = { readonly now: () => number; readonly jumps: () => number }

/** @param awaitsRepeats whether the senders get time to repeat their alerts after a start, too */
function createFollower({ now, jumps }: Clock, awaitsRepeats: boolean) {
  let followed = jumps()
  /** Returns the time, and whether the clock has jumped since the last call of `follow`. */
  const read = () => ({ at: now(), isBehind: jumps() !== followed })
  return {
    isBehind: () => read().isBehind,
    /** Must not run during a batch. */
    follow: ({ organizations, journal }: State) => {
      const { at, isBehind } = read()
      if (!isBehind) return
      followed = jumps()
      for (const organization of organizations.values()) followJump(organization, at)
      journal.clear()
    },
    awaitedSince: ({ organizations }: State, organizationId: number): number | null => {
      const { at, isBehind } = read()
      if (isBehind) return at
      const organization = organizations.get(organizationId)
      return organization ? awaitedSince(organization, at) : awaitsRepeats ? at : null
    },
  }
}
