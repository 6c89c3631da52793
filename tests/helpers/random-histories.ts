/** Plays random histories and expects that nothing in them is at fault. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'

/**
 * INCMON_SEED chooses other histories. `atOnce`: how many are played in one database. `play` returns a sentence for each
 * fault.
 */
export function testHistories<History>(
  name: string,
  histories: fc.Arbitrary<History>,
  { count, atOnce }: { readonly count: number; readonly atOnce: number },
  play: (t: TestContext, all: readonly History[]) => Promise<string[]>,
): void {
  test(name, { timeout: 3_600_000 }, async (t) => {
    const seed = Number(process.env.INCMON_SEED ?? 7)
    const all = fc.sample(histories, { numRuns: count, seed })
    const faults: string[] = []
    for (let from = 0; from < all.length; from += atOnce)
      faults.push(...(await play(t, all.slice(from, from + atOnce))))
    assert.deepEqual(faults.slice(0, 5), [], `${faults.length} faults with the seed ${seed}`)
  })
}
