/** The context of a decision: the live state, new ids, and facts loaded from the history. */
import type { ReceivedEvent } from '../../domain/alert/late-events.ts'
import type { LiveAlert } from '../../domain/alert/live-alert.ts'
import type { LivePipeline } from '../../domain/correlation/change.ts'
import type { Labels, Source } from '../../domain/event/event.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { Limits } from '../../domain/limits.ts'
import type { LiveGroup } from '../../domain/sender/sender.ts'
import type { LiveImage } from '../../domain/service/image.ts'
import type { Severity } from '../../domain/severity.ts'
import type { LiveSilence } from '../../domain/silence/silence.ts'
import { dropAlert } from './alerts.ts'
import { apply, dropGroup } from './apply.ts'
import type { Effect } from './effect.ts'
import type { Journal } from './journal.ts'
import { type Put, putInto } from './put.ts'
import type { OrganizationState } from './state.ts'

/**
 * Facts that a decision can request from the history, by kind. `asked` is the type of the query, and `found` is the
 * type of the result.
 */
export type Facts = {
  /** The response stored for an Idempotency-Key after `since`, or null. */
  readonly answer: {
    readonly asked: { readonly source: Source; readonly key: string; readonly since: number }
    readonly found: string | null
  }
  /**
   * A service's events after `from` that can end a condition, earliest first. Includes events that named the service
   * before the service was created.
   */
  readonly endingEvents: {
    readonly asked: { readonly serviceId: number; readonly awaited: string; readonly from: number }
    readonly found: readonly ReceivedEvent[]
  }
  /**
   * Upper bounds in ms UTC; 0 if there is no such event. `endingEventAt`: for the time of the service's newest event
   * that can end a condition. `changeAt`: for the time of the service's newest change.
   */
  readonly newest: {
    readonly asked: { readonly serviceId: number; readonly awaited: string }
    readonly found: { readonly endingEventAt: number; readonly changeAt: number }
  }
  /** Whether any event still waits for a service of its name. */
  readonly hasAwaited: { readonly asked: object; readonly found: boolean }
  readonly hasOnlyCi: { readonly asked: { readonly serviceId: number }; readonly found: boolean }
  readonly images: { readonly asked: { readonly serviceId: number }; readonly found: readonly LiveImage[] }
  readonly pipeline: { readonly asked: { readonly ref: string }; readonly found: LivePipeline | null }
  /** The stored labels of alerts, by row id. */
  readonly labels: { readonly asked: { rowIds: readonly number[] }; readonly found: ReadonlyMap<number, Labels> }
  /** A silence that is not in the live state, by UUID. */
  readonly silence: { readonly asked: { readonly id: string }; readonly found: LiveSilence | null }
  /** An incident that is not in the live state, by UUID. */
  readonly incident: { readonly asked: { readonly id: string }; readonly found: LiveIncident | null }
  /** The node on which a pod of a service was last seen, or null. */
  readonly nodeOfPod: { readonly asked: { serviceId: number; pod: string }; readonly found: string | null }
  /** The newest events of a service since a time, oldest first. */
  readonly recentEvents: { readonly asked: Since; readonly found: readonly ReceivedEvent[] }
  /** How many notes and edits the timeline of an incident has, and the length of their texts in characters. */
  readonly notes: { readonly asked: { readonly incidentId: number }; readonly found: Notes }
  /** The event of a cluster that happened at this time; null if it is not stored. */
  readonly event: { readonly asked: Happened; readonly found: Stored | null }
  /** What the newest event of an alert said while it fired with this severity, or null. */
  readonly summary: {
    readonly asked: { readonly alertId: number; readonly severity: Severity }
    readonly found: string | null
  }
  /** The row id of an alert, by UUID. */
  readonly alert: { readonly asked: { readonly id: string }; readonly found: number | null }
}
export type FactKind = keyof Facts

type Since = { readonly serviceId: number; readonly from: number }
type Stored = { readonly rowId: number; readonly id: string }

/** What tells one event from another. */
type Happened = { readonly at: number; readonly object: string; readonly name: string; readonly text: string }

type Notes = { readonly entries: number; readonly length: number }

/** Reads the saved history. Records that the current batch has not saved yet are in the live state only. */
export type History = {
  readonly fact: (organizationId: number, kind: FactKind, asked: object) => unknown
  /** Returns whether the store caused an error. If so, the whole batch fails, and not just one record. */
  readonly isFault: (error: unknown) => boolean
}

/**
 * Reads each fact only once. Valid for one batch, because the saved history does not change while a batch is being
 * decided.
 */
export function readOnce({ fact, isFault }: History): History {
  const known = new Map<string, unknown>()
  return {
    fact: (organizationId, kind, asked) => {
      const key = `${organizationId} ${kind} ${JSON.stringify(asked)}`
      if (!known.has(key)) known.set(key, fact(organizationId, kind, asked))
      return known.get(key)
    },
    isFault,
  }
}

