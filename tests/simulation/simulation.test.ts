/** Random histories: senders, people, time, failures and restarts in any order. `npm run simulate` runs many more of them. */
import { test } from 'node:test'
import fc from 'fast-check'
import { histories } from './steps.ts'
import { inMemory } from './stores.ts'
import { simulate } from './world.ts'

/** The same histories in each run: a test that fails tomorrow without a change helps nobody. */
const SEED = 1

test('whatever happens, a restart finds the same state, nothing accepted is lost, and everything comes to rest', async () => {
  const property = fc.asyncProperty(histories(), async (steps) => void (await simulate(inMemory(), steps)))
  await fc.assert(property, { numRuns: 2_000, seed: SEED })
})
