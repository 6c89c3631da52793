/** /metrics: metrics of the process and of the caller's organization, for Prometheus. */
import { organizationText } from '../../server/organization-figures.ts'
import { listChannels } from '../../store/channels.ts'
import { findOpenIncidentCounts } from '../../store/incidents.ts'
import { listSenders } from '../../store/senders.ts'
import { findSizes } from '../../store/sqlite/sizes.ts'
import { text } from '../middleware/reply.ts'
import { type Route, rest } from '../route.ts'

const TYPE = 'text/plain; version=0.0.4; charset=utf-8'
/** Senders choose their names, and each name adds four metrics. Only the most recent senders are included. */
const CHANNELS = { page: 1, limit: 100 }
const SENDERS = { page: 1, limit: 500 }

export const metricsRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics for Prometheus',
    scope: 'read',
    answers: { 200: { description: 'Text format 0.0.4', body: null, text: 'text/plain' } },
    handle: async ({ deps: { db }, surroundings: { metrics, engine }, identity: { organizationId } }) => {
      const ofProcess = await metrics.text({ ...findSizes(db), waiting: engine.pending() })
      const { items } = listSenders(db, organizationId, SENDERS)
      const own = await organizationText(
        findOpenIncidentCounts(db, organizationId),
        items,
        listChannels(db, organizationId, CHANNELS).items,
      )
      return text(`${ofProcess}${own}`, TYPE)
    },
  }),
]
