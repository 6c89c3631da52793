/** Implements the engine's store with SQLite. All calls except loading run without interruption. */
import { setImmediate } from 'node:timers/promises'
import type { LinkSummary } from '../domain/decide/delivery.ts'
import type { Notice } from '../domain/notice.ts'
import type { Journal } from '../domain/state/collections.ts'
import type { FactKind, IdTable } from '../domain/state/context.ts'
import type { Effect, TimelineEntry } from '../domain/state/effect.ts'
import type { OrganizationState } from '../domain/state/state.ts'
import { listLinksOfAlert } from './correlation/links.ts'
import type { NewPostmortem } from './incident/postmortems.ts'
import { findFact } from './live/facts.ts'
import { findLastRowIds, loadOrganization } from './live/load.ts'
import { generatePostmortem } from './live/postmortem.ts'
import { type EffectBatch, gatherEffects, saveBatch } from './live/save.ts'
import { listOrganizations } from './organizations.ts'
import type { Read } from './read.ts'
import { errorCode, isBusy, isFull, isStoreFailure } from './sqlite/fault.ts'
import type { Db } from './sqlite/open.ts'

/** A postmortem to generate, and the timeline entries that are saved together with the postmortem. */
type Due = readonly [due: Extract<Effect, { readonly kind: 'postmortem-due' }>, entries: readonly TimelineEntry[]]

/** Thrown to roll back a transaction that only computes a result. */
const UNDO = Symbol('undo')

type Generated = NewPostmortem | null
type Generate = (...due: Due) => Generated | Promise<Generated>

/** @param read reads large records in another thread if possible, so that other requests do not have to wait */
export function createEngineStore(db: Db, read: Read) {
  const generateHere: Generate = (...due) => generatePostmortem(db, ...due)
  // Resolving an incident must not fail because the reader thread is unavailable.
  const generate: Generate = (...due) => read(generatePostmortem, ...due).catch(() => generateHere(...due))

  const saveWith = async (
    generateOne: Generate,
    effects: readonly Effect[],
    newId: () => string,
  ): Promise<readonly Notice[]> => {
    const batch = gatherEffects(effects)
    const postmortems: NewPostmortem[] = []
    for (const due of listDue(batch)) {
      const postmortem = await generateOne(...due)
      if (postmortem) postmortems.push(postmortem)
    }
    return db.transactionAhead(() => saveBatch(db, batch, newId, postmortems))
  }

  return {
    load: async (journal: Journal, organizationId: number, now: number): Promise<OrganizationState | null> => {
      const steps = loadOrganization(db, journal, organizationId, now)
      for (let step = steps.next(); ; step = steps.next()) {
        if (step.done) return step.value
        await setImmediate()
      }
    },
    organizations: async (): Promise<readonly number[]> => listOrganizations(db).map(({ rowId }) => rowId),
    lastRowIds: async (): Promise<Record<IdTable, number>> => findLastRowIds(db),
    fact: (organizationId: number, kind: FactKind, asked: object): unknown => findFact(db, organizationId, kind, asked),
    save: (effects: readonly Effect[], newId: () => string) => saveWith(generate, effects, newId),
    prepare: async (effects: readonly Effect[]) => {
      const made = new Map<string, Generated>()
      for (const due of listDue(gatherEffects(effects))) {
        await read(generatePostmortem, ...due).then(
          (postmortem) => void made.set(keyOf(due), postmortem),
          // On failure, this thread generates the postmortem when it saves the effects.
          () => {},
        )
      }
      const generateAgain: Generate = (...due) => {
        const known = made.get(keyOf(due))
        return known === undefined ? generateHere(...due) : known && { ...known, id: due[0].id }
      }
      return (decided: readonly Effect[], newId: () => string) => saveWith(generateAgain, decided, newId)
    },
    tryLinks: async (
      effects: readonly Effect[],
      alertIds: readonly number[],
      newId: () => string,
    ): Promise<ReadonlyMap<number, readonly LinkSummary[]>> => {
      const links = new Map<number, readonly LinkSummary[]>()
      try {
        db.transaction(() => {
          saveBatch(db, gatherEffects(effects), newId, [])
          for (const alertId of alertIds) links.set(alertId, listLinksOfAlert(db, alertId))
          throw UNDO
        })
      } catch (error) {
        if (error !== UNDO) throw error
      }
      return links
    },
    faultOf: (error: unknown): 'busy' | 'full' | 'disk' | 'store' | null => {
      if (isBusy(error)) return 'busy'
      if (isFull(error)) return 'full'
      if (/^SQLITE_(IOERR|CORRUPT)/.test(errorCode(error))) return 'disk'
      return isStoreFailure(error) ? 'store' : null
    },
    sync: db.sync,
  }
}

function listDue({ postmortems, timeline }: EffectBatch): Due[] {
  return postmortems.map((due) => {
    const ofIncident = timeline.filter(({ incidentId }) => incidentId === due.incident.rowId)
    return [due, ofIncident.map(({ entry }) => entry)]
  })
}

function keyOf([{ incident, at }, entries]: Due): string {
  return JSON.stringify([incident, at, entries])
}
