/** Manages connections: limits, timeouts and graceful shutdown. */

import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Socket } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { BUDGETS } from '../../domain/budgets.ts'
import { TURNS } from '../../domain/request/turns.ts'
import { peerOf } from './addresses.ts'
import { guardParser } from './parser.ts'
import { freeBytes } from './pending-bodies.ts'
import { spreadStarts } from './starts.ts'
import type { Tls } from './tls.ts'
import { type Open, type Refusing, refuseUnreadable } from './unreadable.ts'

/**
 * Timeouts in milliseconds. Senders keep connections open for more than a minute, but slow requests must be cut off.
 */
export const LIMITS = {
  keepAliveTimeout: 75_000,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
  // Without this option, Node keeps the first of two Authorization headers and drops the second.
  joinDuplicateHeaders: true,
  // Without this option, Node rejects requests that have no Host header, and neither explains nor logs the rejection.
  requireHostHeader: false,
} as const
/** How often the unread bytes of all connections are added up, in milliseconds. */
const ADD_UP_EVERY = 250
/** How long in-flight responses can take after the last connection was accepted, in milliseconds. */
const DRAIN_WITHIN = 7_000
const LOOK_EVERY = 50

/** How long to wait for a client's next request after a response, in milliseconds. */
const SETTLE = 100
const QUIET_WITHIN = 1_000
const QUIET_TURNS = 3

type ConnectionLimits = {
  /** The number of requests that a client can send on one connection before it gets the first response. */
  readonly openResponses: number
  /** The number of unread bytes on one connection above which another request closes it. */
  readonly unsentBytes: number
  /** The number of unread bytes on all connections together. */
  readonly allUnsentBytes: number
  /** How long a client can read nothing while bytes are waiting for it, in milliseconds. */
  readonly unreadMs: number
  /** Called for each connection that one of the limits closes. */
  readonly closed: () => void
}

const CONNECTION_LIMITS: ConnectionLimits = {
  openResponses: BUDGETS['open-responses'].value,
  unsentBytes: BUDGETS['unsent-bytes'].value,
  allUnsentBytes: BUDGETS['all-unsent-bytes'].value,
  unreadMs: BUDGETS['unread-time'].value,
  closed: () => {},
}

/** Handles requests, and connections without a valid request. */
export type Listener = Refusing & { readonly listen: RequestListener }

type Connections = {
  readonly server: Server
  /** Returns the connections with a complete request whose response is not complete. */
  readonly answered: () => ReadonlySet<string>
  /**
   * Accepts all pending connections, stops listening, and ends streams. Resolves after the last response, or after 7
   * seconds. Responses must be delayed until `closed` is called, because a client that gets a response would send its
   * next request.
   */
  readonly drain: (closed: () => void) => Promise<void>
}

