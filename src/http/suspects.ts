/** /api/incidents/:id/suspects: the probable causes of an incident, ranked. */
import * as v from 'valibot'
import { rankSuspects } from '../domain/suspect.ts'
import { findSuspectFacts } from '../store/suspect-facts.ts'
import { requireIncident } from './incidents.ts'
import { type Route, rest } from './route.ts'
import { answerList, listShape, success, uuidShape } from './shapes.ts'

/** There are never more than fill this one page. */
const ONLY_PAGE = { page: 1, limit: 20 }

const suspectShape = v.object({
  kind: v.picklist(['pipeline', 'rollout', 'node', 'object']),
  ref: v.string(),
  serviceId: v.nullable(uuidShape),
  score: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  reasons: v.array(v.object({ code: v.string(), text: v.string() })),
  evidence: v.array(v.object({ alertId: v.optional(uuidShape), eventId: v.optional(uuidShape) })),
})

export const suspectRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/incidents/:id/suspects',
    summary: 'What may have caused an incident, over all services, the most probable first',
    scope: 'read',
    answers: success(listShape(suspectShape), 'At most 20 suspects; scores compare within this answer'),
    handle: (call) => {
      const { c, deps, identity } = call
      const items = rankSuspects(findSuspectFacts(deps.db, identity.organizationId, requireIncident(call), deps.now()))
      return answerList(c, ONLY_PAGE, { items, total: items.length }, (suspect) => suspect)
    },
  }),
]
