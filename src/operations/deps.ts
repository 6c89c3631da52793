/** What operations need of the world: the store, the clock, chance, and somebody to tell. */
import type { Notice } from '../live/notice.ts'
import type { Db } from '../store/open.ts'

export type Deps = {
  readonly db: Db
  /** Milliseconds since 1970, UTC. */
  readonly now: () => number
  /** A new UUID, version 7. */
  readonly newId: () => string
  /** A new secret that nobody can guess, of 43 characters. */
  readonly newSecret: () => string
  /** Tells, after the commit, that something changed; never throws, since what it tells of is done. */
  readonly announce: (notice: Notice) => void
}
