/** The HTTP application: its routes and what every request passes. Read this file first. */
import { type Context, Hono } from 'hono'
import { createRecent } from '../intake/recent.ts'
import type { Deps } from '../operations/deps.ts'
import type { Ingest } from '../operations/ingest.ts'
import type { Surroundings } from '../server/surroundings.ts'
import type { Reader } from '../workers/reader.ts'
import { alertRoutes } from './api/alerts.ts'
import { correlationRoutes } from './api/correlations.ts'
import { docsRoute } from './api/docs.ts'
import { eventRoutes } from './api/events.ts'
import { healthRoutes } from './api/health.ts'
import { incidentRoutes } from './api/incidents.ts'
import { metricsRoutes } from './api/metrics.ts'
import { openApi, openApiRoute } from './api/openapi.ts'
import { organizationRoutes } from './api/organization.ts'
import { postmortemRoutes } from './api/postmortems.ts'
import { rejectionRoutes } from './api/rejections.ts'
import { reportRoutes } from './api/reports.ts'
import { serviceHistoryRoutes } from './api/service-history.ts'
import { serviceRoutes } from './api/services.ts'
import { silenceRoutes } from './api/silences.ts'
import { sourceRoutes } from './api/sources.ts'
import { suspectRoutes } from './api/suspects.ts'
import { tokenRoutes } from './api/tokens.ts'
import { webhookRoutes } from './api/webhooks.ts'
import { headerOf } from './middleware/header.ts'
import { problem } from './middleware/problem.ts'
import type { Reply } from './middleware/reply.ts'
import { type Watch, watchRequests } from './middleware/watch.ts'
import type { OpenApiDocument } from './pages/docs/openapi-document.ts'
import type { Parts, Route } from './route.ts'
import { prefersJson } from './web/errors.tsx'
import { missingPage, PAGES } from './web/routes.ts'

const DOCUMENTED: readonly Route[] = [
  ...webhookRoutes,
  ...serviceRoutes,
  ...serviceHistoryRoutes,
  ...alertRoutes,
  ...eventRoutes,
  ...incidentRoutes,
  ...suspectRoutes,
  ...postmortemRoutes,
  ...correlationRoutes,
  ...reportRoutes,
  ...silenceRoutes,
  ...sourceRoutes,
  ...rejectionRoutes,
  ...organizationRoutes,
  ...tokenRoutes,
  ...healthRoutes,
  ...metricsRoutes,
]

/** All endpoints. */
export const ROUTES: readonly Route[] = [...DOCUMENTED, openApiRoute(document), docsRoute(document)]

let made: OpenApiDocument | undefined
/** Returns the OpenAPI document of all routes. It includes its own route. */
function document(): OpenApiDocument {
  made ??= openApi(ROUTES)
  return made
}

/**
 * Creates the application. Each route checks the token before it reads anything else of the request.
 * A trailing slash reaches the same route. HEAD is GET without the body. Every error is a problem (RFC 9457).
 */
export function createApp(deps: Deps, ingest: Ingest, reader: Reader, surroundings: Surroundings): Hono {
  const app = new Hono({ strict: false })
  const parts = { deps, ingest, reader, surroundings, recent: createRecent() }
  const watch = watchRequests(surroundings)
  // One handler per request and no middleware: Hono then calls it directly, without a chain of promises.
  for (const { method, path, handle } of [...ROUTES, ...PAGES]) {
    app.on(
      method,
      path,
      watch(`${method} ${path}`, (c) => handle(c, parts)),
    )
  }
  const refusing = createRefusing(watch, parts)
  app.notFound((c) => refusing.fetch(c.req.raw, c.env))
  return app
}

/** Answers requests that no route accepts: 405 if the path supports other methods, else 404. */
function createRefusing(watch: Watch, parts: Parts): Hono {
  const app = new Hono({ strict: false })
  for (const [path, methods] of methodsByPath()) {
    app.all(
      path,
      watch('none', (c) => refuseMethod(c.req.method, methods)),
    )
  }
  app.notFound(
    watch('none', (c) => {
      if (isForBrowser(c)) return missingPage.handle(c, parts)
      return problem(404, 'no such path; GET /docs lists all paths')
    }),
  )
  return app
}

/** A browser gets a page, except below /api, where it sends what a program would. */
function isForBrowser(c: Context): boolean {
  const accept = headerOf(c, 'accept') ?? ''
  return c.req.method === 'GET' && !c.req.path.startsWith('/api/') && /text\/html/.test(accept) && !prefersJson(accept)
}

function methodsByPath(): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const { path, method } of [...ROUTES, ...PAGES]) methods.set(path, [...(methods.get(path) ?? []), method])
  return methods
}

function refuseMethod(method: string, methods: readonly string[]): Reply {
  const allow = methods.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])).join(', ')
  const refusal = problem(405, `this path does not support ${method}; use ${allow}`)
  return { ...refusal, headers: { ...refusal.headers, allow } }
}
