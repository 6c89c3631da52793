/** The listener: how what Node received reaches the interface, also where no URL can be made of it. */
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import { Hono } from 'hono'
import type { Listener } from '../../server/connections.ts'
import type { Surroundings } from '../../server/surroundings.ts'
import { problem } from './problem.ts'
import { refusalOfUnreadable } from './unreadable.ts'
import { watchRequests } from './watch.ts'

/** Whom a request speaks to that names nobody, as HTTP/1.0 may. */
const UNNAMED = 'localhost'
const NO_URL =
  'the header Host or the path is malformed; send one Host, a name or address, and a path such as /healthz without \\'
const NO_HOST = 'the header Host is missing, without which HTTP/1.1 is no request; send one, such as Host: localhost'

/** What no URL can be made of is refused as everything else is: with a problem, watched, counted and logged. */
export function createListener(app: Hono, surroundings: Surroundings): Listener {
  const refuse = createRefusing(surroundings, NO_URL)
  const refuseHostless = createRefusing(surroundings, NO_HOST)
  // The adapter tells of an error without its request, but before it lets go of the one that arrives.
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
    arriving = outgoing
    void answer(incoming, outgoing)
    arriving = null
  }
  return { listen, ...refusalOfUnreadable(surroundings) }
}

function createRefusing(surroundings: Surroundings, detail: string): (outgoing: HttpBindings['outgoing']) => void {
  const watch = watchRequests(surroundings)
  const app = new Hono().notFound(watch('none', () => problem(400, detail)))
  const answer = getRequestListener(app.fetch, { hostname: UNNAMED })
  return (outgoing) => {
    mend(outgoing.req)
    void answer(outgoing.req, outgoing)
  }
}

/** Makes a URL possible, which shows the path as it came: the log names it. */
function mend(incoming: HttpBindings['incoming']): void {
  const path = encodeURI(incoming.url ?? '')
  incoming.url = path.startsWith('/') ? path : `/${path}`
  incoming.headers.host = UNNAMED
}
