/** /api/reports: reliability metrics over a period, each with its definition. */

import * as v from 'valibot'
import { invalidField } from '../../domain/error.ts'
import type { Figures, Spread } from '../../domain/report/report.ts'
import { findReliability } from '../../store/incident/report.ts'
import { MEANINGS } from '../middleware/problem.ts'
import { timeParameters } from '../middleware/query.ts'
import { json } from '../middleware/reply.ts'
import { type Route, rest } from '../route.ts'
import * as shape from '../shapes.ts'
import { refusals, success } from './answers.ts'

const LAST_DAYS = 30 * 86_400_000
/** The maximum number of incidents in a report. A report loads all of its incidents at once. */
const MAX_INCIDENTS = 5_000

/** Statistics over the incidents for which the value is known. `of` is the number of these incidents. */
const spreadShape = v.object({
  meanSeconds: shape.nullable(shape.count(), 'The mean in seconds; null if no incident has this figure', 412),
  medianSeconds: shape.nullable(shape.count(), 'The median in seconds; null if no incident has this figure', 380),
  of: shape.count('The number of incidents with this figure', 3),
})
const figureShapes = {
  incidents: shape.count('The number of opened incidents', 3),
  resolved: shape.count('The number of resolved incidents', 3),
  bySeverity: shape.described(shape.bySeverity, 'The number of incidents by severity'),
  recurrences: shape.count('The number of incidents that recurred or whose problem came back', 1),
  mttd: shape.described(spreadShape, 'Time to detect'),
  mtta: shape.described(spreadShape, 'Time to acknowledge'),
  mttr: shape.described(spreadShape, 'Time to resolve'),
}
/** The reliability of services in a period. */
const reliabilityShape = shape.named('Reliability', {
  from: shape.instant('Incidents opened at or after this time'),
  to: shape.instant('Incidents opened before this time'),
  definitions: shape.object(
    {
      incidents: shape.text('Which incidents are counted', 'incidents opened in this period'),
      recurrences: shape.text('The definition of a recurrence'),
      mttd: shape.text('When the time to detect starts and ends'),
      mtta: shape.text('When the time to acknowledge starts and ends'),
      mttr: shape.text('When the time to resolve starts and ends'),
    },
    'The definition of each figure',
  ),
  organization: shape.object(figureShapes, 'All services together'),
  services: shape.objects(
    {
      serviceId: shape.uuid('The service'),
      namespace: shape.text('The namespace of the service', 'shop'),
      name: shape.text('The name of the service', 'checkout'),
      ...figureShapes,
    },
    'Services with an incident, those whose incidents lasted longest first',
  ),
})

export const reportRoutes: readonly Route[] = [
  rest('GET /api/reports/reliability', {
    summary:
      'Show how often services had incidents, and how quickly incidents were detected, acknowledged and resolved',
    scope: 'read',
    query: v.object(timeParameters),
    answers: {
      ...success(
        reliabilityShape,
        'Counts incidents with createdAt in the half-open range [from, to), by default the last 30 days. An undefined figure is null, never 0',
      ),
      ...refusals({ 503: MEANINGS[503] }),
    },
    handle: async ({ deps, own, query }) => {
      const { from, to } = spanOf(query, deps.now())
      const report = await own.read(findReliability, { from, to }, MAX_INCIDENTS)
      if (!report)
        throw invalidField('query', 'from', `more than ${MAX_INCIDENTS} incidents in this period; send a later from`)
      const services = report.services.map(({ service: { uuid, namespace, name }, ...figures }) => ({
        ...{ serviceId: uuid, namespace, name },
        ...showFigures(figures),
      }))
      const { definitions, organization } = report
      const span = { from: shape.instantText(from), to: shape.instantText(to) }
      return json({ ...span, definitions, organization: showFigures(organization), services })
    },
  }),
]

/** Returns the period of the report. By default, the report covers the last 30 days. */
function spanOf(query: { readonly from?: number | undefined; readonly to?: number | undefined }, now: number) {
  const to = query.to ?? Math.max(now, query.from ?? 0)
  return { from: query.from ?? Math.max(0, to - LAST_DAYS), to }
}

function showFigures({ mttd, mtta, mttr, ...counts }: Figures): v.InferInput<typeof reliabilityShape>['organization'] {
  return { ...counts, mttd: showSpread(mttd), mtta: showSpread(mtta), mttr: showSpread(mttr) }
}

function showSpread({ mean, median, of }: Spread): v.InferInput<typeof spreadShape> {
  return { meanSeconds: mean, medianSeconds: median, of }
}
