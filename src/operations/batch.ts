/** A batch of deliveries: stored in one synced commit, and answered. */
import { setTimeout } from 'node:timers'
import { IncmonError } from '../domain/error.ts'
import { errorCode, isHeld, isOfStore } from '../store/sqlite/fault.ts'
import { type Delivery, DryRun, type Received, receive } from './delivery.ts'
import type { Committed, Deps } from './deps.ts'
import { evaluate } from './evaluate.ts'
import { UNHEARD } from './senders.ts'
import { inTransaction } from './transaction.ts'

export type Waiting = {
  readonly delivery: Delivery
  readonly resolve: (received: Received) => void
  readonly reject: (error: unknown) => void
  readonly since: number
}

type Outcome = Received | { readonly error: unknown }

/**
 * One transaction and one sync for the batch; those that another process's hold on the store kept from being stored. A
 * delivery that fails costs only itself; so does one whose services cannot be evaluated, since then each is tried alone.
 */
export async function commit(deps: Deps, batch: readonly Waiting[]): Promise<readonly Waiting[]> {
  const began = performance.now()
  try {
    const outcomes = store(deps, batch)
    await deps.db.sync()
    const milliseconds = performance.now() - began
    outcomes.forEach((outcome, index) => {
      const one = batch[index]
      if ('receipt' in outcome) one?.resolve(outcome)
      else one?.reject(outcome.error)
    })
    deps.observe(committed(batch, outcomes, milliseconds))
    return []
  } catch (error) {
    if (isHeld(error)) return batch
    if (!isOfStore(error) && batch.length > 1) return commitEach(deps, batch)
    for (const { reject, delivery } of batch) reject(isOfStore(error) ? refusal(error, delivery) : error)
    if (isOfDisk(error)) endSoon(error)
    return []
  }
}

async function commitEach(deps: Deps, batch: readonly Waiting[]): Promise<readonly Waiting[]> {
  const held: Waiting[] = []
  for (const one of batch) held.push(...(await commit(deps, [one])))
  return held
}

/** A delivery that is stored in parts counts with its last. */
function committed(batch: readonly Waiting[], outcomes: readonly Outcome[], milliseconds: number): Committed {
  const sum = { deliveries: 0, items: 0, rejected: 0, repeated: 0, milliseconds }
  outcomes.forEach((outcome, index) => {
    if (!('receipt' in outcome) || outcome.kind === 'dry run') return
    if (outcome.kind !== 'part') sum.deliveries += 1
    if (outcome.kind === 'repeated') sum.repeated += 1
    else {
      sum.items += batch[index]?.delivery.intake.accepted.length ?? 0
      sum.rejected += batch[index]?.delivery.intake.rejected.length ?? 0
    }
  })
  return sum
}

/** All together; where one of them fails, or is only tried, each in a savepoint of its own. */
function store(deps: Deps, batch: readonly Waiting[]): readonly Outcome[] {
  if (batch.some(({ delivery }) => delivery.dryRun)) return storeWith(deps, batch, attempt)
  try {
    return storeWith(deps, batch, take)
  } catch (error) {
    if (isOfStore(error)) throw error
    return storeWith(deps, batch, attempt)
  }
}

type Take = (deps: Deps, delivery: Delivery, touched: Set<number>) => Outcome

function storeWith(deps: Deps, batch: readonly Waiting[], takeOne: Take): readonly Outcome[] {
  const all = (inside: Deps) => {
    const touched = new Set<number>()
    const received = batch.map(({ delivery }) => takeOne(inside, delivery, touched))
    const now = deps.now()
    for (const serviceId of touched) evaluate(inside, serviceId, now)
    return received
  }
  return inTransaction(deps, all, deps.db.transactionAhead)
}

function take(deps: Deps, delivery: Delivery, touched: Set<number>): Outcome {
  const received = receive(deps, delivery)
  for (const id of received.serviceIds) touched.add(id)
  return received
}

/** In a savepoint, so that a delivery that fails takes nothing of the others with it. */
function attempt(deps: Deps, delivery: Delivery, touched: Set<number>): Outcome {
  try {
    return inTransaction(deps, (inside) => take(inside, delivery, touched))
  } catch (error) {
    if (error instanceof DryRun) return { receipt: error.receipt, heard: UNHEARD, serviceIds: [], kind: 'dry run' }
    if (isOfStore(error)) throw error
    return { error }
  }
}

/** After a failed sync nobody knows what is on the disk: the file must be opened anew, by a process that knows nothing. */
function isOfDisk(error: unknown): boolean {
  // An index of the log that cannot grow: the disk is full, and has not failed.
  return /^SQLITE_(IOERR(?!_SHMSIZE)|CORRUPT)/.test(errorCode(error))
}

/** Uncaught on purpose, once the refusals are sent: the process ends, and its supervisor starts it again. */
function endSoon(error: unknown): void {
  setTimeout(() => {
    throw error
  }, 100)
}

function refusal(cause: unknown, delivery: Delivery): IncmonError {
  const error = isOfDisk(cause)
    ? new IncmonError('unavailable', 'the disk failed, and this request may be stored or not: send it again')
    : unavailable('the database cannot be written', delivery)
  error.cause = cause
  return error
}

/** What is sent again is known by its identity: nothing is stored twice of the parts that are stored. */
export function unavailable(why: string, { part }: Delivery): IncmonError {
  const stored = part?.before ? 'only a part of this request was stored' : 'nothing of this request was stored'
  return new IncmonError('unavailable', `${why}: ${stored}, send it again`)
}
