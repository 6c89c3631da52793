/** Decides whether an organization has room for another alert and another service. */
import { BUDGETS } from '../../domain/budgets.ts'
import type { Limits } from '../../domain/limits.ts'
import { ordered } from '../../domain/order.ts'
import type { Context } from '../state/context.ts'
import type { OrganizationState } from '../state/state.ts'

/** How much of a limit an organization uses. */
export type Usage = { readonly limit: string; readonly used: number; readonly value: number }

/** Returns how much of each limit on the live state an organization uses. */
export function usageOf(state: OrganizationState, limits: Limits, now: number): readonly Usage[] {
  const { firing, services, incidents, senders, groups, silences } = state
  const current = [...silences.values()].filter(({ silence }) => silence.endsAt > now)
  return [
    // Ended alerts make room for new ones.
    { limit: 'live-alerts', used: firing.size(), value: limits['live-alerts'] },
    { limit: 'services', used: services.size(), value: limits.services },
    { limit: 'incidents', used: incidents.size(), value: limits.incidents },
    { limit: 'senders', used: senders.size(), value: BUDGETS.senders.value },
    { limit: 'groups', used: groups.size(), value: BUDGETS.groups.value },
    { limit: 'silences', used: current.length, value: BUDGETS.silences.value },
  ]
}

export type Shortage = 'live-alerts' | 'services'

/** Returns which limit prevents an item from opening an alert or from creating a service, or null. */
export function shortageOf(
  ctx: Context,
  { opens, creates }: { readonly opens: boolean; readonly creates: boolean },
  now: number,
): Shortage | null {
  if (creates && ctx.state.services.size() >= ctx.limits().services) return 'services'
  if (!opens || ctx.state.alerts.size() < ctx.limits()['live-alerts']) return null
  return makeRoom(ctx, now) ? null : 'live-alerts'
}

/** The maximum number of ended alerts that leave the live state at once. */
const AT_ONCE = 500
/** How long to wait before looking for ended alerts again, in milliseconds. Looking reads all live alerts. */
const AGAIN_AFTER = 5_000

/**
 * Removes the alerts from the live state that ended first. Such an alert can no longer be reopened. Returns whether
 * there was one.
 */
function makeRoom(ctx: Context, now: number): boolean {
  const { room, alerts } = ctx.state
  if (now < (room.get('full-until') ?? 0)) return false
  const ended = [...alerts.values()].filter(({ alert }) => alert.status === 'resolved')
  const first = ordered(ended, ({ alert, rowId }) => [alert.endedAt ?? 0, rowId]).slice(0, AT_ONCE)
  for (const live of first) ctx.settle(live, now)
  if (first.length === 0) room.set('full-until', now + AGAIN_AFTER)
  return first.length > 0
}
