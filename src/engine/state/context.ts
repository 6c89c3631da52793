/** The context of a decision: the live state and how to change it, new ids, and facts loaded from the history. */
import type { AlertTexts, LiveAlert } from '../../domain/alert/alert.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { Limits } from '../../domain/limits.ts'
import type { LiveGroup, LiveSender } from '../../domain/sender/sender.ts'
import type { LiveImage } from '../../domain/service/image.ts'
import type { LiveSilence } from '../../domain/silence/silence.ts'
import { dropAlert, putAlert, replaceAlert } from './alerts.ts'
import { apply, dropGroup, loadIncident, putGroup, putIncident, putSender, putSilence } from './apply.ts'
import type { Effect } from './effect.ts'
import { type FactKind, type Facts, type History, WRITTEN } from './facts.ts'
import type { Journal } from './journal.ts'
import { putService, replaceService } from './services.ts'
import { awaitedName, type Compared, type OrganizationState } from './state.ts'

/** Returns a function that undoes all changes and drops all effects since this call. */
export function undoFrom(journal: Journal, effects: Effect[]): () => void {
  const [mark, count] = [journal.mark(), effects.length]
  return () => {
    journal.rollback(mark)
    effects.length = count
  }
}

export const ID_TABLES = ['alerts', 'events', 'groups', 'incidents', 'senders', 'services', 'silences'] as const
export type IdTable = (typeof ID_TABLES)[number]

/** What the engine provides to every decision. */
export type Environment = ReturnType<typeof createEnvironment>

/** Creates what assigns row ids to new records, and caches the results of analyzing drafts. */
export function createEnvironment(given: {
  /** Returns a new UUIDv7. */
  readonly newId: () => string
  /** Returns a hash of a payload. */
  readonly hashOf: (payload: string) => number
  /** Returns the limits of each organization. */
  readonly limits: () => Limits
}) {
  const { newId, hashOf, limits } = given
  let rowIds: Record<IdTable, number> | null = null
  let drafts = new WeakMap<object, unknown>()
  /** Clears the draft cache. Called when services change, because drafts may then belong to other services. */
  const forgetDrafts = () => {
    drafts = new WeakMap()
  }
  return {
    ...{ newId, hashOf, limits, forgetDrafts },
    /** Returns a new row id for a table. */
    rowId: (of: IdTable) => {
      if (!rowIds) throw new Error('the row ids are not loaded')
      rowIds[of] += 1
      return rowIds[of]
    },
    /** Returns the cached result for a draft, or calls `find` and caches its result. */
    cached: <Found>(draft: object, find: () => Found): Found => {
      const known = drafts.get(draft)
      if (known !== undefined) return known as Found
      const found = find()
      drafts.set(draft, found)
      return found
    },
    /** Loads the highest row ids unless they are already loaded. */
    loadRowIds: async (last: () => Promise<Record<IdTable, number>>) => {
      rowIds ??= await last()
    },
    /** Returns a function that restores the current row ids and clears the draft cache. */
    mark: () => {
      const marked = rowIds && { ...rowIds }
      return () => {
        rowIds = marked && { ...marked }
        forgetDrafts()
      }
    },
    reset: () => {
      rowIds = null
      forgetDrafts()
    },
  }
}

export type Context = ReturnType<typeof createContext>

