/** The composition root: the application, its server and its clockwork, from listening to the last answer. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { getRequestListener } from '@hono/node-server'
import { createApp } from './http/app.ts'
import type { Deps } from './operations/deps.ts'
import { createIngest } from './operations/ingest.ts'
import { sweep } from './operations/sweep.ts'
import { startCheckpointer } from './workers/checkpointer.ts'
import { createReader } from './workers/reader.ts'

/** How often what is due is looked for, in milliseconds. */
const SWEEP_EVERY = 5_000
/** How long answers under way may take after a stop was asked for. */
const DRAIN_WITHIN = 8_000

/** Senders keep connections for a minute and more; slow ones must not hold one for ever. All in milliseconds. */
const LIMITS = {
  keepAliveTimeout: 75_000,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
} as const
const MOST_CONNECTIONS = 1_024

export type Running = { readonly url: string; readonly close: () => Promise<void> }

/** Serves until closed. Rejects where the port cannot be had. */
export async function serve(options: {
  readonly deps: Deps
  readonly host: string
  readonly port: number
}): Promise<Running> {
  const { deps, host, port } = options
  const ingest = createIngest(deps)
  const reader = createReader(deps.db.file)
  const app = createApp(deps, ingest, reader)
  const server = createServer(LIMITS, getRequestListener(app.fetch))
  server.maxConnections = MOST_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const stopSweeping = startSweeping(deps)
  const stopCheckpointing = startCheckpointer(deps.db)
  const close = async () => {
    stopSweeping()
    const drained = new Promise((resolve) => server.close(resolve))
    // A connection that is busy now is idle in a moment, and would be kept for the next request.
    const closing = setInterval(() => server.closeIdleConnections(), 50)
    const impatience = setTimeout(() => server.closeAllConnections(), DRAIN_WITHIN)
    await ingest.close()
    // Whoever searches can ask again: nobody waits minutes for that.
    await reader.close()
    await drained
    await stopCheckpointing()
    clearTimeout(impatience)
    clearInterval(closing)
  }
  return { url: urlOf(server.address() as AddressInfo), close }
}

/** Sweeps in small steps, so that requests come in between; a busy store is tried again at the next round. */
function startSweeping(deps: Deps): () => void {
  let timer: NodeJS.Timeout
  const round = () => {
    let more = false
    try {
      more = sweep(deps)
    } catch (error) {
      // What is due stays due, or was put off: the server goes on, and the log says why.
      console.error(JSON.stringify({ level: 'error', message: 'the sweep failed', cause: inspect(error) }))
    }
    timer = setTimeout(round, more ? 1 : SWEEP_EVERY)
  }
  timer = setTimeout(round, SWEEP_EVERY)
  return () => clearTimeout(timer)
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
