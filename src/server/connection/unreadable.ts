/** Handles requests that Node's HTTP parser rejects: finds the affected request and, if possible, sends a response. */
import { IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { IncmonError } from '../../domain/error.ts'
import { plainAddress } from '../../domain/request/forwarded.ts'

/**
 * The error that Node reports for such a request. `reason` is the parser's message. `rawPacket` contains the received
 * bytes.
 */
export type Unreadable = Error & { readonly code?: string; readonly reason?: string; readonly rawPacket?: Buffer }

/** Handles the errors of unreadable requests. */
export type Refusing = {
  /** Returns the error for the client, or null if the client is gone. */
  readonly explain: (unreadable: Unreadable) => IncmonError | null
  /** Logs the error and returns the response for a client that is still connected. */
  readonly refuse: (unreadable: Unreadable, fault: IncmonError, caller: Caller) => Answer
}

type Caller = { readonly address: string; readonly isThere: boolean }
type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/**
 * Responses in progress by connection, in the order of their requests. A single set for all connections would be copied
 * whenever it grows. The old copies would retain requests until the next full garbage collection.
 */
export type Open = ReadonlyMap<Socket, readonly ServerResponse[]>

/** The known requests on all sockets. */
type OpenRequests = {
  readonly open: Open
  /** The last request on a socket that was answered before its body was complete. */
  readonly early: WeakMap<Socket, IncomingMessage>
}

/** The event emitted by a request whose body cannot be read. */
const BROKEN = 'broken'
/** The errors of unreadable request bodies. An error can occur before the body is read. */
const FAULTS = new WeakMap<IncomingMessage, IncmonError>()

/** Calls `fail` if the request's body cannot be read, now or later. The error becomes the response. */
export function onUnreadableBody(request: IncomingMessage, fail: (fault: IncmonError) => void): void {
  const fault = FAULTS.get(request)
  if (fault) fail(fault)
  else request.on(BROKEN, fail)
}

/** A CONNECT request. Node would close the connection without a response. */
const CONNECT: Unreadable = Object.assign(new Error('a request for a tunnel'), { code: 'CONNECT' })

/**
 * How long to keep reading from a client that is still sending, in milliseconds. If the connection were closed right
 * away, the client would lose the response.
 */
const LINGER = 1_000

/**
 * Closes a connection after an unreadable request, once the earlier requests have been answered. If a request's body is
 * unreadable, the error becomes the response to that request. `refuse` handles all other errors.
 */
export function refuseUnreadable(server: Server, { open, early }: OpenRequests, { explain, refuse }: Refusing): void {
  const refused = new WeakSet<Socket>()
  const take = (unreadable: Unreadable, socket: Socket) => {
    // The parser reports the error again for the bytes that follow.
    if (refused.has(socket)) return
    refused.add(socket)
    const fault = explain(unreadable)
    if (!fault || isProbe(unreadable, socket)) return void socket.destroy()
    const last = open.get(socket)?.at(-1)
    const broken = last?.req.complete === false ? last : null
    if (broken) breakOff(broken, fault)
    const end = () => {
      if (!broken && early.get(socket)?.complete !== false) {
        const address = plainAddress(socket.remoteAddress ?? '')
        const answer = refuse(unreadable, fault, { address, isThere: socket.writable })
        if (socket.writable) write(socket, answer)
      }
      letGo(socket)
    }
    if (last) last.once('close', end)
    else end()
  }
  server.on('clientError', (error, socket) => take(error, socket as Socket))
  server.on('connect', ({ socket }) => {
    // Node has removed its own listener, and an unhandled error event would end the process.
    socket.on('error', () => {})
    take(CONNECT, socket)
  })
}

/** Returns whether the client connected without sending anything. Browsers open unused connections in advance. */
function isProbe({ code }: Unreadable, { bytesRead }: Socket): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' && bytesRead === 0
}

function breakOff(response: ServerResponse, fault: IncmonError): void {
  if (response.headersSent) return
  response.setHeader('connection', 'close')
  FAULTS.set(response.req, fault)
  response.req.emit(BROKEN, fault)
}

function write(socket: Socket, { status, headers, body }: Answer): void {
  const response = new ServerResponse(new IncomingMessage(socket))
  response.assignSocket(socket)
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body ?? '') }).end(body)
}

function letGo(socket: Socket): void {
  socket.end()
  const timer = setTimeout(() => socket.destroy(), LINGER)
  socket.once('close', () => clearTimeout(timer))
}
