/** Limits the connections of one address, so that one client cannot use all of them. */
import type { Server, Socket } from 'node:net'
import { plainAddress } from '../../domain/forwarded.ts'
import type { Log } from '../log.ts'
import { networkOf } from './wrong-tokens.ts'

type Limit = {
  /** The limit per address. It is a function because SIGHUP can change it. */
  readonly most: () => number
  /** A proxy has many clients, so it has no limit. */
  readonly isTrusted: (address: string) => boolean
  /** Called for each connection that is closed. */
  readonly dropped: () => void
  readonly log: Log
}

/**
 * Closes connections above the limit. Logs the first one. `tell` logs the number of further ones since its last call.
 */
export function limitAddresses(server: Server, limit: Limit): { readonly tell: () => void } {
  /** Open connections by network. */
  const open = new Map<string, number>()
  let dropped = 0
  const drop = (socket: Socket, client: string) => {
    socket.destroy()
    limit.dropped()
    dropped += 1
    if (dropped > 1) return
    const remedy = 'if this address is a proxy, add it to trusted-proxies; otherwise raise max-connections-per-address'
    limit.log.warn({ client, connections: limit.most(), remedy }, 'an address has reached its connection limit')
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
    if (dropped > 1) limit.log.warn({ times: dropped - 1 }, 'closed more connections of addresses at their limit')
    dropped = 0
  }
  return { tell }
}
