/** Unreadable requests: what Node's parser refuses, whom that concerns, and when an answer may be written. */
import { IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { IncmonError } from '../domain/error.ts'
import { plainAddress } from '../domain/forwarded.ts'

/** What Node says of it: `reason` is a fixed sentence of the parser's, `rawPacket` is what came. */
export type Unreadable = Error & {
  readonly code?: string
  readonly reason?: string
  readonly rawPacket?: Buffer
}

/** What becomes of them. */
export type Refusing = {
  /** What the caller is told; null where nobody is left to be told. */
  readonly explain: (unreadable: Unreadable) => IncmonError | null
  /** Logs it, and gives the answer for a caller who is still there. */
  readonly refuse: (unreadable: Unreadable, fault: IncmonError, caller: Caller) => Answer
}

type Caller = { readonly address: string; readonly isThere: boolean }
type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/**
 * The answers under way of each connection, in the order in which its requests came. By connection, since those are few
 * and stay: of one set of all answers, made larger again and again, each table that was left would hold what stood in it,
 * with its request, until the collector looks at everything.
 */
export type Open = ReadonlyMap<Socket, readonly ServerResponse[]>

/** What is known of the requests of all sockets. */
export type Asked = {
  readonly open: Open
  /** The last one of a socket that was answered before all of it had come. */
  readonly early: WeakMap<Socket, IncomingMessage>
}

/** Emitted by a request the rest of which cannot be read, with the `IncmonError` that says why: it can be answered. */
export const BROKEN = 'broken'

/** What asks a proxy; Node would end it without a word. */
const CONNECT: Unreadable = Object.assign(new Error('a request for a tunnel'), { code: 'CONNECT' })

/** A caller who is still sending is listened to for so long, in milliseconds: closed at once, it loses the answer. */
const LINGER = 1_000

/**
 * Whatever is unreadable costs its connection, after the answers to what came before it. What is wrong with the body of
 * a request is that request's own fault, told by its own answer; all else is `refuse`'s.
 */
export function refuseUnreadable(server: Server, { open, early }: Asked, { explain, refuse }: Refusing): void {
  const refused = new WeakSet<Socket>()
  const take = (unreadable: Unreadable, socket: Socket) => {
    // The parser says it again of whatever still comes.
    if (refused.has(socket)) return
    refused.add(socket)
    const fault = explain(unreadable)
    if (!fault || isProbe(unreadable, socket)) return void socket.destroy()
    const last = open.get(socket)?.at(-1)
    const broken = last?.req.complete === false ? last : null
    if (broken) breakOff(broken, fault)
    const end = () => {
      if (!broken && early.get(socket)?.complete !== false) {
        const answer = refuse(unreadable, fault, callerOn(socket))
        if (socket.writable) write(socket, answer)
      }
      letGo(socket)
    }
    if (last) last.once('close', end)
    else end()
  }
  server.on('clientError', (error, socket) => take(error, socket as Socket))
  server.on('connect', ({ socket }) => {
    // Node has taken its own away.
    socket.on('error', () => {})
    take(CONNECT, socket)
  })
}

/** A connection on which nothing was ever said, such as a browser keeps at hand, is no request. */
function isProbe({ code }: Unreadable, { bytesRead }: Socket): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' && bytesRead === 0
}

function breakOff(response: ServerResponse, fault: IncmonError): void {
  if (response.headersSent) return
  response.setHeader('connection', 'close')
  response.req.emit(BROKEN, fault)
}

function callerOn({ remoteAddress = '', writable }: Socket): Caller {
  return { address: plainAddress(remoteAddress), isThere: writable }
}

function write(socket: Socket, { status, headers, body }: Answer): void {
  const response = new ServerResponse(new IncomingMessage(socket))
  response.assignSocket(socket)
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body ?? '') }).end(body)
}

function letGo(socket: Socket): void {
  socket.end()
  const impatience = setTimeout(() => socket.destroy(), LINGER)
  socket.once('close', () => clearTimeout(impatience))
}
