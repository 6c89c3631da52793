/** Executes the steps of a simulation with a real engine on any store, and checks the invariants. */
import assert from 'node:assert/strict'
import { IncmonError } from '../../src/domain/error.ts'
import { senderBehaviorOf } from '../../src/engine/changes/conditions.ts'
import type { Receipt } from '../../src/engine/changes/receive/receipt.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { createJournal } from '../../src/engine/state/journal.ts'
import type { EngineStore } from '../../src/engine/store.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { startEngines } from './engines.ts'
import { checkEvaluated } from './evaluated.ts'
import { type Death, makeFailing } from './failing-store.ts'
import {
  assertSame,
  assertUnavailable,
  checkIncidents,
  checkIndexes,
  checkNothingLost,
  checkReferences,
  checkResolved,
  withoutCounters,
} from './invariants.ts'
import { actOf } from './people.ts'
import type { Records } from './records.ts'
import { type Request, readRequest, requestOf } from './requests.ts'
import { type Snapshot, takeSnapshot } from './snapshot.ts'
import type { Message, Step, Who } from './steps.ts'

/**
 * A store for a simulation. `organizations` contains the row ids of two organizations. `records` is set if the store
 * exposes its contents.
 */
export type Simulated = {
  readonly store: EngineStore
  readonly organizations: readonly [number, number]
  readonly cutPower: (() => void) | null
  readonly records?: () => Records
}

type Sent = Request & { readonly receipt: Receipt }

/** A check takes longer than a step. */
const STEPS_BETWEEN_CHECKS = 5
/** More steps than any sweep needs. If it takes more, it never ends. */
const MAX_SWEEPS = 200
const HOUR = 60 * MINUTE
/** A late event takes effect two seconds after its receipt, because its opposite might follow. */
const LATE = 3_000
/** How long nothing is sent at the end, so that everything can settle. */
const REST = 72 * HOUR

/** Executes the steps one after another. Throws an AssertionError if an invariant does not hold. */
export async function simulate(simulated: Simulated, steps: readonly Step[]): Promise<Snapshot[]> {
  const world = createWorld(simulated)
  for (const [index, step] of steps.entries()) {
    await world.run(step)
    if (index % STEPS_BETWEEN_CHECKS === 0) await world.check()
  }
  await world.check()
  await world.rest()
  await world.check()
  return world.snapshots()
}

