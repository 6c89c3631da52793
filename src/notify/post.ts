/** Posts to a URL entered by a user, but never to forbidden networks. */
import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import type { ChannelRequest } from '../domain/notification/format.ts'
import { limitInterim } from '../domain/request/interim.ts'
import type { Resolve } from './resolve.ts'
import { withTimeLimit } from './time-limit.ts'

export type Network = {
  readonly resolve: Resolve
  /** Returns whether the `notify-allow` setting contains the host, or a network that includes the address. */
  readonly isAllowed: (address: string, host: string) => boolean
  /** The time limit in milliseconds, from the DNS lookup to the end of the response. */
  readonly timeoutMs: number
}

type PostResponse = {
  readonly status: number
  /** The text of the response, truncated to `maxBytes`. */
  readonly text: string
  /** The value of `Retry-After` in milliseconds, or 0. */
  readonly retryAfter: number
}

/** A failed attempt. The message is meant for people and contains no secrets. */
export class SendError extends Error {
  override readonly name: string = 'SendError'
}

const MAX_ANSWER = 1_024

/** Thrown before sending if the host has a private address that is not allowed. */
export class PrivateAddress extends SendError {
  override readonly name = 'PrivateAddress'
  constructor(host: string) {
    super(
      `the address is in a private network; to allow messages to it, add ${host} or its network to notify-allow in the server configuration, then send SIGHUP to the server`,
    )
  }
}

/**
 * Posts once and returns the response, whatever its status. Does not follow redirects. Connects to the address that was
 * checked, so changing DNS answers have no effect.
 * @param maxBytes the rest of a longer response is not read; default: 1 kB
 * @throws SendError
 */
export async function post(
  url: URL,
  { body, headers }: ChannelRequest,
  network: Network,
  maxBytes = MAX_ANSWER,
): Promise<PostResponse> {
  const secure = url.protocol === 'https:'
  if (!secure && url.protocol !== 'http:') throw new SendError('the URL must begin with http:// or https://')
  const { username, password, hostname, pathname, search } = url
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  refusePort(port, hostname)
  const addresses = await allowedAddresses(hostname, network)
  const auth = username === '' && password === '' ? {} : { authorization: authorizationOf(username, password) }
  const options = {
    method: 'POST',
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    path: pathname + search,
    headers: { 'user-agent': 'incmon', 'content-length': Buffer.byteLength(body), ...auth, ...headers },
    agent: false,
    lookup: pinnedTo(addresses),
  } as const
  const send = (signal: AbortSignal) =>
    new Promise<PostResponse>((resolve, reject) => {
      const request = (secure ? requestSecure : requestPlain)({ ...options, signal }, (response) => {
        read(response, maxBytes).then(resolve, reject)
      })
      request.on('error', reject)
      limitInterim(request, (what) => new SendError(`the receiver ${what}`))
      request.end(body)
    })
  return withTimeLimit(network.timeoutMs, send).catch((error) => {
    throw error instanceof SendError ? error : new SendError(causeOf(error, network.timeoutMs))
  })
}

/**
 * Returns the addresses of a host.
 * @throws PrivateAddress if an address is private and not allowed
 * @throws SendError if the host has no address
 */
export async function allowedAddresses(host: string, network: Network): Promise<readonly string[]> {
  const plain = host.replace(/^\[|\]$/g, '')
  const addresses = isIP(plain) === 0 ? await resolved(plain, network) : [plain]
  if (addresses.some((address) => isPrivate(address) && !network.isAllowed(address, plain)))
    throw new PrivateAddress(plain)
  return addresses
}

async function resolved(host: string, { resolve, timeoutMs }: Network): Promise<readonly string[]> {
  const addresses = await withTimeLimit(timeoutMs, () => resolve(host)).catch((error) => {
    if (error.name === 'TimeoutError') throw new SendError(`DNS did not respond within ${timeoutMs / 1000} s`)
    return []
  })
  if (addresses.length > 0) return addresses
  throw new SendError('the host name cannot be resolved; check the URL')
}

function pinnedTo(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_, { all: wantsAll }, callback) => {
    const [first] = all
    if (wantsAll) callback(null, all)
    else if (first) callback(null, first.address, first.family)
  }
}

/** Rejects ports below 1024 except 80 and 443, to avoid sending HTTP to services such as SSH and SMTP. */
function refusePort(port: number, hostname: string): void {
  if (port >= 1024 || port === 80 || port === 443) return
  throw new SendError(
    `port ${port} on ${hostname} is reserved for another protocol; use 80, 443 or a port from 1024 up`,
  )
}

/** ntfy accepts a token as the password of a user with an empty name. */
function authorizationOf(username: string, password: string): string {
  const [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
  if (user === '') return `Bearer ${secret}`
  return `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`
}

async function read(response: IncomingMessage, maxBytes: number): Promise<PostResponse> {
  const status = response.statusCode ?? 0
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= maxBytes) break
  }
  response.destroy()
  const text = Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8')
  return { status, text, retryAfter: retryAfterOf(response.headers['retry-after']) }
}

/** Only seconds are supported, because a date would depend on the receiver's clock. */
function retryAfterOf(header: string | undefined): number {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : 0
}

function causeOf(error: unknown, timeoutMs: number): string {
  const { code = '', name = '' } = error as { code?: string; name?: string }
  if (name === 'TimeoutError') return `the receiver did not respond within ${timeoutMs / 1000} s`
  if (/CERT|TLS|SSL|ALTNAME/.test(code)) return `the receiver's certificate is not valid (${code})`
  return `the connection failed${code === '' ? '' : ` (${code})`}`
}

// Private addresses. By default, no message is sent to them, because a channel could otherwise reach the server's own
// network.

const REFUSED_4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
]
/** Includes all IPv6 forms that embed an IPv4 address. */
const REFUSED_6 = [
  ...[
    '::/96',
    '::ffff:0:0/96',
    '::ffff:0:0:0/96',
    '64:ff9b::/96',
    '64:ff9b:1::/48',
    '100::/64',
    '2001::/23',
    '2001:db8::/32',
  ],
  ...['2002::/16', '3fff::/20', '5f00::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
]

// Each address family has its own list. In a mixed list, Node converts IPv4 addresses to IPv6 before comparing them.
const refused4 = listOf(REFUSED_4, 'ipv4')
const refused6 = listOf(REFUSED_6, 'ipv6')

/**
 * Returns whether an address is private, loopback, link-local, multicast, reserved, or that of a cloud metadata
 * service.
 */
export function isPrivate(address: string): boolean {
  const [plain = ''] = address.split('%')
  if (isIP(plain) === 4) return refused4.check(plain, 'ipv4')
  return isIP(plain) !== 6 || refused6.check(plain, 'ipv6')
}

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return list
}
