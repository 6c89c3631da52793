/** Finds Deployments that serve nothing any more. */
import type { Change } from '../correlation/change.ts'
import { endsCanary, rolloutOf } from '../event/rollout.ts'
import { type Components, componentAt } from './component.ts'
import type { SuspectEvent, SuspectFacts } from './suspect.ts'
import type { SymptomEvent } from './symptom.ts'

const ZERO = 0.7

/** A Deployment whose ReplicaSets are all scaled to zero serves no traffic, but no event warns about it. */
export function emptied(facts: SuspectFacts, components: Components): SymptomEvent[] {
  const sizes = new Map<string, Map<string, { to: number; event: SuspectEvent }>>()
  for (const event of [...facts.events].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))) {
    const scaled = event.kind === 'change' && event.service !== null ? rolloutOf(event.text) : null
    if (!scaled || event.service === null) continue
    const sets = sizes.get(event.service) ?? new Map<string, { to: number; event: SuspectEvent }>()
    sizes.set(event.service, sets.set(scaled.hash, { to: scaled.to, event }))
  }
  return [...sizes].flatMap(([service, sets]) => {
    const component = componentAt(components, service)
    const last = [...sets.values()].at(-1)
    const newest = [...sets.values()].sort((a, b) => b.event.at - a.event.at)[0] ?? last
    if (component === null || !newest || [...sets.values()].some(({ to }) => to > 0)) return []
    // A new ReplicaSet was taken back, and the old one serves.
    const isBack = ({ kind, eventId, ...one }: Change) =>
      kind === 'rollout' && eventId === newest.event.id && !('emptied' in one)
    if (facts.changes.some(isBack) || endsCanary(newest.event, facts.events)) return []
    return [emptySighting(component, newest.event)]
  })
}

function emptySighting(component: string, event: SuspectEvent): SymptomEvent {
  return {
    component,
    witnesses: [],
    condition: 'scaled to zero',
    gist: 'scaled to zero',
    text: event.text,
    startsAt: event.at,
    lastAt: event.at,
    spans: [[event.at, event.at]],
    factors: [{ code: 'failure', value: ZERO, text: 'no replicas are left' }],
    node: null,
    isMemory: false,
    templates: [],
    isFiring: false,
    evidence: [{ eventId: event.id }],
    seen: 1,
    seenBefore: 0,
  }
}
