/** Keeps Node's HTTP parser from working for clients that must not be served. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { BUDGETS } from '../../domain/budgets.ts'

/** The result with which Node's parser ignores the bytes that follow a request. */
const IGNORE_REST = 2
/** The property of Node's parser with the function that takes a part of a body. */
const ON_BODY = 3

const MAX_SMALL = BUDGETS['small-chunks'].value
/** More chunks must have this size on average. A larger one can arrive in two parts. */
const SMALL_BYTES = 256

/** Node's parser. It is not documented; tests check that this works. Node reuses it for other connections. */
type Parser = {
  socket: Socket | null
  onIncoming?: (request: IncomingMessage, ...more: unknown[]) => number
  [ON_BODY]: ((part: Buffer) => void) | null
}

/**
 * Stops parsing once a connection is closed. Otherwise, Node would parse thousands of requests or chunks that arrived
 * together. Closes a connection whose body consists of many small chunks, because each takes as much time as a kilobyte.
 */
export function guardParser(socket: Socket & { parser?: Parser }, closed: () => void): void {
  const { parser } = socket
  const parse = parser?.onIncoming
  if (!parser || !parse) return
  const take = parser[ON_BODY]
  let [isChunked, chunks, bytes] = [false, 0, 0]
  parser.onIncoming = (request, ...more) => {
    if (socket.destroyed) return IGNORE_REST
    isChunked = 'transfer-encoding' in request.headers
    chunks = 0
    bytes = 0
    return parse(request, ...more)
  }
  parser[ON_BODY] = function (part) {
    if (!isChunked || this.socket !== socket) return take?.call(this, part)
    chunks += 1
    bytes += part.length
    if (chunks <= MAX_SMALL || bytes >= chunks * SMALL_BYTES) return take?.call(this, part)
    // Without this function, the parser skips the chunks that arrived together with this one.
    this[ON_BODY] = null
    socket.destroy()
    closed()
  }
  socket.once('close', () => {
    parser[ON_BODY] = take
  })
}
