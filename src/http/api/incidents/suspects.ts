/** /api/incidents/:id/suspects: the probable causes of an incident, ranked. */
import * as v from 'valibot'
import { findSuspects } from '../../../store/incident/suspects.ts'
import { type Route, rest } from '../../route.ts'
import * as shape from '../../shapes.ts'
import { answerList, successPage } from '../answers.ts'
import { requireIncident } from './incidents.ts'

/** All suspects fit on one page. */
const ONLY_PAGE = { page: 1, limit: 20 }

/** A probable cause as the API returns it. */
export const suspectShape = v.object({
  kind: shape.choice(['pipeline', 'rollout', 'node', 'object'], 'The kind of cause'),
  ref: shape.text('A reference to the cause', 'shop/checkout#4711'),
  serviceId: shape.nullable(shape.uuid(), 'The service of the cause, or null'),
  score: shape.described(
    v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
    'The probability relative to the other causes in this response',
    0.76,
  ),
  reasons: shape.reasons,
  evidence: shape.objects(
    { alertId: shape.optional(shape.uuid(), 'An alert'), eventId: shape.optional(shape.uuid(), 'An event') },
    'The records that are the evidence',
  ),
  rollouts: shape.described(
    v.array(v.string()),
    'The rollouts that the suspected pipeline caused. They are not listed as suspects of their own',
    ['shop/checkout@6f8d7b9c5'],
  ),
})

export const suspectRoutes: readonly Route[] = [
  rest('GET /api/incidents/:id/suspects', {
    summary: 'List the probable causes of an incident across all services, most probable first',
    scope: 'read',
    answers: successPage(suspectShape, 'At most 20 probable causes'),
    handle: async (call) => {
      const { deps, store, identity } = call
      const incident = await requireIncident(call)
      const items = await store.read(findSuspects, identity.organizationId, incident, deps.now())
      return answerList(call, ONLY_PAGE, { items, total: items.length }, (suspect) => suspect)
    },
  }),
]
