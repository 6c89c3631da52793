/** A running server, as `serve` returns it. */
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
