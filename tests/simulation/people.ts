/** What people do to existing records in a simulation. */
import { resolveAlert } from '../../src/engine/changes/alerts.ts'
import { addNote, changeIncident, createIncident } from '../../src/engine/changes/incidents/incident-changes.ts'
import { mergeIncidents } from '../../src/engine/changes/incidents/merge.ts'
import { mergeServices, updateService } from '../../src/engine/changes/services.ts'
import { createSilence, expireSilence } from '../../src/engine/changes/silences/silences.ts'
import type { Context } from '../../src/engine/state/context.ts'
import type { OrganizationState } from '../../src/engine/state/state.ts'
import { MINUTE } from '../helpers/factory.ts'
import type { Step } from './steps.ts'

/** `isOwn` is true if all records involved belong to the person's organization. */
type Chosen = { readonly act: (ctx: Context, now: number) => unknown; readonly isOwn: boolean }

/**
 * Returns what the person does. The step's number selects records from both organizations. Returns null if there is no
 * such record.
 */
export function actOf(
  step: Extract<Step, { readonly do: 'person' }>,
  own: number,
  states: readonly OrganizationState[],
): Chosen | null {
  const pick = (
    of: (state: OrganizationState) => Iterable<{ readonly id: string; readonly rowId: number }>,
    which: number,
  ) => {
    // Sorted by creation, because each store loads them in a different order.
    const inOrder = (state: OrganizationState) => [...of(state)].sort((a, b) => a.rowId - b.rowId)
    const all = states.flatMap((state) => inOrder(state).map(({ id }) => ({ id, isOwn: state.rowId === own })))
    return all[which % Math.max(1, all.length)] ?? null
  }
  const incident = (which: number) => pick(({ incidents }) => incidents.values(), which)
  const service = (which: number) => pick(({ services }) => services.values(), which)
  const [first, second] = [step.which, Math.floor(step.which / 7)]
  const one = (
    found: { readonly id: string; readonly isOwn: boolean } | null,
    act: (ctx: Context, now: number, id: string) => unknown,
  ): Chosen | null => found && { isOwn: found.isOwn, act: (ctx, now) => act(ctx, now, found.id) }
  const two = (of: typeof incident, act: (ctx: Context, now: number, ids: readonly [string, string]) => unknown) => {
    const [from, into] = [of(first), of(second)]
    if (!from || !into) return null
    const isOwn = from.isOwn && into.isOwn
    return { isOwn, act: (ctx: Context, now: number) => act(ctx, now, [from.id, into.id]) }
  }
  switch (step.act) {
    case 'change incident':
      return one(incident(first), (ctx, now, id) => changeIncident(ctx, id, { status: step.to }, 'anna', now))
    case 'create incident':
      return one(service(first), (ctx, now, serviceId) =>
        createIncident(ctx, { title: 'Checkout is down', serviceId, severity: 'critical' }, 'anna', now),
      )
    case 'merge incidents':
      return two(incident, (ctx, now, [from, into]) => mergeIncidents(ctx, { from, into }, 'anna', now))
    case 'note':
      return one(incident(first), (ctx, now, id) => addNote(ctx, id, 'looking', 'anna', now))
    case 'resolve alert':
      return one(
        pick(({ alerts }) => alerts.values(), first),
        (ctx, now, id) => resolveAlert(ctx, id, 'anna', now),
      )
    case 'merge services':
      return two(service, (ctx, now, [from, into]) => mergeServices(ctx, from, into, now))
    case 'rename service':
      return one(service(first), (ctx, now, id) => updateService(ctx, id, { name: step.name }, now))
    case 'silence':
      return { isOwn: true, act: (ctx, now) => createSilence(ctx, silenceOf(step.minutes, now), 'anna', now) }
    case 'end silence': {
      const all = ({ silences }: OrganizationState) => [...silences.values()].map(({ silence }) => silence)
      return one(pick(all, first), (ctx, now, id) => expireSilence(ctx, id, now))
    }
  }
}

function silenceOf(minutes: number, now: number) {
  const matchers = [{ name: 'service', op: '=', value: 'cart' }] as const
  return { matchers, startsAt: now, endsAt: now + minutes * MINUTE, schedule: null, comment: 'Upgrade' }
}
