/**
 * The engine: the only writer of a running server. Inputs wait in a queue while a batch is being synced; then all that
 * has arrived shares one transaction and one sync. Read this file first, then `batch.ts`.
 */
import { setImmediate, setTimeout } from 'node:timers'
import { type Delivery, type Receipt, type Received, receive } from '../domain/decide/delivery.ts'
import { evaluate } from '../domain/decide/evaluate.ts'
import { applyDueSilences } from '../domain/decide/silences.ts'
import {
  type Due,
  dropSilentGroups,
  findDue,
  isDue,
  nextDue,
  postpone,
  sweepAlert,
  sweepSender,
} from '../domain/decide/sweep.ts'
import { IncmonError } from '../domain/error.ts'
import type { Source } from '../domain/event/event.ts'
import type { Notice } from '../domain/notice.ts'
import { evict } from '../domain/state/apply.ts'
import type { Context, IdTable } from '../domain/state/context.ts'
import type { Effect } from '../domain/state/effect.ts'
import { createState, type OrganizationState } from '../domain/state/state.ts'
import {
  type BatchDeps,
  type Decided,
  decideBatch,
  type Input,
  loadOrganization,
  NotTogether,
  tryInput,
} from './batch.ts'
import { createLargeQueue, isLarge, unavailable } from './large.ts'
import type { EngineStore } from './store.ts'

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
  /** Drops the live state; it is loaded again with the next input. */
  readonly reload: () => Promise<void>
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
/** A batch takes no more inputs once deciding took so long, in milliseconds, or after so many. */
const BATCH_MS = 12
const BATCH_INPUTS = 512
/** How long a database that another process holds is tried again, in milliseconds: some senders never retry. */
const RETRY_MS = 5_000
const PAUSE_MS = 25
/**
 * How long the engine waits for more input while more arrives: so many milliseconds, or this part of the last batch. Node
 * accepts one new connection in each turn of its loop, so a storm of them would otherwise wait for as many batches.
 */
const GATHER_MS = 2
const GATHER_SHARE = 1 / 4
/** What is due is decided in steps of so many, so that requests wait a few milliseconds at most. */
const SWEEP_STEP = 100
const POSTPONED_MS = 10 * 60_000

/**
 * @param mostWaiting read for each delivery, since it may change
 * @param largest items of a delivery that is stored at once
 */
