/** /: all services, worst first. */

import { headlineOf } from '../../domain/health/headline.ts'
import type { Health } from '../../domain/health/health.ts'
import { listServices, type ServiceRecord } from '../../store/services.ts'
import { headerOf } from '../middleware/header.ts'
import { json, type Reply } from '../middleware/reply.ts'
import { ServiceListPage } from '../pages/service-list.tsx'
import { prefersJson } from './errors.tsx'
import { oneOf } from './one-of.ts'
import { type PageRoute, page, type Visit } from './page.ts'
import { show } from './reply.ts'

const REFRESH_SECONDS = 30
const STATUSES = ['critical', 'degraded', 'healthy'] as const
const FILTERS = [...STATUSES, 'all'] as const

/** The way to the API for a client that asks the root for JSON. */
const INDEX = { name: 'incmon', docs: '/docs', openapi: '/openapi.json', health: '/healthz' }

const overview = page({ method: 'GET', path: '/', scope: 'read', handle: showServices })

export const serviceRoutes: readonly PageRoute[] = [
  {
    ...overview,
    handle: async (c, parts) =>
      prefersJson(headerOf(c, 'accept'))
        ? json({ ...INDEX, version: parts.surroundings.web.version })
        : overview.handle(c, parts),
  },
]

function showServices(visit: Visit): Promise<Reply> {
  const { deps, visitor, now, query } = visit
  const all = worstFirst(listServices(deps.db, visitor.organizationId, now, false))
  const of = (status: Health['status']) => all.filter((one) => one.status === status)
  const counts = {
    critical: of('critical').length,
    degraded: of('degraded').length,
    healthy: of('healthy').length,
    unknown: 0,
  }
  const names = (status: Health['status']) => of(status).map(({ name }) => name)
  const headline = headlineOf({ counts, critical: names('critical'), degraded: names('degraded') })
  const status = oneOf(query('status'), FILTERS, 'all')
  const shown = all.filter((one) => (status === 'all' || one.status === status) && matches(one, query('q')))
  const content = <ServiceListPage {...{ headline, counts, status, q: query('q'), services: shown }} />
  const title = headline.state === 'healthy' ? headline.lead : `(${counts.critical + counts.degraded}) ${headline.lead}`
  return show(visit, { title: title.replace(/\.$/, ''), content, current: 'services', refreshSeconds: REFRESH_SECONDS })
}

function worstFirst(services: readonly ServiceRecord[]): ServiceRecord[] {
  return services.toSorted((a, b) => STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status) || a.score - b.score)
}

function matches({ namespace, name }: ServiceRecord, q: string): boolean {
  return `${namespace}/${name}`.toLowerCase().includes(q.toLowerCase())
}
