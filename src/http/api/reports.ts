/** /api/reports: figures over a period, each with its definition. */
import * as v from 'valibot'
import { IncmonError } from '../../domain/error.ts'
import type { Figures, Spread } from '../../domain/report/report.ts'
import { timeParameters } from '../middleware/query.ts'
import { json } from '../middleware/reply.ts'
import { type Route, rest } from '../route.ts'
import {
  bySeverityShape,
  countShape,
  described,
  instantShape,
  refusals,
  shownInstant,
  success,
  uuidShape,
} from './shapes.ts'

const LAST_DAYS = 30 * 86_400_000
/** A report reads all its incidents at once. */
const MOST_INCIDENTS = 5_000

/** Statistics over the `of` incidents that have this figure. Values are null if there is none. */
const spreadShape = v.object({
  meanSeconds: described(v.nullable(countShape), 'Null where there is none', 412),
  medianSeconds: described(v.nullable(countShape), 'Null where there is none', 380),
  of: described(countShape, 'Of how many incidents', 3),
})
const figureShapes = {
  incidents: described(countShape, 'How many were opened', 3),
  resolved: described(countShape, 'How many of them are resolved', 3),
  bySeverity: described(bySeverityShape, 'How many of each severity'),
  recurrences: described(countShape, 'How many came again', 1),
  mttd: described(spreadShape, 'Time to detect'),
  mtta: described(spreadShape, 'Time to acknowledge'),
  mttr: described(spreadShape, 'Time to resolve'),
}
const reliabilityShape = v.object({
  from: described(instantShape, 'Incidents opened at or after this time'),
  to: described(instantShape, 'And before this one'),
  definitions: described(
    v.object({
      incidents: described(v.string(), 'What is counted', 'incidents opened in this time'),
      recurrences: described(v.string(), 'What coming again means'),
      mttd: described(v.string(), 'From when to when'),
      mtta: described(v.string(), 'From when to when'),
      mttr: described(v.string(), 'From when to when'),
    }),
    'What each figure means, word for word',
  ),
  organization: described(v.object(figureShapes), 'Over all services'),
  services: described(
    v.array(
      v.object({
        serviceId: described(uuidShape, 'The service'),
        namespace: described(v.string(), 'Of the service', 'shop'),
        name: described(v.string(), 'Of the service', 'checkout'),
        ...figureShapes,
      }),
    ),
    'Those with an incident, the most first',
  ),
})

export const reportRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/reports/reliability',
    summary: 'How often services were in trouble, and how fast that was noticed, answered and mended',
    scope: 'read',
    query: v.object(timeParameters),
    answers: {
      ...success(
        reliabilityShape,
        'The incidents with from ≤ createdAt < to, by default the last 30 days; what is undefined is null, never 0',
      ),
      ...refusals(503),
    },
    handle: async ({ deps, reader, identity, query }) => {
      const { from, to } = spanOf(query, deps.now())
      const report = await reader.read('findReliability', identity.organizationId, { from, to }, MOST_INCIDENTS)
      if (!report) throw refused(`over ${MOST_INCIDENTS} incidents since; name a later time`)
      const services = report.services.map(({ service: { uuid, namespace, name }, ...figures }) => ({
        ...{ serviceId: uuid, namespace, name },
        ...showFigures(figures),
      }))
      const { definitions, organization } = report
      const span = { from: shownInstant(from), to: shownInstant(to) }
      return json({ ...span, definitions, organization: showFigures(organization), services })
    },
  }),
]

/** Returns the period. The default end is now, the default start 30 days before the end. */
function spanOf(query: { readonly from?: number | undefined; readonly to?: number | undefined }, now: number) {
  const to = query.to ?? Math.max(now, query.from ?? 0)
  return { from: query.from ?? Math.max(0, to - LAST_DAYS), to }
}

function refused(message: string): IncmonError {
  return new IncmonError('invalid', `query: from: ${message}`, [{ path: 'from', message }])
}

function showFigures(figures: Figures): v.InferInput<typeof reliabilityShape>['organization'] {
  const { incidents, resolved, bySeverity, recurrences, mttd, mtta, mttr } = figures
  const counts = { incidents, resolved, bySeverity: { ...bySeverity }, recurrences }
  return { ...counts, mttd: showSpread(mttd), mtta: showSpread(mtta), mttr: showSpread(mttr) }
}

function showSpread({ mean, median, of }: Spread): v.InferInput<typeof spreadShape> {
  return { meanSeconds: mean, medianSeconds: median, of }
}
