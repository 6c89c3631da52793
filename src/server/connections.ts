/** Connections from the first to the last: how they are limited, and how all of them are let go. */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Socket } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { Tls } from './tls.ts'
import { type Open, type Refusing, refuseUnreadable } from './unreadable.ts'

/** Senders keep connections for a minute and more; slow ones must not hold one for ever. Times in milliseconds. */
export const LIMITS = {
  keepAliveTimeout: 75_000,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
  // Else Node keeps the first of two tokens and drops the other.
  joinDuplicateHeaders: true,
  // Else Node refuses it by itself: without a word, and without a line in the log.
  requireHostHeader: false,
} as const
/** An answer that its caller has not taken at two looks in a row, so far apart, is given up: it holds memory. */
const LOOK_FOR_UNTAKEN = 30_000
/** How long answers under way may take after the last connection was taken. */
const DRAIN_WITHIN = 7_000
const LOOK_EVERY = 50

/** How long whoever was just answered may take to call again, and how long is waited at most for a pause of callers. */
const SETTLE = 100
const QUIET_WITHIN = 1_000
const QUIET_TURNS = 3

/** What becomes of requests, and of what is none. */
export type Listener = Refusing & { readonly listen: RequestListener }

export type Connections = {
  readonly server: Server
  /**
   * Lets in all who stand at the door, closes it, ends streams, and resolves once every answer under way is sent, or
   * after 7 seconds. Answers must be held back until `closed` is called: whoever gets one calls again.
   */
  readonly drain: (closed: () => void) => Promise<void>
}

/**
 * A server that does not listen yet; it speaks HTTPS where there is a certificate.
 * @param lookEvery how often answers that nobody takes are looked for, in milliseconds
 */
export function createConnections(
  { listen, ...refusing }: Listener,
  tls: Tls | null,
  lookEvery = LOOK_FOR_UNTAKEN,
): Connections {
  const open = new Map<Socket, ServerResponse[]>()
  const sockets = new Set<Socket>()
  const early = new WeakMap<Socket, IncomingMessage>()
  const take: RequestListener = (request, response) => {
    answersOn(request.socket).push(response)
    response.on('close', forget)
    return listen(request, response)
  }
  const answersOn = (socket: Socket) => {
    const known = open.get(socket)
    if (known) return known
    const answers: ServerResponse[] = []
    open.set(socket, answers)
    socket.once('close', () => open.delete(socket))
    return answers
  }
  function forget(this: ServerResponse): void {
    const { socket, complete } = this.req
    const answers = open.get(socket) ?? []
    answers.splice(answers.indexOf(this), 1)
    if (!complete) early.set(socket, this.req)
  }
  const server = tls
    ? createSecureServer({ ...LIMITS, ...tls, handshakeTimeout: LIMITS.headersTimeout }, take)
    : createServer(LIMITS, take)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // What a caller expects that we do not know binds nobody (RFC 9110, 10.1.1); Node would refuse it by itself.
  server.on('checkExpectation', take)
  refuseUnreadable(server, { open, early }, refusing)
  giveUpUntaken(server, open, lookEvery)
  return { server, drain: (closed) => drain(server, { open, sockets }, closed) }
}

/** From the first connection to the close. Whoever takes a little now and then is given up as well, as slow senders are. */
function giveUpUntaken(server: Server, open: Open, every: number): void {
  let before = new Set<ServerResponse>()
  const look = () => {
    const untaken = new Set(allOf(open).filter(({ socket }) => (socket?.writableLength ?? 0) > 0))
    for (const response of untaken) if (before.has(response)) response.destroy()
    before = untaken
  }
  server.once('listening', () => {
    const timer = setInterval(look, every).unref()
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
    // A connection that is busy now is idle in a moment, and would be kept for the next request.
    server.closeIdleConnections()
    for (const response of allOf(open)) if (isStream(response)) response.end()
  }, LOOK_EVERY)
  // Node itself knows none that has not spoken TLS to its end yet.
  const giveUp = () => {
    for (const socket of sockets) socket.destroy()
  }
  const impatience = setTimeout(giveUp, DRAIN_WITHIN)
  await drained
  clearTimeout(impatience)
  clearInterval(look)
}

/** The system takes connections before we do, and cuts off those that are still with it when the door closes. */
async function untilQuiet(server: Server): Promise<void> {
  let quiet = 0
  const heard = () => {
    quiet = -1
  }
  server.on('connection', heard)
  const until = performance.now() + QUIET_WITHIN
  // Node takes one connection a turn: after some turns without any there was none left.
  for (; quiet < QUIET_TURNS && performance.now() < until; quiet += 1) await turn()
  server.off('connection', heard)
}

function allOf(open: Open): ServerResponse[] {
  return [...open.values()].flat()
}

/** An answer is written in one go; one that has begun and is still open goes on until somebody ends it. */
function isStream(response: ServerResponse): boolean {
  return response.headersSent && !response.writableEnded
}
