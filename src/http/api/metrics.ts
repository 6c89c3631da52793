/** /metrics: metrics of the process and of the caller's organization, for Prometheus. */
import { organizationText } from '../../server/organization-figures.ts'
import { findFigures } from '../../store/views.ts'
import { text } from '../middleware/reply.ts'
import { type Route, rest } from '../route.ts'

const TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export const metricsRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics for Prometheus',
    scope: 'read',
    answers: { 200: { description: 'Text format 0.0.4', body: null, text: 'text/plain' } },
    handle: async ({ store, server: { metrics, engine }, identity }) => {
      const { sizes, openIncidents, senders, channels } = await store.read(findFigures, identity.organizationId)
      const ofProcess = await metrics.text({ ...sizes, waiting: engine.pending() })
      return text(`${ofProcess}${await organizationText(openIncidents, senders, channels)}`, TYPE)
    },
  }),
]
