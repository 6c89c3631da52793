/** Schedules evaluations. */
import type { Context } from '../state/context.ts'

/** Schedules the evaluation of a service unless it is already due. */
export function makeDue(ctx: Context, serviceId: number, now: number): void {
  const before = ctx.state.services.get(serviceId)
  if (!before || (before.evaluateAt !== null && before.evaluateAt <= now)) return
  ctx.put.service({ ...before, evaluateAt: now })
}
