/** Implements the engine's store with SQLite. All calls except loading run without interruption. */
import { setImmediate } from 'node:timers/promises'
import { cacheByKey } from '../domain/memoize.ts'
import type { SuspectsAsked } from '../engine/changes/outcome.ts'
import type { ItemDecision } from '../engine/changes/receive/receipt.ts'
import type { EngineStore } from '../engine/store.ts'
import { listLinksOfAlert } from './correlation/links.ts'
import { listDuePostmortems } from './incident/postmortems.ts'
import { findSuspects } from './incident/suspects.ts'
import { findFact } from './live/facts.ts'
import { findLastRowIds, loadOrganization } from './live/load.ts'
import { generateDuePostmortem, saveDuePostmortem } from './live/postmortem.ts'
import { saveBatch } from './live/save.ts'
import { listOrganizations } from './organizations.ts'
import type { Read } from './read.ts'
import { errorCode, isBusy, isFull, isStoreFailure } from './sqlite/fault.ts'
import type { Db } from './sqlite/open.ts'

/** Thrown to roll back a transaction that only computes a result. */
const UNDO = Symbol('undo')

type Causes = Pick<ItemDecision, 'correlations' | 'suspects'>

/** The maximum number of suspects in a dry run. */
const MAX_SUSPECTS = 3

function suspectsIn(db: Db, organizationId: number, asked: SuspectsAsked, now: number): Causes['suspects'] {
  const found = findSuspects(db, organizationId, asked, now)
  return found.slice(0, MAX_SUSPECTS).map(({ ref, score, reasons }) => ({ ref, score, reasons }))
}

/** @param read reads large records in another thread if possible, so that other requests do not have to wait */
export function createEngineStore(db: Db, read: Read): EngineStore {
  return {
    load: async (journal, organizationId, now) => {
      const steps = loadOrganization(db, journal, organizationId, now)
      for (let step = steps.next(); ; step = steps.next()) {
        if (step.done) return step.value
        await setImmediate()
      }
    },
    organizations: async () => listOrganizations(db).map(({ rowId }) => rowId),
    lastRowIds: async () => findLastRowIds(db),
    fact: (organizationId, kind, asked) => findFact(db, organizationId, kind, asked),
    save: async (changes, newId) => db.transactionAhead(() => saveBatch(db, changes, newId)),
    duePostmortems: () => listDuePostmortems(db),
    writePostmortem: async (rowId, newId) => {
      // A postmortem must be written even if the reader thread is unavailable.
      const generated = await read(generateDuePostmortem, rowId).catch(() => generateDuePostmortem(db, rowId))
      saveDuePostmortem(db, rowId, generated, newId)
    },
    tryCauses: async (changes, decisions, { organizationId, now }, newId) => {
      const found: Causes[] = []
      // Many items can belong to one incident.
      const suspectsOf = cacheByKey(
        ({ rowId }: SuspectsAsked) => rowId,
        (asked) => suspectsIn(db, organizationId, asked, now),
      )
      try {
        db.transaction(() => {
          saveBatch(db, changes, newId)
          for (const { alertRowId, asked = null } of decisions) {
            const correlations = alertRowId === undefined ? [] : listLinksOfAlert(db, alertRowId)
            found.push({ correlations, suspects: asked === null ? [] : suspectsOf(asked) })
          }
          throw UNDO
        })
      } catch (error) {
        if (error !== UNDO) throw error
      }
      return found
    },
    faultOf: (error) => {
      if (isBusy(error)) return 'busy'
      if (isFull(error)) return 'full'
      if (/^SQLITE_(IOERR|CORRUPT)/.test(errorCode(error))) return 'disk'
      return isStoreFailure(error) ? 'store' : null
    },
    sync: db.sync,
  }
}
