/** The HTTP application: its routes and the steps of every request. Start reading here. */
import { type Context, Hono } from 'hono'
import { createStore, type Deps } from './actions/deps.ts'
import { once } from './domain/memoize.ts'
import { BASE } from './http/alertmanager/route.ts'
import { alertmanagerRoutes } from './http/alertmanager/routes.ts'
import { alertRoutes } from './http/api/alerts.ts'
import { channelRoutes } from './http/api/channels/channels.ts'
import { correlationRoutes } from './http/api/correlations.ts'
import { docsRoute } from './http/api/docs.ts'
import { eventRoutes } from './http/api/events.ts'
import { healthRoutes } from './http/api/health.ts'
import { actionItemRoutes } from './http/api/incidents/action-items.ts'
import { incidentRoutes, suspectRoutes } from './http/api/incidents/incidents.ts'
import { postmortemRoutes } from './http/api/incidents/postmortems.ts'
import { openApi, openApiRoute } from './http/api/openapi/openapi.ts'
import { organizationRoutes } from './http/api/organization.ts'
import { reportRoutes } from './http/api/reports.ts'
import { serviceHistoryRoutes } from './http/api/service-history.ts'
import { serviceRoutes } from './http/api/services.ts'
import { silenceRoutes } from './http/api/silences.ts'
import { sourceRoutes } from './http/api/sources.ts'
import { tokenRoutes } from './http/api/tokens.ts'
import { webhookRoutes } from './http/api/webhooks/webhooks.ts'
import { headerOf } from './http/middleware/header.ts'
import { problem } from './http/middleware/problem.ts'
import type { Reply } from './http/middleware/reply.ts'
import { type Watch, watchRequests } from './http/middleware/watch.ts'
import { operatorRoutes } from './http/operator/routes.ts'
import type { Access, HandlerParts, Route } from './http/route.ts'
import { createRecent } from './intake/recent.ts'
import { webhooksText } from './intake/recognize.ts'
import type { ServerContext } from './server/context.ts'
import type { Read } from './store/read.ts'
import { prefersJson } from './web/errors/routes.tsx'
import { missingPage, PAGES } from './web/routes.ts'
import { streamRoutes } from './web/stream.ts'

const DOCUMENTED: readonly Route[] = [
  ...webhookRoutes,
  ...serviceRoutes,
  ...serviceHistoryRoutes,
  ...alertRoutes,
  ...eventRoutes,
  ...incidentRoutes,
  ...actionItemRoutes,
  ...suspectRoutes,
  ...postmortemRoutes,
  ...correlationRoutes,
  ...reportRoutes,
  ...silenceRoutes,
  ...channelRoutes,
  ...sourceRoutes,
  ...organizationRoutes,
  ...tokenRoutes,
  ...healthRoutes,
]

/** Returns the OpenAPI document for all routes, including its own. `build.mjs` stores it in the executable. */
export const document = once(() => openApi(ROUTES))

/** All endpoints. */
export const ROUTES: readonly Route[] = [...DOCUMENTED, openApiRoute(document), docsRoute(document)]

type Routes = readonly { readonly method: string; readonly path: string }[]

/**
 * Creates the application. Each route checks the token before it reads anything else from the request. Trailing slashes
 * are ignored. HEAD is handled like GET, without the body. Every error is a problem document (RFC 9457).
 */
export function createApp(deps: Deps, read: Read, server: ServerContext, access: Access = 'network'): Hono {
  const app = new Hono({ strict: false })
  const { now, engine } = deps
  const store = createStore(deps, read)
  const parts = { access, deps: { now, engine }, store, server, recent: createRecent() }
  // The network application does not contain the operator routes, so no request from the network can reach those
  // routes.
  const served = [...ROUTES, ...alertmanagerRoutes]
  const routes = access === 'network' ? [...served, ...PAGES] : [...served, ...streamRoutes, ...operatorRoutes]
  const watch = watchRequests(server)
  // Each route has a single handler and no middleware, so Hono calls it directly without a chain of promises.
  for (const { method, path, handle } of routes) {
    app.on(
      method,
      path,
      watch(`${method} ${path}`, (c) => handle(c, parts)),
    )
  }
  const refusing = createRefusing(watch, parts, routes)
  app.notFound((c) => refusing.fetch(c.req.raw, c.env))
  return app
}

/** Handles requests that match no route: 405 if the path supports other methods, 404 otherwise. */
function createRefusing(watch: Watch, parts: HandlerParts, routes: Routes): Hono {
  const app = new Hono({ strict: false })
  const refuse = (reply: (c: Context) => Reply) =>
    watch('none', (c) => (isForBrowser(c) ? missingPage.handle(c, parts) : reply(c)))
  for (const [path, same] of Map.groupBy(routes, (route) => route.path)) {
    const methods = same.map(({ method }) => method)
    app.all(
      path,
      refuse((c) => refuseMethod(c.req.method, methods)),
    )
  }
  app.notFound(refuse((c) => problem(404, missingText(c.req.path))))
  return app
}

/** Unknown paths under /api return JSON even to a browser. */
function isForBrowser(c: Context): boolean {
  const accept = headerOf(c, 'accept') ?? ''
  return c.req.method === 'GET' && !c.req.path.startsWith('/api/') && /text\/html/.test(accept) && !prefersJson(accept)
}

function missingText(path: string): string {
  if (/^\/api\/v[12]\//.test(path))
    return `Alertmanager's API is at ${BASE}/api/v2; Prometheus needs the setting path_prefix: ${BASE}`
  if (!path.includes('/webhooks')) return 'this path does not exist; GET /docs lists all paths'
  return `there is no such webhook; send to ${webhooksText()}, or ${BASE}/api/v2/alerts for Prometheus`
}

function refuseMethod(method: string, methods: readonly string[]): Reply {
  const allow = methods.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one])).join(', ')
  const refusal = problem(405, `this path does not support ${method}; use ${allow}`)
  return { ...refusal, headers: { ...refusal.headers, allow } }
}
