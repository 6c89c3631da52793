/** A running server, as `serve` returns it, and the error if it cannot start. */
import type { Config } from '../config.ts'
import type { Engine } from '../engine/engine.ts'
import type { Tls } from './connection/tls.ts'

export type Running = {
  readonly engine: Engine
  readonly url: string
  /** Applies new limits, proxies and certificates. Cannot switch between HTTP and HTTPS. */
  readonly change: (settings: Config, tls: Tls | null) => void
  /**
   * Stops the server. First, `/readyz` fails. After the grace period, new connections are refused, and the remaining
   * responses are sent.
   */
  readonly close: (withGrace?: boolean) => Promise<void>
}

/** Thrown if the server cannot start or stop. The message says what is wrong and what to do. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
