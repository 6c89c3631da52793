/** Connections by address: one caller may not take all that there are. */
import type { Server, Socket } from 'node:net'
import { plainAddress } from '../domain/forwarded.ts'
import type { Log } from './log.ts'
import { networkOf } from './wrong-tokens.ts'

type Limit = {
  /** How many one address may have; asked for at each connection, since it may change. */
  readonly most: () => number
  /** Behind a proxy stand many. */
  readonly isTrusted: (address: string) => boolean
  /** Called for each connection that is closed. */
  readonly dropped: () => void
  readonly log: Log
}

/** Closes at once what is over the limit. The first is logged; `tell`, to be called now and then, logs how many more. */
export function limitAddresses(server: Server, limit: Limit): { readonly tell: () => void } {
  /** Of each network that has any. */
  const open = new Map<string, number>()
  let dropped = 0
  const drop = (socket: Socket, client: string) => {
    socket.destroy()
    limit.dropped()
    dropped += 1
    if (dropped > 1) return
    const remedy = 'where it is a proxy, name it in trusted-proxies; else raise max-connections-per-address'
    limit.log.warn({ client, connections: limit.most(), remedy }, 'an address has all connections that it may have')
  }
  server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '')
    if (address === '' || limit.isTrusted(address)) return
    const network = networkOf(address)
    const count = open.get(network) ?? 0
    if (count >= limit.most()) return drop(socket, address)
    open.set(network, count + 1)
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1
      if (left > 0) open.set(network, left)
      else open.delete(network)
    })
  })
  const tell = () => {
    if (dropped > 1) limit.log.warn({ times: dropped - 1 }, 'closed more connections of addresses that have all')
    dropped = 0
  }
  return { tell }
}