/** Returns a function that undoes all changes and drops all effects since this call. */
export function undoFrom(journal: Journal, effects: Effect[]): () => void {
  const [mark, count] = [journal.mark(), effects.length]
  return () => {
    journal.rollback(mark)
    effects.length = count
  }
}

/** Functions that the engine provides to every decision. */
export type Environment = {
  /** Returns a new UUIDv7. */
  readonly newId: () => string
  /** Returns a new row id for a table. */
  readonly rowId: (of: IdTable) => number
  /** Returns a hash of a payload. */
  readonly hashOf: (payload: string) => number
  /** Returns the cached result for a draft, or calls `find` and caches its result. */
  readonly cached: <Found>(draft: object, find: () => Found) => Found
  /** Returns the limits of each organization. */
  readonly limits: () => Limits
  /** Clears the draft cache. Called when services change, because drafts may then belong to other services. */
  readonly forgetDrafts: () => void
}

export const ID_TABLES = ['alerts', 'events', 'groups', 'incidents', 'senders', 'services', 'silences'] as const
export type IdTable = (typeof ID_TABLES)[number]

export type Context = Environment & {
  readonly state: OrganizationState
  /** Adds or replaces a row of the live state. The journal keeps its first value for the store. */
  readonly put: Put
  /** Removes an alert that can no longer be reopened. Its retention period starts at `at`. */
  readonly settle: (alert: LiveAlert, at: number) => void
  /** Forgets a group. If the group returns, its delivery interval is learned again. */
  readonly dropGroup: (group: LiveGroup) => void
  /** Changes the live state without saving the change. */
  readonly unsaved: (change: () => void) => void
  /** Applies an effect to the live state and collects it for the store. */
  readonly emit: (effect: Effect) => void
  /** Returns the work done in the batch so far: 1 per change and effect, plus whatever `addWork` added. */
  readonly workload: () => number
  /** Adds work that causes no effects. `amount`: the number of effects that would take as long to save. */
  readonly addWork: (amount: number) => void
  /** Runs `work`. If `work` throws, undoes its effects and calls `otherwise`. Errors of the store are thrown again. */
  readonly attempt: (work: () => void, otherwise: (error: unknown) => void) => void
  /** Counts the notes and edits that the batch has added to an incident. */
  readonly unsavedNotes: (incidentId: number) => Notes
  /** Returns an event that is stored already, also by this batch. */
  readonly storedEvent: (asked: Happened) => Stored | null
  /** Returns a fact from the saved history. */
  readonly fact: <Kind extends FactKind>(kind: Kind, asked: Facts[Kind]['asked']) => Facts[Kind]['found']
}

/** Creates a context that applies effects immediately and collects them in `effects`. */
export function createContext(
  state: OrganizationState,
  journal: Journal,
  environment: Environment,
  history: History,
  effects: Effect[],
): Context {
  let otherWork = 0
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
  const put = putInto(state, emit, environment.forgetDrafts)
  return {
    ...environment,
    state,
    attempt: (work, otherwise) => {
      const undo = undoFrom(journal, effects)
      try {
        work()
      } catch (error) {
        undo()
        if (history.isFault(error)) throw error
        otherwise(error)
      }
    },
    workload: () => effects.length + otherWork,
    addWork: (amount) => {
      otherWork += amount
    },
    put: {
      ...put,
      service: counted(put.service),
      alert: counted(put.alert),
      incident: counted(put.incident),
      sender: counted(put.sender),
      group: counted(put.group),
      silence: counted(put.silence),
    },
    settle: (alert, at) => {
      dropAlert(state, alert)
      emit({ kind: 'alert-settled', alertId: alert.rowId, at })
    },
    dropGroup: counted((group) => dropGroup(state, group)),
    unsaved: (change) => journal.pause(change),
    unsavedNotes: (incidentId) => notesIn(effects, incidentId),
    emit,
    storedEvent: (asked) => eventIn(effects, asked) ?? (history.fact(state.rowId, 'event', asked) as Stored | null),
    fact: (kind, asked) => history.fact(state.rowId, kind, asked) as never,
  }
}

function eventIn(effects: readonly Effect[], { at, object, name, text }: Happened): Stored | null {
  for (const effect of effects) {
    if (effect.kind !== 'event-stored') continue
    const { event } = effect
    if (event.at === at && event.object === object && event.name === name && event.text === text) return event
  }
  return null
}

/** The kinds of timeline entries whose text people write. */
export const WRITTEN = ['note', 'edited'] as const

function notesIn(effects: readonly Effect[], incidentId: number): Notes {
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