/** Creates a context that applies effects immediately and collects them in `effects`. */
export function createContext(
  state: OrganizationState,
  journal: Journal,
  environment: Environment,
  history: History,
  effects: Effect[],
) {
  let otherWork = 0
  /** Applies an effect to the live state and collects it for the store. */
  const emit = (effect: Effect) => {
    apply(state, effect)
    effects.push(effect)
    if (changesNames(effect)) environment.forgetDrafts()
  }
  const counted = <Args extends unknown[]>(change: (...args: Args) => void) => {
    return (...args: Args) => {
      otherWork += 1
      change(...args)
    }
  }
  return {
    ...environment,
    state,
    emit,
    /**
     * Adds or replaces a row of the live state. A change is described only once: by the row after it. The journal keeps
     * the row's first value for the store.
     */
    put: {
      service: counted((after: LiveService) => {
        const before = state.services.get(after.rowId)
        if (before) replaceService(state, before, after)
        else createService(state, after)
        if (before?.name !== after.name || before.cluster !== after.cluster) environment.forgetDrafts()
      }),
      /** `texts`: null if unchanged. A new alert must have texts. */
      alert: counted((after: LiveAlert, texts: AlertTexts | null = null) => {
        const before = state.alerts.get(after.rowId)
        if (before) replaceAlert(state, before, after)
        else {
          if (texts) state.unsavedLabels.set(after.rowId, texts.labels)
          putAlert(state, after)
        }
        if (texts) emit({ kind: 'alert-texts', alertId: after.rowId, texts })
      }),
      /** `before`: the saved incident, in case it is not in the live state. */
      incident: counted((after: LiveIncident, before: LiveIncident | null = null) => {
        if (before && state.incidents.get(after.rowId) === undefined) loadIncident(state, before)
        putIncident(state, after)
      }),
      sender: counted((after: LiveSender) => putSender(state, after)),
      group: counted((after: LiveGroup) => putGroup(state, after)),
      silence: counted((after: LiveSilence) => putSilence(state, after)),
      /** Keeps all images of a service, newest first. Only in the live state; see the effect `image-pulled`. */
      images: (serviceId: number, images: readonly LiveImage[]) => state.images.set(serviceId, images),
      /** Notes that a service's firing alerts, `rowIds`, were matched against the silences. Only in the live state. */
      compared: (serviceId: number, compared: Compared, rowIds: readonly number[]) => {
        state.compared.set(serviceId, compared)
        for (const rowId of rowIds) state.uncompared.remove(serviceId, rowId)
      },
    },
    /** Removes an ended alert that can no longer be reopened. Its retention period starts after all of its times. */
    settle: (live: LiveAlert, now: number) => {
      const { startsAt, lastSeenAt, endsAt } = live.alert
      dropAlert(state, live)
      emit({ kind: 'alert-settled', alertId: live.rowId, at: Math.max(now, startsAt, lastSeenAt, endsAt ?? now) })
    },
    /** Forgets a group. If the group returns, its delivery interval is learned again. */
    dropGroup: counted((group: LiveGroup) => dropGroup(state, group)),
    /** Changes the live state without saving the change. */
    unsaved: (change: () => void) => journal.pause(change),
    /** Runs `work`. If `work` throws, undoes its effects and calls `otherwise`. Errors of the store are thrown again. */
    attempt: (work: () => void, otherwise: (error: unknown) => void) => {
      const undo = undoFrom(journal, effects)
      try {
        work()
      } catch (error) {
        undo()
        if (history.isFault(error)) throw error
        otherwise(error)
      }
    },
    /** Returns the work done in the batch so far: 1 per change and effect, plus whatever `addWork` added. */
    workload: () => effects.length + otherWork,
    /** Adds work that causes no effects. `amount`: the number of effects that would take as long to save. */
    addWork: (amount: number) => {
      otherWork += amount
    },
    /** Counts the notes and edits that the batch has added to an incident. */
    unsavedNotes: (incidentId: number) => notesIn(effects, incidentId),
    /** Returns an event that is stored already, also by this batch. */
    storedEvent: (asked: Facts['event']['asked']) =>
      eventIn(effects, asked) ?? (history.fact(state.rowId, 'event', asked) as Facts['event']['found']),
    /** Returns a fact from the saved history. */
    fact: <Kind extends FactKind>(kind: Kind, asked: Facts[Kind]['asked']) =>
      history.fact(state.rowId, kind, asked) as Facts[Kind]['found'],
  }
}

/** Adds a new service, and assigns to it the events that were waiting for it. */
function createService(state: OrganizationState, service: LiveService): void {
  putService(state, service)
  const endings = state.unsavedEndings.get(awaitedName(service))
  if (endings) state.unsavedEndings.set(service.rowId, endings)
}

function eventIn(
  effects: readonly Effect[],
  { at, object, name, text }: Facts['event']['asked'],
): Facts['event']['found'] | null {
  for (const effect of effects) {
    if (effect.kind !== 'event-stored') continue
    const { event } = effect
    if (event.at === at && event.object === object && event.name === name && event.text === text) return event
  }
  return null
}

function notesIn(effects: readonly Effect[], incidentId: number): Facts['notes']['found'] {
  const texts = effects.flatMap((effect) => {
    const isOwn = effect.kind === 'timeline-added' && effect.incidentId === incidentId
    return isOwn && (WRITTEN as readonly string[]).includes(effect.entry.kind) ? [effect.entry.text] : []
  })
  return { entries: texts.length, length: texts.reduce((sum, text) => sum + text.length, 0) }
}

function changesNames(effect: Effect): boolean {
  switch (effect.kind) {
    case 'service-merged':
    case 'aliases-set':
      return true
    case 'image-pulled':
      return effect.isNew
    default:
      return false
  }
}
