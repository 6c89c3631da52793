/** The HTTP interface: which paths there are, and what every request passes on its way. Read this file first. */
import { Hono } from 'hono'
import { createRecent } from '../intake/recent.ts'
import type { Deps } from '../operations/deps.ts'
import type { Ingest } from '../operations/ingest.ts'
import type { Surroundings } from '../server/surroundings.ts'
import type { OpenApiDocument } from '../ui/openapi-document.ts'
import type { Reader } from '../workers/reader.ts'
import { alertRoutes } from './alerts.ts'
import { correlationRoutes } from './correlations.ts'
import { docsRoute } from './docs.ts'
import { eventRoutes } from './events.ts'
import { healthRoutes } from './health.ts'
import { incidentRoutes } from './incidents.ts'
import { metricsRoutes } from './metrics.ts'
import { openApi, openApiRoute } from './openapi.ts'
import { organizationRoutes } from './organization.ts'
import { postmortemRoutes } from './postmortems.ts'
import { problem } from './problem.ts'
import { rejectionRoutes } from './rejections.ts'
import type { Reply } from './reply.ts'
import { reportRoutes } from './reports.ts'
import type { Route } from './route.ts'
import { serviceRoutes } from './services.ts'
import { sourceRoutes } from './sources.ts'
import { suspectRoutes } from './suspects.ts'
import { tokenRoutes } from './tokens.ts'
import { type Watch, watchRequests } from './watch.ts'
import { webhookRoutes } from './webhooks.ts'

const DOCUMENTED: readonly Route[] = [
  ...webhookRoutes,
  ...serviceRoutes,
  ...alertRoutes,
  ...eventRoutes,
  ...incidentRoutes,
  ...suspectRoutes,
  ...postmortemRoutes,
  ...correlationRoutes,
  ...reportRoutes,
  ...sourceRoutes,
  ...rejectionRoutes,
  ...organizationRoutes,
  ...tokenRoutes,
  ...healthRoutes,
  ...metricsRoutes,
]

/** Every endpoint of the interface. */
export const ROUTES: readonly Route[] = [...DOCUMENTED, openApiRoute(document), docsRoute(document)]

let made: OpenApiDocument | undefined
/** The document of all routes, its own among them. */
function document(): OpenApiDocument {
  made ??= openApi(ROUTES)
  return made
}

/**
 * The whole interface: each route, watched, asks for the token before it reads anything else.
 * A trailing slash reaches the same route; HEAD is GET without its body; every refusal is a problem (RFC 9457).
 */
export function createApp(deps: Deps, ingest: Ingest, reader: Reader, surroundings: Surroundings): Hono {
  const app = new Hono({ strict: false })
  const parts = { deps, ingest, reader, surroundings, recent: createRecent() }
  const watch = watchRequests(surroundings)
  // One handler for a request and nothing around it: Hono then calls it directly, without its chain of promises.
  for (const { method, path, handle } of ROUTES) {
    app.on(
      method,
      path,
      watch(`${method} ${path}`, (c) => handle(c, parts)),
    )
  }
  const refusing = createRefusing(watch)
  app.notFound((c) => refusing.fetch(c.req.raw, c.env))
  return app
}

/** What no route takes: a path that knows other methods, or none that there is. */
function createRefusing(watch: Watch): Hono {
  const app = new Hono({ strict: false })
  for (const [path, methods] of methodsByPath()) {
    app.all(
      path,
      watch('none', (c) => refuseMethod(c.req.method, methods)),
    )
  }
  app.notFound(watch('none', () => problem(404, 'no such path; GET /docs lists what there is')))
  return app
}

function methodsByPath(): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const { path, method } of ROUTES) methods.set(path, [...(methods.get(path) ?? []), method])
  return methods
}

function refuseMethod(method: string, methods: readonly string[]): Reply {
  const allow = methods.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])).join(', ')
  const refusal = problem(405, `${method} is not possible here; use ${allow}`)
  return { ...refusal, headers: { ...refusal.headers, allow } }
}
