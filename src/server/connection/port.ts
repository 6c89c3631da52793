/** Listens on a port. Checks whether the port is available and, if not, explains what to do. */
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { Config } from '../../config.ts'
import { errorCode } from '../../store/sqlite/fault.ts'
import { StartError } from '../running.ts'
import type { Tls } from './tls.ts'

type Address = Pick<Config, 'host' | 'port'>

/** Listens for a moment. Rejects with the operating system's error if listening fails. */
export function tryPort({ host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    // A client that connects at this moment is disconnected.
    const server = createServer((socket) => void socket.destroy())
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()))
  })
}

/** Returns the result of `listen`. @throws StartError with a remedy if the port is unavailable */
export async function listening<Result>({ host, port }: Address, listen: () => Promise<Result>): Promise<Result> {
  try {
    return await listen()
  } catch (error) {
    const remedy = remedyFor(errorCode(error), host, port)
    throw remedy ? new StartError(remedy) : error
  }
}

function remedyFor(code: string, host: string, port: number): string | null {
  if (code === 'EADDRINUSE')
    return `port ${port} on ${host} is in use: stop the program that is using it, or choose another --port (0 chooses any free port)`
  if (code === 'EACCES')
    return `no permission to listen on port ${port}: choose a --port of 1024 or above, or grant CAP_NET_BIND_SERVICE`
  return ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'].includes(code)
    ? `this machine has no address ${host} (${code}): choose a --host such as 127.0.0.1, or 0.0.0.0 for all addresses`
    : null
}

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
