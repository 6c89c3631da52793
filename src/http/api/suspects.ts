/** /api/incidents/:id/suspects: the probable causes of an incident, ranked. */
import * as v from 'valibot'
import { findSuspects } from '../../store/incident/suspects.ts'
import { type Route, rest } from '../route.ts'
import { requireIncident } from './incidents.ts'
import { answerList, described, listShape, reasonsShape, refusals, success, uuidShape } from './shapes.ts'

/** All suspects fit on one page. */
const ONLY_PAGE = { page: 1, limit: 20 }

const suspectShape = v.object({
  kind: described(v.picklist(['pipeline', 'rollout', 'node', 'object']), 'The kind of cause'),
  ref: described(v.string(), 'A reference to the cause', 'shop/checkout#4711'),
  serviceId: described(v.nullable(uuidShape), 'The service of the cause, or null'),
  score: described(
    v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
    'The probability relative to the other causes in this response',
    0.76,
  ),
  reasons: reasonsShape,
  evidence: described(
    v.array(
      v.object({
        alertId: v.optional(described(uuidShape, 'An alert')),
        eventId: v.optional(described(uuidShape, 'An event')),
      }),
    ),
    'The records that are the evidence',
  ),
})

export const suspectRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/incidents/:id/suspects',
    summary: 'List the probable causes of an incident across all services, most probable first',
    scope: 'read',
    answers: { ...success(listShape(suspectShape), 'At most 20 probable causes'), ...refusals(503) },
    handle: async (call) => {
      const { deps, store, identity } = call
      const incident = await requireIncident(call)
      const items = await store.read(findSuspects, identity.organizationId, incident, deps.now())
      return answerList(call, ONLY_PAGE, { items, total: items.length }, (suspect) => suspect)
    },
  }),
]
