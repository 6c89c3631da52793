/** Client addresses: the connection limit per address, trusted proxies and allowed networks. */
import { BlockList, isIP, type Server, type Socket } from 'node:net'
import { plainAddress } from '../../domain/request/forwarded.ts'
import { isCidr } from '../../settings.ts'
import type { Log } from '../log.ts'
import { networkOf } from './wrong-tokens.ts'

/** How many connections Node accepts above the limit, because a connection that makes room closes a moment later. */
export const SPARE_CONNECTIONS = 8

type Limit = {
  /** Returns the limit per address, which SIGHUP can change. */
  readonly most: () => number
  /** Returns the limit of all connections together. */
  readonly all: () => number
  /** Returns the connections that wait for a response, or receive one. */
  readonly answered: () => ReadonlySet<string>
  /** Trusted proxies have no limit, because they serve many clients. */
  readonly isTrusted: (address: string) => boolean
  /** Called for every connection closed because of the limit. */
  readonly dropped: () => void
  readonly log: Log
}

/** Identifies a connection. With TLS, the same connection has two sockets. */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

/**
 * Closes connections above the limits. If all connections together reach the limit, a client with fewer connections
 * takes the place of the oldest one, among those without a complete request, of a client with more. Logs the first
 * connection closed because of the limit per address. `tell` logs how many more were closed since the last call.
 */
export function limitAddresses(server: Server, limit: Limit): { readonly tell: () => void } {
  /** The open connections per network, oldest first. */
  const open = new Map<string, Set<Socket>>()
  let total = 0
  let dropped = 0
  const drop = (socket: Socket, client: string) => {
    close(socket)
    dropped += 1
    if (dropped > 1) return
    const remedy = 'if this address is a proxy, add it to trusted-proxies; otherwise raise max-connections-per-address'
    limit.log.warn({ client, connections: limit.most(), remedy }, 'an address has reached its connection limit')
  }
  const close = (socket: Socket) => {
    socket.destroy()
    limit.dropped()
  }
  /** Closes a connection of a client that has more connections than one with `own`. Returns whether there was one. */
  const makeRoom = (own: number): boolean => {
    // With a difference of one, two clients would displace each other again and again.
    const spared = own === 0 ? 0 : own + 1
    const larger = [...open].filter(([network, { size }]) => network !== EXEMPT && size > spared)
    if (larger.length === 0) return false
    const answered = limit.answered()
    for (const [network, sockets] of larger.sort(([, a], [, b]) => b.size - a.size)) {
      const oldest = [...sockets].find((socket) => !answered.has(peerOf(socket)))
      if (!oldest) continue
      forget(network, oldest)
      close(oldest)
      return true
    }
    return false
  }
  const forget = (network: string, socket: Socket) => {
    const sockets = open.get(network)
    if (!sockets?.delete(socket)) return
    total -= 1
    if (sockets.size === 0) open.delete(network)
  }
  server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '')
    const isExempt = address === '' || limit.isTrusted(address)
    const network = isExempt ? EXEMPT : networkOf(address)
    const count = open.get(network)?.size ?? 0
    if (!isExempt && count >= limit.most()) return drop(socket, address)
    if (total >= limit.all() && !makeRoom(isExempt ? 0 : count)) return close(socket)
    const sockets = open.get(network) ?? new Set()
    open.set(network, sockets.add(socket))
    total += 1
    socket.once('close', () => forget(network, socket))
  })
  const tell = () => {
    if (dropped > 1)
      limit.log.warn({ times: dropped - 1 }, 'closed further connections from addresses that have reached the limit')
    dropped = 0
  }
  return { tell }
}

/** The connections of trusted proxies and of clients without an address. */
const EXEMPT = ''

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
