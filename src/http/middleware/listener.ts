/** Passes requests from Node to the application, and refuses requests that Node cannot parse or whose URL is invalid. */

import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import { Hono } from 'hono'
import { IncmonError } from '../../domain/error.ts'
import { SECOND } from '../../domain/units.ts'
import { LIMITS, type Listener } from '../../server/connection/connections.ts'
import type { Refusing, Unreadable } from '../../server/connection/unreadable.ts'
import type { ServerContext } from '../../server/context.ts'
import { problem, problemOf } from './problem.ts'
import { COMMON_HEADERS, watchRequests } from './watch.ts'

/** The host used if a request has no Host header, which HTTP/1.0 allows. */
const UNNAMED = 'localhost'
const NO_URL =
  'the Host header or the path is malformed; send one Host header with a name or address, and a path such as /healthz without \\'
const NO_HOST = 'the Host header is missing, which HTTP/1.1 requires; send one, for example Host: localhost'

const DOTS =
  'the path contains a . or .. segment (or %2e); send the normalized path, because a proxy may have checked a different path'

/**
 * Returns whether a path has a `.` or `..` segment in any encoding. The URL parser would resolve such segments, so a
 * request for `/docs/../api` could get past a proxy that allows only `/docs`.
 */
export function hasDotSegment(url: string): boolean {
  if (!/\.|%2e/i.test(url)) return false
  const [path = ''] = url.split(/[?#]/, 1)
  return /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?=[/\\]|%2f|%5c|;|$)/i.test(path)
}

/**
 * Creates the listener. A request with an invalid URL gets a problem response, and is counted and logged like any other
 * request.
 */
export function createListener(app: Hono, server: ServerContext): Listener {
  const refuse = createRefusing(server, NO_URL)
  const refuseHostless = createRefusing(server, NO_HOST)
  const refuseDots = createRefusing(server, DOTS)
  // The adapter does not say which request an error belongs to, but it reports each error before the next request.
  let arriving: HttpBindings['outgoing'] | null = null
  const errorHandler = (error: unknown) => {
    if (!arriving || !(error instanceof RequestError)) return new Response(null, { status: 500 })
    refuse(arriving)
    return
  }
  const answer = getRequestListener(app.fetch, { hostname: UNNAMED, errorHandler })
  const listen: Listener['listen'] = (incoming, outgoing) => {
    if (incoming.headers.host === undefined && incoming.httpVersion === '1.1') {
      outgoing.setHeader('connection', 'close')
      return refuseHostless(outgoing)
    }
    if (hasDotSegment(incoming.url ?? '')) return refuseDots(outgoing)
    arriving = outgoing
    void answer(incoming, outgoing)
    arriving = null
  }
  return { listen, ...refusalOfUnreadable(server) }
}

function createRefusing(server: ServerContext, detail: string): (outgoing: HttpBindings['outgoing']) => void {
  const watch = watchRequests(server)
  const app = new Hono().notFound(watch('none', () => problem(400, detail)))
  const answer = getRequestListener(app.fetch, { hostname: UNNAMED })
  return (outgoing) => {
    mend(outgoing.req)
    void answer(outgoing.req, outgoing)
  }
}

/** Replaces an invalid URL with a valid one that contains the original path, because the path is logged. */
function mend(incoming: HttpBindings['incoming']): void {
  const path = encodeURI(incoming.url ?? '')
  incoming.url = path.startsWith('/') ? path : `/${path}`
  incoming.headers.host = UNNAMED
}

const KIBIBYTE = 1_024
/** The first byte of a TLS connection. */
const TLS_HANDSHAKE = 0x16

const { headersTimeout, requestTimeout, maxHeaderSize } = LIMITS
const HEAD = `${maxHeaderSize / KIBIBYTE} KiB`

const invalid = (message: string) => new IncmonError('invalid', message)

const TLS_MISSING = invalid(
  'this port does not support TLS; use http://, or start the server with --tls-cert and --tls-key',
)

/**
 * Maps Node's error codes to errors. Any other code that is not from the parser means that the connection was closed.
 */
const FAULTS: Readonly<Record<string, IncmonError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new IncmonError(
    'too-slow',
    `the request did not arrive within ${requestTimeout / SECOND} seconds, or its headers within ${headersTimeout / SECOND}; send it again`,
  ),
  HPE_HEADER_OVERFLOW: new IncmonError(
    'head-too-large',
    `the headers are larger than ${HEAD}; send fewer or shorter headers`,
  ),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new IncmonError(
    'too-large',
    `the chunk extensions are larger than ${HEAD}; omit them`,
  ),
  HPE_INVALID_EOF_STATE: invalid('the connection ended before the request was complete; send it again'),
  HPE_PAUSED_H2_UPGRADE: invalid('this port does not support HTTP/2; use HTTP/1.1'),
  ERR_SSL_HTTP_REQUEST: invalid('this port requires TLS; use https://'),
  CONNECT: invalid('incmon is not a proxy; request a path, for example GET /healthz'),
}

function refusalOfUnreadable({ metrics, refusals, newRequestId }: ServerContext): Refusing {
  const count = metrics.requestsOf('none')
  return {
    explain,
    refuse: ({ code: cause }, fault, { address: client, isThere }) => {
      const { status, headers, body, detail = null } = problemOf(fault)
      const requestId = newRequestId()
      refusals.add({ status, route: 'none', client, requestId, detail, cause })
      if (isThere) count(status, 0)
      return {
        status,
        headers: { ...COMMON_HEADERS, 'x-request-id': requestId, connection: 'close', ...headers },
        body,
      }
    },
  }
}

function explain({ code = '', reason = '', rawPacket }: Unreadable): IncmonError | null {
  if (code === 'HPE_INVALID_METHOD' && rawPacket?.[0] === TLS_HANDSHAKE) return TLS_MISSING
  const known = FAULTS[code]
  if (known) return known
  if (code.startsWith('HPE_')) return invalid(`not a valid HTTP/1.1 request (${reason}); see RFC 9112`)
  if (code.startsWith('ERR_SSL_'))
    return invalid(`the TLS connection failed (${reason}); check that the client trusts the certificate`)
  return null
}