/** Returns a server that is not listening yet. The server uses HTTPS if there is a certificate. */
export function createConnections(
  { listen, ...refusing }: Listener,
  tls: Tls | null,
  limits: ConnectionLimits = CONNECTION_LIMITS,
): Connections {
  const open = new Map<Socket, ServerResponse[]>()
  const sockets = new Set<Socket>()
  const early = new WeakMap<Socket, IncomingMessage>()
  const start = spreadStarts(listen)
  const take: RequestListener = (request, response) => {
    const { socket } = request
    const answers = answersOn(socket)
    if (answers.length >= limits.openResponses || unsentOf(answers) > limits.unsentBytes) {
      socket.destroy()
      return limits.closed()
    }
    answers.push(response)
    response.on('close', forget).on('prefinish', discardRest)
    // Pipelined requests are processed one after another.
    if (answers.length === 1) start(request, response)
  }
  const answersOn = (socket: Socket) => {
    const known = open.get(socket)
    if (known) return known
    const answers: ServerResponse[] = []
    open.set(socket, answers)
    socket.once('close', () => {
      open.delete(socket)
      // Node does not close responses that wait for an earlier response of the same connection.
      for (const response of [...answers]) if (!response.socket) response.destroy().emit('close')
    })
    return answers
  }
  function forget(this: ServerResponse): void {
    const { socket, complete } = this.req
    const answers = open.get(socket) ?? []
    const position = answers.indexOf(this)
    answers.splice(position, 1)
    const [next] = answers
    if (position === 0 && next && !socket.destroyed) start(next.req, next)
    if (!complete) early.set(socket, this.req)
  }
  const server = tls
    ? createSecureServer({ ...LIMITS, ...tls, handshakeTimeout: LIMITS.headersTimeout }, take)
    : createServer(LIMITS, take)
  server.on(tls ? 'secureConnection' : 'connection', (socket) => guardParser(socket, limits.closed))
  server.on('connection', (socket: Socket) => {
    TURNS.accepted()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // Unknown Expect headers are ignored (RFC 9110, section 10.1.1). Node would reject the request.
  server.on('checkExpectation', take)
  refuseUnreadable(server, { open, early }, refusing)
  closeUnread(server, open, limits)
  const answered = () =>
    new Set(
      [...open].filter(([, answers]) => answers.some(({ req }) => req.complete)).map(([socket]) => peerOf(socket)),
    )
  return { server, answered, drain: (closed) => drain(server, { open, sockets }, closed) }
}

/** Frees the rest of a body that is not read. Otherwise Node leaves it to V8, which collects it late. */
function discardRest(this: ServerResponse): void {
  const { complete, headers } = this.req
  if (complete || !('content-length' in headers || 'transfer-encoding' in headers)) return
  this.req.on('data', freeBytes).read(0)
}

/** Returns the number of bytes that the client of these responses has not read yet. */
function unsentOf(answers: readonly ServerResponse[]): number {
  return answers.reduce((sum, { writableLength }) => sum + writableLength, 0)
}

/**
 * Closes a connection if its client reads nothing for a while. If all clients together leave too many bytes unread,
 * closes the connections that have had unread bytes for the longest time.
 */
function closeUnread(server: Server, open: Open, limits: ConnectionLimits): void {
  server.timeout = limits.unreadMs
  server.on('timeout', (socket) => {
    const answers = open.get(socket) ?? []
    // A response that has nothing to send yet can take longer.
    if (answers.length === 0 || unsentOf(answers) > 0) socket.destroy()
  })
  let unread = new Map<Socket, number>()
  const addUp = () => {
    const sizes = [...open]
      .map(([socket, answers]) => [socket, unsentOf(answers)] as const)
      .filter(([, size]) => size > 0)
    // The order is kept, so the first connection has had unread bytes for the longest time.
    const now = new Map(sizes)
    const kept = [...unread.keys()].filter((socket) => now.has(socket))
    unread = new Map([...kept, ...now.keys()].map((socket) => [socket, now.get(socket) ?? 0]))
    let total = unread.values().reduce((sum, size) => sum + size, 0)
    for (const [socket, size] of unread) {
      if (total <= limits.allUnsentBytes) break
      total -= size
      socket.destroy()
      limits.closed()
    }
  }
  server.once('listening', () => {
    const timer = setInterval(addUp, ADD_UP_EVERY).unref()
    server.once('close', () => clearInterval(timer))
  })
}

async function drain(
  server: Server,
  { open, sockets }: { readonly open: Open; readonly sockets: ReadonlySet<Socket> },
  closed: () => void,
): Promise<void> {
  await pause(SETTLE)
  await untilQuiet(server)
  const drained = new Promise((resolve) => server.close(resolve))
  closed()
  const look = setInterval(() => {
    // A connection that is busy now is closed by a later call.
    server.closeIdleConnections()
    for (const response of [...open.values()].flat()) if (isStream(response)) response.end()
  }, LOOK_EVERY)
  // Node does not list connections whose TLS handshake is incomplete.
  const giveUp = () => {
    for (const socket of sockets) socket.destroy()
  }
  const timer = setTimeout(giveUp, DRAIN_WITHIN)
  await drained
  clearTimeout(timer)
  clearInterval(look)
}

/**
 * Waits for connections that the operating system has accepted but Node has not. Closing the port would reset these
 * connections.
 */
async function untilQuiet(server: Server): Promise<void> {
  let quiet = 0
  const onConnection = () => {
    quiet = -1
  }
  server.on('connection', onConnection)
  const until = performance.now() + QUIET_WITHIN
  // Node accepts one connection per turn of the event loop. After a few idle turns, no connection is pending.
  for (; quiet < QUIET_TURNS && performance.now() < until; quiet += 1) await turn()
  server.off('connection', onConnection)
}

/** Returns whether a response is a stream. Other responses are written immediately and never stay open. */
function isStream(response: ServerResponse): boolean {
  return response.headersSent && !response.writableEnded
}

const RESERVED = BUDGETS['kept-descriptors'].value

/** Returns the open file limit of this process (`ulimit -n`), or null if unknown. */
export function descriptorLimit(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? null : Number(soft)
  } catch {
    return null
  }
}

/** Returns how many connections are possible with this descriptor limit, at most `wanted`. */
export function fittingConnections(wanted: number, limit: number | null): number {
  if (limit === null) return wanted
  return Math.min(wanted, Math.max(limit - RESERVED, Math.floor(limit / 4), 1))
}
