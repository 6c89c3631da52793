/** The stores that a simulation can use. */
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_SETTINGS } from '../../src/domain/organization.ts'
import { createEngineStore } from '../../src/store/engine-store.ts'
import { readHere } from '../../src/store/read.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { migrate } from '../../src/store/sqlite/schema/migrate.ts'
import { makeOrganization } from '../helpers/factory.ts'
import { createMemoryStore } from './memory-store.ts'
import type { Simulated } from './world.ts'

/** Creates an in-memory store with two organizations. */
export function inMemory(): Simulated {
  const organization = { plan: 'Team', settings: DEFAULT_SETTINGS } as const
  const memory = createMemoryStore(new Map([1, 2].map((rowId) => [rowId, organization])))
  return { ...memory, organizations: [1, 2] }
}

/** Returns a function that opens a new database with two organizations, copied from one that was migrated once. */
export function sqliteIn(directory: string): () => Simulated & { readonly close: () => void } {
  const template = join(directory, 'template.db')
  const made = openStore(template)
  migrate(made, 0)
  for (const name of ['Acme', 'Charlie']) makeOrganization(made, name, 'Team')
  made.close()
  let count = 0
  return () => {
    count += 1
    const file = join(directory, `${count}.db`)
    copyFileSync(template, file)
    const db = openStore(file)
    db.pragma('synchronous = OFF')
    const unsynced = { ...db, transactionAhead: db.transaction, sync: async () => {} }
    const store = createEngineStore(unsynced, readHere(db))
    const close = () => {
      db.close()
      rmSync(file)
    }
    return { store, organizations: [1, 2], cutPower: null, close }
  }
}
