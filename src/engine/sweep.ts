/** The sweep processes due work in small steps. */
import type { Limits } from '../domain/limits.ts'
import type { Decided, Input } from './batch.ts'
import { evaluateOrPostpone, MAX_EVALUATION_WORK, splitServices } from './changes/evaluate.ts'
import { makeDue } from './changes/live-service.ts'
import { openHeartbeatIncident } from './changes/receive/heartbeats.ts'
import { endShortages } from './changes/shortage.ts'
import { type Due, dropSilentGroups, findDue, isDue, sweepAlert } from './changes/sweep.ts'
import { evict } from './state/apply.ts'
import type { Context } from './state/context.ts'
import type { State } from './state/state.ts'

/** The maximum number of records per step. A step of this size delays requests by only a few milliseconds. */
const STEP = 100
const POSTPONED_MS = 10 * 60_000

type SweepDeps = {
  readonly state: State
  readonly now: () => number
  readonly limits: () => Limits
  /** Queues a decision. Resolves with the outcome once the decision is on disk. */
  readonly push: <Outcome>(organizationId: number, decide: Input<Outcome>['decide']) => Promise<Outcome>
  /** Returns whether the store caused the error. If the store caused the error, the whole step stays due. */
  readonly isOfStore: (error: unknown) => boolean
}

/**
 * Processes one step of due work in each organization. Resolves with true if more work is due.
 * @throws AggregateError after the commit, with the errors of the records that failed and were postponed
 */
export async function sweep(deps: SweepDeps): Promise<boolean> {
  const { state, now, push } = deps
  const faults: unknown[] = []
  let more = false
  for (const [organizationId, organization] of [...state.organizations]) {
    evict(organization, now())
    if (!isDue(organization, deps.limits(), now())) continue
    const due = findDue(organization, now(), STEP)
    const found = await push(organizationId, (ctx, at) => sweepAll(ctx, due, at)).catch((error) => {
      if (deps.isOfStore(error)) throw error
      return sweepOneByOne(deps, organizationId, due)
    })
    faults.push(...found.faults)
    more ||= found.more
  }
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} scheduled changes were postponed`)
  return more
}

type Swept = {
  readonly more: boolean
  readonly faults: readonly unknown[]
  /** The row ids of the services whose alerts ended. */
  readonly touched: readonly number[]
}
const NOTHING_DUE: Due = { alerts: [], services: [], senders: [] }

/** Processes due work and evaluates the affected services. Services beyond the limit for one step stay due. */
function sweepAll(ctx: Context, due: Due, now: number): Decided<Swept> {
  const first = sweepStep(ctx, { ...due, services: [] }, now).outcome
  const affected = [...new Set([...due.services, ...first.touched, ...endShortages(ctx, now)])]
  const { first: services, rest } = splitServices(ctx.state, affected)
  for (const service of rest) makeDue(ctx, service, now)
  const second = sweepStep(ctx, { ...NOTHING_DUE, services }, now).outcome
  dropSilentGroups(ctx, now)
  const more = due.alerts.length === STEP || findDue(ctx.state, now, 1).services.length > 0
  return { outcome: { more, faults: [...first.faults, ...second.faults], touched: [] }, serviceIds: [] }
}

/** Processes due records. If a record fails, it is postponed and the other records are still processed. */
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
  const most = ctx.workload() + MAX_EVALUATION_WORK
  for (const service of services)
    ctx.attempt(() => evaluateOrPostpone(ctx, service, now, most), later({ services: [service] }))
  return { outcome: { more: false, faults, touched }, serviceIds: [] }
}

/** Reschedules a failed record. The new due time is kept only in memory, because the record could not be stored. */
function postpone(ctx: Context, { alerts = [], services = [], senders = [] }: Partial<Due>, until: number): void {
  for (const rowId of alerts) {
    const before = ctx.state.alerts.get(rowId)
    if (before) ctx.put.alert({ ...before, dueAt: until })
  }
  for (const rowId of services) {
    const before = ctx.state.services.get(rowId)
    if (before) ctx.unsaved(() => ctx.put.service({ ...before, evaluateAt: until }))
  }
  for (const key of senders) {
    const before = ctx.state.senders.get(key)
    if (before) ctx.put.sender({ ...before, heartbeatDueAt: until })
  }
}

/** Opens an incident for an overdue heartbeat. */
function sweepSender(ctx: Context, key: string, now: number): void {
  const sender = ctx.state.senders.get(key)
  if (sender) openHeartbeatIncident(ctx, sender, now)
}

/** Processes each due record as a separate input, so that a record that cannot be stored does not block the others. */
async function sweepOneByOne({ now, push }: SweepDeps, organizationId: number, due: Due): Promise<Swept> {
  const faults: unknown[] = []
  const services = new Set(due.services)
  const sweepAlone = async (one: Partial<Due>) => {
    const { touched } = await push(organizationId, (ctx, at) => sweepStep(ctx, { ...NOTHING_DUE, ...one }, at)).catch(
      async (error) => {
        faults.push(error)
        const until = now() + POSTPONED_MS
        await push(organizationId, (ctx) => ({ outcome: postpone(ctx, one, until), serviceIds: [] }))
        return { touched: [] }
      },
    )
    for (const service of touched) services.add(service)
  }
  for (const alert of due.alerts) await sweepAlone({ alerts: [alert] })
  for (const sender of due.senders) await sweepAlone({ senders: [sender] })
  for (const service of services) await sweepAlone({ services: [service] })
  return { faults, touched: [], more: false }
}
