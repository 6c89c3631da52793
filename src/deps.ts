/** The machine's clock and random numbers, for the server and the commands. */
import { getRandomValues, randomBytes } from 'node:crypto'
import { type Deps, withEngine } from './actions/deps.ts'
import { increasingIds, steadyClock } from './domain/clock/clock.ts'
import { findNewestUuid } from './store/id-matches.ts'
import type { Db } from './store/sqlite/open.ts'

/** Returns the current Unix time in milliseconds. */
export const systemClock: () => number = Date.now

export function systemDeps(db: Db): Deps {
  const { now, jumps } = steadyClock(systemClock, () => performance.now())
  let newId: (() => string) | null = null
  return withEngine({
    ...{ db, now, jumps },
    // The newest UUID is read on first use, because the tables might not exist earlier.
    newId: () => {
      newId ??= increasingIds(now, randomBits(), findNewestUuid(db))
      return newId()
    },
    newSecret: () => randomBytes(32).toString('base64url'),
    announce: () => {},
    observe: () => {},
  })
}

/** Returns a function that returns 32 random bits. Requests many bits from the operating system at once. */
function randomBits(): () => number {
  const pool = new Int32Array(1_024)
  let used = pool.length
  return () => {
    if (used === pool.length) {
      getRandomValues(pool)
      used = 0
    }
    used += 1
    return pool[used - 1] ?? 0
  }
}
