/** The surroundings of the interface: what it asks of the process that serves it, and what it tells it. */
import type { Check } from '../operations/readiness.ts'
import type { Damage } from './damage.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { PendingBodies } from './pending-bodies.ts'
import type { Queue } from './queue.ts'
import type { Refusals } from './refusals.ts'
import type { Web } from './web.ts'
import type { WrongTokens } from './wrong-tokens.ts'

export type Surroundings = {
  readonly web: Web
  readonly log: Log
  readonly metrics: Metrics
  readonly refusals: Refusals
  readonly wrongTokens: WrongTokens
  readonly queue: Pick<Queue, 'waiting'>
  readonly pendingBodies: PendingBodies
  readonly damage: Pick<Damage, 'note'>
  /** Milliseconds of a clock that does not jump. */
  readonly elapsed: () => number
  readonly pause: (milliseconds: number) => Promise<void>
  /** A name that no other request has, of any process. */
  readonly newRequestId: () => string
  /** Whether a proxy at this address may say on whose behalf it calls. */
  readonly isTrusted: (address: string) => boolean
  /** Whether a stop was asked for: connections are then not kept. */
  readonly isStopping: () => boolean
  /** What answers have to wait for; null but for a moment of the stop. */
  readonly held: () => Promise<void> | null
  /** What the process itself says of its readiness. */
  readonly checks: () => readonly Check[]
}

/** @param prefix unlike that of any other process */
export function numberRequests(prefix: string): () => string {
  let number = 0
  return () => {
    number += 1
    return `${prefix}-${number.toString(36)}`
  }
}
