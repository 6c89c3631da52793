/** The HTTP interface: which paths there are, and what every request passes on its way. Read this file first. */
import { type Context, Hono, type Next } from 'hono'
import { etag } from 'hono/etag'
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
import { answerError, problem } from './problem.ts'
import { rejectionRoutes } from './rejections.ts'
import { reportRoutes } from './reports.ts'
import type { Route } from './route.ts'
import { serviceRoutes } from './services.ts'
import { sourceRoutes } from './sources.ts'
import { suspectRoutes } from './suspects.ts'
import { tokenRoutes } from './tokens.ts'
import { nameRoute, watchRequests } from './watch.ts'
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
 * The whole interface: headers, then the route, which asks for the token before it reads anything else.
 * A trailing slash reaches the same route; HEAD is GET without its body; every refusal is a problem (RFC 9457).
 */
export function createApp(deps: Deps, ingest: Ingest, reader: Reader, surroundings: Surroundings): Hono {
  const app = new Hono({ strict: false })
  const parts = { deps, ingest, reader, surroundings, recent: createRecent() }
  app.use(watchRequests(surroundings))
  app.use(setHeaders)
  app.use('/docs', etag())
  for (const { method, path, handle } of ROUTES) {
    const name = `${method} ${path}`
    app.on(method, path, (c) => {
      nameRoute(c, name)
      return handle(c, parts)
    })
  }
  for (const [path, methods] of methodsByPath()) app.all(path, (c) => refuseMethod(c, methods))
  app.notFound((c) => problem(c, 404, 'no such path; GET /docs lists what there is'))
  app.onError((error, c) => answerError(error, c))
  return app
}

/** No answer may be guessed to be something else, framed, or kept by a cache on the way. */
async function setHeaders(c: Context, next: Next): Promise<void> {
  c.header('X-Content-Type-Options', 'nosniff')
  c.header('Cache-Control', 'no-store')
  c.header('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'")
  c.header('Referrer-Policy', 'no-referrer')
  await next()
}

function methodsByPath(): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const { path, method } of ROUTES) methods.set(path, [...(methods.get(path) ?? []), method])
  return methods
}

function refuseMethod(c: Context, methods: readonly string[]): Response {
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
  c.header('Allow', allowed)
  return problem(c, 405, `${c.req.method} is not possible here; use ${allowed}`)
}
