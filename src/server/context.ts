/** The functions and settings that the process provides to the HTTP application. */

import type { Check } from '../actions/readiness.ts'
import type { ServiceKey } from '../domain/service/service.ts'
import type { ClusterState } from '../domain/watch/object.ts'
import type { WorkloadNow } from '../domain/watch/workload-now.ts'
import type { Notifier } from '../notify/notifier.ts'
import type { Damage } from './checks.ts'
import type { PendingBodies } from './connection/pending-bodies.ts'
import type { WrongTokens } from './connection/wrong-tokens.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Refusals } from './repeated.ts'
import type { Web } from './web.ts'

/**
 * The URLs of a server. `publicUrl` is the `public-url` setting or, if that setting is empty, `url`. `certificate` is a
 * PEM chain, or null for plain HTTP.
 */
export type Listening = { readonly url: string; readonly publicUrl: string; readonly certificate: string | null }

export type ServerContext = {
  readonly web: Web
  readonly log: Log
  readonly metrics: Metrics
  readonly refusals: Refusals
  readonly wrongTokens: WrongTokens
  readonly pendingBodies: PendingBodies
  readonly damage: Pick<Damage, 'note'>
  /** Sends test messages, checks URLs, and counts the messages that are being sent. */
  readonly notifier: Pick<Notifier, 'test' | 'sending' | 'hasMailServer' | 'checkTarget' | 'warning'>
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly elapsed: () => number
  readonly pause: (milliseconds: number) => Promise<void>
  readonly newRequestId: () => string
  /** Returns whether a proxy at this address is trusted. */
  readonly isTrusted: (address: string) => boolean
  /** Returns whether a shutdown was requested. During a shutdown, connections are closed after each response. */
  readonly isStopping: () => boolean
  /** Returns the promise that responses must wait for. The result is null except for a moment during shutdown. */
  readonly held: () => Promise<void> | null
  /** Returns where the server is listening, or null if the program runs without a server. */
  readonly listening: () => Listening | null
  readonly clusters: (organizationId: number) => readonly ClusterState[]
  /** Returns what a watched cluster says about a service's workload now. An empty cluster means any. */
  readonly workloadNow: (organizationId: number, service: ServiceKey) => WorkloadNow | null
  /** Returns the process checks for /readyz. */
  readonly checks: () => readonly Check[]
}

/** Returns the time of a monotonic clock in milliseconds. */
export function elapsed(): number {
  return performance.now()
}

/** Returns a function that generates request IDs. @param prefix unique for this process */
export function numberRequests(prefix: string): () => string {
  let number = 0
  return () => {
    number += 1
    return `${prefix}-${number.toString(36)}`
  }
}
