/** The clock and the random numbers of this machine, for the server and the command line. */
import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { steadyClock } from './domain/clock.ts'
import type { Notice } from './domain/notice.ts'
import type { Deps } from './operations/deps.ts'
import type { Db } from './store/sqlite/open.ts'

/** Returns milliseconds since 1970 in UTC. */
export const systemClock: () => number = Date.now

export function systemDeps(db: Db, announce: (notice: Notice) => void = () => {}): Deps {
  return {
    db,
    now: steadyClock(systemClock),
    newId: randomUUIDv7,
    newSecret: () => randomBytes(32).toString('base64url'),
    announce,
    observe: () => {},
  }
}