function createWorld({ store: inner, organizations, cutPower, records }: Simulated) {
  const clock = { now: NOON }
  let latest = NOON
  const failing = makeFailing(inner, cutPower)
  const sent: Sent[] = []
  /**
   * Organizations that have learned how their senders report events. Services are evaluated with this only when they
   * are due.
   */
  const haveNewBehavior = new Set<number>()
  const start = startEngines(failing.store, () => clock.now)
  let engine = start()

  const pass = (milliseconds: number) => {
    clock.now += milliseconds
    latest = Math.max(latest, clock.now)
  }

  const snapshotOf = (of: Engine, organizationId: number) =>
    of.read(organizationId, (state) => takeSnapshot(state, clock.now))
  const snapshots = () => Promise.all(organizations.map((organizationId) => snapshotOf(engine, organizationId)))

  const requestFrom = (who: Who, message: Message, idempotencyKey: string | null = null): Request => {
    const organizationId = organizations[who.organization - 1] ?? assert.fail()
    const from = { organizationId, cluster: who.cluster, receivedAt: clock.now, idempotencyKey }
    return readRequest(requestOf(message, clock.now), from)
  }

  /** Submits requests at once and retries the rejected ones until they are stored. */
  const submit = async (requests: readonly Request[]): Promise<void> => {
    const before = failing.willFail() ? await snapshots() : null
    const outcomes = await Promise.allSettled(requests.map(({ delivery }) => engine.submit(delivery)))
    const refused = requests.filter((request, index) => {
      const outcome = outcomes[index]
      if (outcome?.status === 'fulfilled') sent.push({ ...request, receipt: outcome.value })
      else assertUnavailable(outcome?.reason)
      return outcome?.status === 'rejected'
    })
    if (refused.length === requests.length && before !== null)
      assert.deepEqual(await snapshots(), before, 'a refused request changes nothing')
    if (refused.length > 0) await submit(refused)
  }

  const sweep = async () => {
    for (let round = 0; ; round += 1) {
      assert.ok(round < MAX_SWEEPS, 'a sweep ends')
      const more = await engine.sweep().catch((error) => {
        assertUnavailable(error)
        return true
      })
      if (!more && (engine.nextDue() ?? clock.now + 1) > clock.now) return
    }
  }

  /** Sends a request again, twice. The second time, nothing but counters changes. */
  const repeat = async (which: number, isCached: boolean) => {
    const first = sent[which % sent.length]
    if (!first) return
    const { delivery, body } = first
    const { source, intake, idempotencyKey } = delivery
    const isNotification = source === 'metrics' || source === 'dashboard'
    const isFromCache = isCached && isNotification && intake.accepted.every(({ draft }) => draft.at < clock.now)
    const again = { ...delivery, receivedAt: clock.now }
    const request = isFromCache ? { body, delivery: { ...again, isFromCache } } : readRequest([source, body], again)
    await submit([request])
    const before = await snapshots()
    await submit([request])
    const after = await snapshots()
    if (isNotification)
      assert.deepEqual(after.map(withoutCounters), before.map(withoutCounters), 'a repeat only counts')
    const isAnswered = idempotencyKey !== null && first.receipt.eventIds.length > 0
    if (isAnswered) assert.deepEqual(after, before, 'an Idempotency-Key is answered once')
  }
  const restart = async () => {
    const before = await snapshots()
    engine = start()
    assert.deepEqual(await snapshots(), before, 'a restart loads what was live')
  }

  const die = async (how: Death, who: Who, message: Message) => {
    const request = requestFrom(who, message)
    const before = await snapshots()
    const died = failing.dieAtCommit(how)
    const answered = engine.submit(request.delivery).then((receipt) => ({ receipt }))
    const outcome = await Promise.race([died, answered])
    // Either nothing had to be stored, or the store rejected the request first.
    if (outcome) sent.push({ ...request, receipt: outcome.receipt })
    const live = how === 'after the commit' && !outcome ? await snapshots() : before
    failing.revive()
    if (outcome) return
    engine = start()
    // As a server does when it starts.
    await inner.sync()
    assert.deepEqual(await snapshots(), live, `after a death ${how}`)
    await submit([request])
  }

  const act = async (step: Extract<Step, { do: 'person' }>) => {
    const own = organizations[step.who.organization - 1] ?? assert.fail()
    const candidates = await Promise.all(organizations.map((id) => engine.read(id, (state) => state)))
    const chosen = actOf(step, own, candidates)
    if (!chosen) return
    const before = await snapshots()
    const isDone = await engine
      .run(own, (ctx, now) => chosen.act(ctx, now))
      .then(
        () => true,
        (error) => {
          assert.ok(error instanceof IncmonError, error)
          return false
        },
      )
    if (!isDone) assert.deepEqual(await snapshots(), before, 'a refused act changes nothing')
    assert.ok(!isDone || chosen.isOwn, 'nobody changes a record of another organization')
  }

  const noteHabits = async () => {
    for (const organizationId of organizations) {
      const senders = await engine.read(organizationId, (state) =>
        [...state.senders.values()].map((sender) => senderBehaviorOf(state, sender)),
      )
      if (senders.some(({ repeats, lag }) => repeats || lag > 0)) haveNewBehavior.add(organizationId)
    }
  }

  const run = async (step: Step): Promise<void> => {
    await noteHabits()
    switch (step.do) {
      case 'send':
        return submit(step.messages.map((message) => requestFrom(step.who, message, step.key)))
      case 'repeat':
        return repeat(step.which, step.isCached)
      case 'wait':
        return pass(step.minutes * MINUTE)
      case 'sweep':
        await sweep()
        pass(LATE)
        await sweep()
        return checkAllEvaluated(haveNewBehavior)
      case 'restart':
        return restart()
      case 'fail':
        return failing.failNext(step.fault)
      case 'die':
        return die(step.how, step.who, step.message)
      case 'person':
        return act(step)
    }
  }

  /** What was evaluated before the clock went backward is evaluated again only at that time. */
  const checkAllEvaluated = async (except: ReadonlySet<number> = new Set()) => {
    if (clock.now < latest) return
    for (const organizationId of organizations) {
      if (!except.has(organizationId)) await checkEvaluated(inner, organizationId, clock.now)
    }
  }

  const check = async () => {
    for (const organizationId of organizations) {
      const live = await engine.read(organizationId, (state) => {
        checkIndexes(state)
        return takeSnapshot(state, clock.now)
      })
      const stored = await inner.load(createJournal(), organizationId, clock.now)
      assert.ok(stored)
      assertSame(live, takeSnapshot(stored, clock.now), 'the live state is what a restart would load')
    }
    if (!records) return
    checkReferences(records())
    checkIncidents(records())
    checkNothingLost(records(), sent)
  }

  /** Lets several days pass without requests, so that everything that ends with time has ended. */
  const rest = async () => {
    failing.revive()
    const end = clock.now + REST
    while (clock.now < end) {
      clock.now = Math.min(end, Math.max(clock.now + 4 * HOUR, engine.nextDue() ?? end))
      await sweep()
    }
    await checkAllEvaluated()
    for (const organizationId of organizations) {
      await engine.read(organizationId, (state) => checkResolved(state, clock.now))
    }
  }

  return { run, check, rest, snapshots }
}
