/** Passes requests from Node to the application, including requests with an invalid URL. */
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import { Hono } from 'hono'
import type { Listener } from '../../server/connection/connections.ts'
import type { ServerContext } from '../../server/context.ts'
import { problem } from './problem.ts'
import { refusalOfUnreadable } from './unreadable.ts'
import { watchRequests } from './watch.ts'

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
