/**
 * Inputs that resolve incidents wait here while their postmortems are generated, which can take a second. Meanwhile,
 * the queue processes other inputs. Afterwards, the queue decides the input again and saves the postmortem in the same
 * commit.
 */
import type { Effect } from '../domain/state/effect.ts'
import type { LiveAlert } from '../domain/state/live.ts'
import type { Queued } from './queue.ts'
import type { EngineStore } from './store.ts'

/** Thrown when an input resolves incidents whose postmortems have not been generated yet. Nothing was saved. */
export class PostmortemsDue extends Error {
  readonly effects: readonly Effect[]
  readonly now: number
  constructor(effects: readonly Effect[], now: number) {
    super('postmortems must be generated first')
    this.effects = effects
    this.now = now
  }
}

/** Saves the effects together with the generated postmortems. */
export type Prepared = {
  /** When the input was first decided, as Unix time in milliseconds. The postmortems cover the time until then. */
  readonly now: number
  readonly save: EngineStore['save']
  /** Returns whether the postmortems are outdated because their records have changed since then. */
  readonly isStale: () => boolean
}

export type PostmortemQueue = {
  readonly add: (input: Queued, due: PostmortemsDue) => void
  /** Checks whether the effects of a saved batch make the postmortem outdated. */
  readonly watch: (effects: readonly Effect[]) => void
  /** Marks the postmortem that is being generated as outdated. */
  readonly invalidate: () => void
  /** Returns the number of waiting inputs. */
  readonly size: () => number
  /** Resolves once the current input has been answered. */
  readonly settled: () => Promise<void>
}

/**
 * Prepares one input at a time, because two inputs may resolve the same incident.
 * @param ready called with an input to decide next
 */
export function createPostmortemQueue(
  prepare: EngineStore['prepare'],
  ready: (input: Queued) => void,
): PostmortemQueue {
  const later: Queued[] = []
  let current: { readonly input: Queued; readonly settled: Promise<void> } | null = null
  let isPreparing = false
  let isStale = false
  let changes: (effect: Effect) => boolean = () => false

  /**
   * Makes the input the current one until it is answered. After that, the next waiting input becomes the current one.
   */
  const hold = (input: Queued): Queued => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const settling =
      <Value>(answer: (value: Value) => void) =>
      (value: Value) => {
        answer(value)
        current = null
        const next = later.shift()
        if (next) ready(hold(next))
        resolve()
      }
    const held = { ...input, resolve: settling(input.resolve), reject: settling(input.reject) }
    current = { input: held, settled: promise }
    return held
  }

  return {
    add: (input, { effects, now }) => {
      if (current && current.input !== input) return void later.push(input)
      const held = current?.input ?? hold(input)
      changes = changesPostmortemOf(effects)
      isStale = false
      isPreparing = true
      void prepare(effects).then((save) => {
        isPreparing = false
        ready({ ...held, prepared: { now, save, isStale: () => isStale } })
      })
    },
    watch: (effects) => {
      isStale ||= effects.some(changes)
    },
    invalidate: () => {
      isStale = true
    },
    size: () => later.length + (isPreparing ? 1 : 0),
    settled: async () => current?.settled,
  }
}

/** Returns a predicate that tells whether a later effect makes one of the postmortems in `effects` outdated. */
function changesPostmortemOf(effects: readonly Effect[]): (effect: Effect) => boolean {
  const resolved = effects.flatMap((effect) => (effect.kind === 'postmortem-due' ? [effect.incident] : []))
  const incidents = new Set<number | null>(resolved.map(({ rowId }) => rowId))
  const services = new Set<number | null>(resolved.map(({ serviceId }) => serviceId))
  for (const effect of effects) if (effect.kind === 'state-recorded') services.add(effect.serviceId)
  const isOf = ({ serviceId, incidentId }: LiveAlert) => services.has(serviceId) || incidents.has(incidentId)
  return (effect) => {
    switch (effect.kind) {
      case 'alert-opened':
        return isOf(effect.alert)
      case 'alert-changed':
        return (isOf(effect.before) || isOf(effect.after)) && !isRepeat(effect.before, effect.after)
      case 'event-stored':
        return effect.event.kind !== 'firing' && services.has(effect.event.serviceId)
      case 'incident-opened':
        return services.has(effect.incident.serviceId)
      case 'incident-changed':
        return incidents.has(effect.after.rowId) || services.has(effect.after.serviceId)
      case 'timeline-added':
        return incidents.has(effect.incidentId)
      case 'state-recorded':
        return services.has(effect.serviceId)
      case 'pipeline-changed':
        return services.has(effect.pipeline.serviceId)
      case 'service-changed':
        return services.has(effect.after.rowId) && effect.before.name !== effect.after.name
      case 'service-merged':
      case 'organization-changed':
        return true
      default:
        return false
    }
  }
}

/**
 * Returns whether only times and counts have changed. Repeats after the resolution do not belong in the postmortem.
 */
function isRepeat(before: LiveAlert, after: LiveAlert): boolean {
  if (before.incidentId !== after.incidentId || before.serviceId !== after.serviceId) return false
  return before.alert.status === after.alert.status && before.alert.severity === after.alert.severity
}
