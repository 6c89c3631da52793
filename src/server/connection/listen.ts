/** Listens on a port. */
import type { AddressInfo, Server } from 'node:net'
import type { Config } from '../../config.ts'
import type { Tls } from './tls.ts'

/**
 * The maximum length of the kernel's accept queue. If the queue is full, connections are dropped and senders wait for
 * seconds.
 */
const BACKLOG = 4_096

export function listen(server: Server, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: BACKLOG }, resolve)
  })
}

export function urlOf({ address, family, port }: AddressInfo, tls: Tls | null): string {
  return `${tls ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
