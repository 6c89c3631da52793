/** What operations need of the world: the store, the clock, chance, and somebody to tell. */
import type { Notice } from '../domain/notice.ts'
import type { Db } from '../store/sqlite/open.ts'

/** A batch that is on disk: what was stored, kept aside and answered again, dry runs apart. */
export type Committed = {
  readonly deliveries: number
  readonly items: number
  readonly rejected: number
  /** Deliveries that were answered by their Idempotency-Key. */
  readonly repeated: number
  /** From the first decision to the end of the sync. */
  readonly milliseconds: number
}

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
  /** Told of each batch after its commit; never throws, and costs no more than a few additions. */
  readonly observe: (batch: Committed) => void
}
