/** The stores that a simulation can run over. */
import { DEFAULT_SETTINGS } from '../../src/domain/organization.ts'
import { createMemoryStore } from './memory-store.ts'
import type { Simulated } from './world.ts'

/** A new in-memory store with two organizations. */
export function inMemory(): Simulated {
  const organization = { plan: 'Team', settings: DEFAULT_SETTINGS } as const
  const memory = createMemoryStore(new Map([1, 2].map((rowId) => [rowId, organization])))
  return { ...memory, organizations: [1, 2] }
}