export function createEngine(
  deps: EngineDeps,
  mostWaiting: () => number = () => MOST_WAITING,
  largest = LARGEST,
): Engine {
  const { store } = deps
  let state = createState()
  let places = new WeakMap<object, unknown>()
  let rowIds: Record<IdTable, number> | null = null
  let queue: Input[] = []
  let isScheduled = false
  let isClosed = false
  let isAllLoaded = false
  let lastTook = 0

  const batchDeps = (): BatchDeps => ({
    store,
    state,
    now: deps.now,
    markRowIds: () => {
      const given = rowIds && { ...rowIds }
      return () => {
        rowIds = given
      }
    },
    forgetPlaces: () => {
      places = new WeakMap()
    },
    surroundings: {
      newId: deps.newId,
      hashOf: deps.hashOf,
      rowId: (of) => {
        if (!rowIds) throw new Error('the row ids are not loaded')
        rowIds[of] += 1
        return rowIds[of]
      },
      recall: (draft, find) => {
        const known = places.get(draft)
        if (known !== undefined) return known as never
        const found = find()
        places.set(draft, found)
        return found
      },
      namesChanged: () => {
        places = new WeakMap()
      },
    },
  })

  const schedule = (later: number) => {
    if (isScheduled) return
    isScheduled = true
    if (later > 0) setTimeout(work, later)
    else gather(0, performance.now() + Math.max(GATHER_MS, lastTook * GATHER_SHARE))
  }

  /** Waits as long as each turn of the event loop brings more: what shares a commit shares the pages that it writes. */
  const gather = (before: number, until: number) => {
    setImmediate(() => {
      if (queue.length > before && queue.length > 1 && performance.now() < until) gather(queue.length, until)
      else void work()
    })
  }

  const work = async () => {
    const began = performance.now()
    const inputs = queue.slice(0, BATCH_INPUTS)
    queue = queue.slice(BATCH_INPUTS)
    const { count, retry } = await commit(inputs, began)
    lastTook = performance.now() - began
    queue = [...retry, ...inputs.slice(count), ...queue]
    isScheduled = false
    if (queue.length > 0) schedule(retry.length > 0 ? PAUSE_MS : 0)
  }

  /** Decides, saves, syncs and answers the first of the inputs; how many, and those that must be tried again. */
  const commit = async (
    inputs: readonly Input[],
    began: number,
  ): Promise<{ readonly count: number; readonly retry: readonly Input[] }> => {
    const isEnough = () => performance.now() - began > BATCH_MS
    try {
      rowIds ??= await store.lastRowIds()
      const { outcomes, notices, effects } = await decideBatch(batchDeps(), inputs, isEnough)
      if (effects.length > 0) await store.sync()
      outcomes.forEach((result, index) => {
        if ('error' in result) inputs[index]?.reject(result.error)
        else inputs[index]?.resolve(result.outcome)
      })
      for (const notice of notices) deps.announce(notice)
      observe(inputs, outcomes, performance.now() - began)
      return { count: outcomes.length, retry: [] }
    } catch (error) {
      return failed(inputs, error, began)
    }
  }

  const failed = async (inputs: readonly Input[], error: unknown, began: number) => {
    const fault = store.faultOf(error)
    if (fault === 'busy') {
      const now = deps.now()
      const late = inputs.filter(({ since }) => now - since > RETRY_MS)
      for (const one of late) refuse(one, 'another process holds the database', error)
      return { count: inputs.length, retry: inputs.filter((one) => !late.includes(one)) }
    }
    if (fault === null && inputs.length > 1) {
      const retry: Input[] = []
      for (const one of inputs) retry.push(...(await commit([one], began)).retry)
      return { count: inputs.length, retry }
    }
    if (fault === null) for (const one of inputs) one.reject(error instanceof NotTogether ? error.cause : error)
    else for (const one of inputs) refuse(one, fault === 'disk' ? null : 'the database cannot be written', error)
    if (fault === 'disk') endSoon(error)
    return { count: inputs.length, retry: [] }
  }

  const observe = (inputs: readonly Input[], outcomes: readonly object[], milliseconds: number) => {
    const sum = { deliveries: 0, items: 0, rejected: 0, repeated: 0, milliseconds }
    outcomes.forEach((result, index) => {
      const delivery = deliveries.get(inputs[index] as Input)
      if (delivery && 'outcome' in result) count(sum, delivery, result.outcome as Received)
    })
    if (sum.deliveries + sum.items > 0) deps.observe(sum)
  }

  const deliveries = new WeakMap<Input, Delivery>()

  const push = <Outcome>(
    organizationId: number,
    decide: Input<Outcome>['decide'],
    since: number,
    delivery?: Delivery,
  ) =>
    new Promise<Outcome>((resolve, reject) => {
      const input: Input<Outcome> = { organizationId, decide, resolve, reject, since }
      if (delivery) deliveries.set(input as Input, delivery)
      if (delivery?.part?.before) queue.unshift(input as Input)
      else queue.push(input as Input)
      schedule(0)
    })

  const take = (delivery: Delivery, since: number): Promise<Received> =>
    push(
      delivery.organizationId,
      (ctx) => {
        const outcome = receive(ctx, delivery)
        return { outcome, serviceIds: outcome.serviceIds }
      },
      since,
      delivery,
    )

  const large = createLargeQueue(take, deps.now)

  /** A dry run waits for its turn like every input, and changes nothing. */
  const tryDelivery = (delivery: Delivery): Promise<Receipt> =>
    alone(async () => {
      rowIds ??= await store.lastRowIds()
      const input: Input<Receipt> = {
        organizationId: delivery.organizationId,
        decide: (ctx) => ({ outcome: receive(ctx, delivery).receipt, serviceIds: [] }),
        ...{ resolve: () => {}, reject: () => {}, since: deps.now() },
      }
      return tryInput(batchDeps(), input, (receipt, effects) => withLinks(receipt, effects))
    })

  const withLinks = async (receipt: Receipt, effects: readonly Effect[]): Promise<Receipt> => {
    const items = (receipt.decisions ?? []).map((decision) => decision.alertRowId ?? null)
    const links = await store.tryLinks(
      effects,
      items.filter((id) => id !== null),
      deps.newId,
    )
    const decisions = (receipt.decisions ?? []).map(({ alertRowId, ...decision }) => ({
      ...decision,
      correlations: (alertRowId !== undefined && links.get(alertRowId)) || [],
    }))
    return { ...receipt, decisions }
  }

  /** Work between two batches. */
  const alone = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    while (isScheduled) await new Promise((done) => setImmediate(() => done(null)))
    isScheduled = true
    try {
      return await work()
    } finally {
      isScheduled = false
      if (queue.length > 0) schedule(0)
    }
  }

  /** What is due, each by itself: one of them cannot be stored, and costs the others nothing. */
  const sweepOneByOne = async (organizationId: number, due: Due): Promise<Swept> => {
    const faults: unknown[] = []
    const services = new Set(due.services)
    const sweepAlone = async (one: Partial<Due>) => {
      const decide = (ctx: Context) => sweepStep(ctx, { ...NOTHING_DUE, ...one }, deps.now())
      const { touched } = await push(organizationId, decide, deps.now()).catch(async (error) => {
        faults.push(error)
        const until = deps.now() + POSTPONED_MS
        await push(organizationId, (ctx) => ({ outcome: postpone(ctx, one, until), serviceIds: [] }), deps.now())
        return { touched: [] }
      })
      for (const service of touched) services.add(service)
    }
    for (const alert of due.alerts) await sweepAlone({ alerts: [alert] })
    for (const sender of due.senders) await sweepAlone({ senders: [sender] })
    for (const service of services) await sweepAlone({ services: [service] })
    return { faults, touched: [], more: false }
  }

  const load = async () => {
    isAllLoaded = true
    rowIds ??= await store.lastRowIds()
    for (const organizationId of await store.organizations()) await loadOne(organizationId)
  }

  const loadOne = (organizationId: number) => loadOrganization({ store, state, now: deps.now }, organizationId)

  return {
    submit: async (delivery) => {
      if (isClosed) throw unavailable('incmon is stopping', delivery)
      const most = mostWaiting() * (isSentAgain(delivery.source) ? 1 : LONGER)
      if (queue.length + large.pending() >= most) throw unavailable('too many requests wait', delivery)
      if (delivery.dryRun) return tryDelivery(delivery)
      if (isLarge(delivery, largest)) return large.store(delivery)
      return (await take(delivery, deps.now())).receipt
    },
    run: (organizationId, decide) => {
      if (isClosed) return Promise.reject(new IncmonError('unavailable', 'incmon is stopping: nothing was changed'))
      const decided = (ctx: Context) => ({ outcome: decide(ctx, deps.now()), serviceIds: [] })
      return push(organizationId, decided, deps.now())
    },
    sweep: async () => {
      if (!isAllLoaded) await alone(load)
      const faults: unknown[] = []
      let more = false
      for (const [organizationId, organization] of [...state.organizations]) {
        evict(organization, deps.now())
        if (!isDue(organization, deps.now())) continue
        const due = findDue(organization, deps.now(), SWEEP_STEP)
        const found = await push(organizationId, (ctx) => sweepAll(ctx, due, deps.now()), deps.now()).catch((error) => {
          if (store.faultOf(error) !== null) throw error
          return sweepOneByOne(organizationId, due)
        })
        faults.push(...found.faults)
        more ||= found.more
      }
      if (faults.length > 0) throw new AggregateError(faults, `${faults.length} due changes were postponed`)
      return more
    },
    nextDue: () => {
      const times = [...state.organizations.values()].flatMap((organization) => nextDue(organization) ?? [])
      return times.length > 0 ? Math.min(...times) : null
    },
    read: async (organizationId, look) => {
      if (!state.organizations.has(organizationId)) await alone(() => loadOne(organizationId))
      const organization = state.organizations.get(organizationId)
      if (!organization) throw new Error(`no organization ${organizationId}`)
      return look(organization)
    },
    load: () => alone(load),
    reload: () =>
      alone(async () => {
        state = createState()
        places = new WeakMap()
        rowIds = null
        isAllLoaded = false
      }),
    pending: () => queue.length + large.pending(),
    close: async () => {
      isClosed = true
      await large.close()
      while (isScheduled || queue.length > 0) await new Promise((done) => setTimeout(() => done(null), PAUSE_MS))
    },
  }

  function refuse(input: Input, why: string | null, cause: unknown): void {
    const delivery = deliveries.get(input)
    const lost = new IncmonError('unavailable', 'the disk failed, and this request may be stored or not: send it again')
    const error =
      why === null
        ? lost
        : delivery
          ? unavailable(why, delivery)
          : new IncmonError('unavailable', `${why}: nothing was changed, try again`)
    error.cause = cause
    input.reject(error)
  }
}

