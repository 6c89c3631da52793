/** Client addresses: the connection limit per address, trusted proxies and allowed networks. */
import { BlockList, isIP, type Server, type Socket } from 'node:net'
import { plainAddress } from '../../domain/request/forwarded.ts'
import { isCidr } from '../../settings.ts'
import type { Log } from '../log.ts'
import { networkOf } from './wrong-tokens.ts'

type Limit = {
  /** Returns the limit per address, which SIGHUP can change. */
  readonly most: () => number
  /** Trusted proxies have no limit, because they serve many clients. */
  readonly isTrusted: (address: string) => boolean
  /** Called for every connection closed because of the limit. */
  readonly dropped: () => void
  readonly log: Log
}

/**
 * Closes connections above the limit. Logs the first closed connection. `tell` logs how many more connections were
 * closed since the last call.
 */
export function limitAddresses(server: Server, limit: Limit): { readonly tell: () => void } {
  /** The number of open connections per network. */
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
    if (dropped > 1)
      limit.log.warn({ times: dropped - 1 }, 'closed further connections from addresses that have reached the limit')
    dropped = 0
  }
  return { tell }
}

const LOOPBACK = ['127.0.0.0/8', '::1/128']

/**
 * Returns a function that checks whether a host is allowed: its address is in one of the networks, or its name is
 * listed. `localhost` includes all loopback addresses.
 */
export function allowing(entries: readonly string[]): (address: string, host: string) => boolean {
  const names = entries.filter((entry) => !isCidr(entry)).map((name) => name.toLowerCase())
  const networks = [...entries.filter(isCidr), ...(names.includes('localhost') ? LOOPBACK : [])]
  const isInNetwork = trusting(networks)
  return (address, host) => isInNetwork(address) || names.includes(host.toLowerCase().replace(/\.$/, ''))
}
export function trusting(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}
