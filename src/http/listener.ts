/** The listener: how what Node received reaches the interface, also where no URL can be made of it. */
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import { Hono } from 'hono'
import type { Surroundings } from '../server/surroundings.ts'
import { problem } from './problem.ts'
import { watchRequests } from './watch.ts'

/** Whom a request speaks to that names nobody, as HTTP/1.0 may. */
const UNNAMED = 'localhost'
const NO_URL =
  'the header Host or the path is malformed; send one Host, a name or address, and a path such as /healthz without \\'

export type Listener = (incoming: HttpBindings['incoming'], outgoing: HttpBindings['outgoing']) => void

/** What no URL can be made of is refused as everything else is: with a problem, watched, counted and logged. */
export function createListener(app: Hono, surroundings: Surroundings): Listener {
  const refuse = getRequestListener(createRefusing(surroundings).fetch, { hostname: UNNAMED })
  // The adapter tells of an error without its request, but before it lets go of the one that arrives.
  let arriving: HttpBindings['outgoing'] | null = null
  const errorHandler = (error: unknown) => {
    if (!arriving || !(error instanceof RequestError)) return new Response(null, { status: 500 })
    mend(arriving.req)
    void refuse(arriving.req, arriving)
    return
  }
  const listen = getRequestListener(app.fetch, { hostname: UNNAMED, errorHandler })
  return (incoming, outgoing) => {
    arriving = outgoing
    void listen(incoming, outgoing)
    arriving = null
  }
}

function createRefusing(surroundings: Surroundings): Hono {
  const watch = watchRequests(surroundings)
  return new Hono().notFound(watch('none', () => problem(400, NO_URL)))
}

/** Makes a URL possible, which shows the path as it came: the log names it. */
function mend(incoming: HttpBindings['incoming']): void {
  const path = encodeURI(incoming.url ?? '')
  incoming.url = path.startsWith('/') ? path : `/${path}`
  incoming.headers.host = UNNAMED
}