type Swept = {
  readonly more: boolean
  readonly faults: readonly unknown[]
  /** Services whose alerts ended. */
  readonly touched: readonly number[]
}
const NOTHING_DUE: Due = { alerts: [], services: [], senders: [] }

/** Decides about everything that is due, and evaluates the services that it touches. */
function sweepAll(ctx: Context, due: Due, now: number): Decided<Swept> {
  const first = sweepStep(ctx, { ...due, services: [] }, now).outcome
  const services = [...new Set([...due.services, ...first.touched, ...applyDueSilences(ctx, now)])]
  const second = sweepStep(ctx, { ...NOTHING_DUE, services }, now).outcome
  dropSilentGroups(ctx, now)
  const more = due.alerts.length === SWEEP_STEP || services.length >= SWEEP_STEP
  return { outcome: { more, faults: [...first.faults, ...second.faults], touched: [] }, serviceIds: [] }
}

/** Decides about what is due. What fails is postponed and costs nothing else. */
function sweepStep(ctx: Context, { alerts, services, senders }: Due, now: number): Decided<Swept> {
  const faults: unknown[] = []
  const touched: number[] = []
  const later = (what: Partial<Due>) => (error: unknown) => {
    faults.push(error)
    postpone(ctx, what, now + POSTPONED_MS)
  }
  for (const alert of alerts) {
    const decide = () => {
      const serviceId = sweepAlert(ctx, alert, now)
      if (serviceId !== null) touched.push(serviceId)
    }
    ctx.attempt(decide, later({ alerts: [alert] }))
  }
  for (const sender of senders) ctx.attempt(() => sweepSender(ctx, sender, now), later({ senders: [sender] }))
  for (const service of services) ctx.attempt(() => void evaluate(ctx, service, now), later({ services: [service] }))
  return { outcome: { more: false, faults, touched }, serviceIds: [] }
}

function isSentAgain(source: Source): boolean {
  return source === 'metrics' || source === 'dashboard'
}

/** A delivery that is stored in chunks counts with its last. */
function count(
  sum: { deliveries: number; items: number; rejected: number; repeated: number },
  { intake }: Delivery,
  { kind }: Received,
): void {
  if (kind !== 'part') sum.deliveries += 1
  if (kind === 'repeated') sum.repeated += 1
  else {
    sum.items += intake.accepted.length
    sum.rejected += intake.rejected.length
  }
}

/** Uncaught on purpose, once the refusals are sent: the process ends, and its supervisor starts it again. */
function endSoon(error: unknown): void {
  setTimeout(() => {
    throw error
  }, 100)
}
