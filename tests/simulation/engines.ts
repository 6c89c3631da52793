/** The engines of a simulation, started one after another on the same store. Each represents a process. */
import { crc32 } from 'node:zlib'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import type { EngineStore } from '../../src/engine/store.ts'

/** Returns a function that starts an engine. UUIDs are unique across all engines. */
export function startEngines(store: EngineStore, now: () => number): () => Engine {
  const ofRecords = uuids('8000')
  // The store creates the UUIDs of links, and each store does so in its own order.
  const ofLinks = uuids('9000')
  const ordered: EngineStore = {
    ...store,
    save: (changes) => store.save(changes, ofLinks),
    writePostmortem: (rowId) => store.writePostmortem(rowId, ofLinks),
  }
  return () =>
    createEngine({
      store: ordered,
      now,
      // A busy machine must not split a batch.
      elapsed: () => 0,
      newId: ofRecords,
      hashOf: (payload) => crc32(payload),
      announce: () => {},
      observe: () => {},
    })
}

function uuids(variant: string): () => string {
  let made = 0
  return () => {
    made += 1
    return `01900000-0000-7000-${variant}-${made.toString(16).padStart(12, '0')}`
  }
}
