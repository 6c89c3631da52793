/** /api/correlations: suspected links, and what people think of them. */
import * as v from 'valibot'
import { setVerdict } from '../operations/correlations.ts'
import { type CorrelationRecord, findCorrelation, listCorrelations } from '../store/correlations.ts'
import { notFound } from './problem.ts'
import { idParameter, numberParameter, pageOf, pageParameters, timeParameters, wordParameter } from './query.ts'
import { type Call, type Route, rest } from './route.ts'
import {
  answerList,
  countShape,
  instantShape,
  listShape,
  refusals,
  shownInstant,
  success,
  uuidShape,
} from './shapes.ts'

const VERDICTS = ['confirmed', 'rejected'] as const

/** A suspected link in an answer. */
export const correlationShape = v.object({
  id: uuidShape,
  serviceId: uuidShape,
  change: v.object({ kind: v.picklist(['pipeline', 'rollout']), ref: v.string(), eventId: uuidShape }),
  evidence: v.object({ alertId: uuidShape, eventId: uuidShape, count: countShape }),
  score: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  band: v.picklist(['strong', 'probable', 'possible']),
  reasons: v.array(v.object({ code: v.string(), text: v.string() })),
  lagSeconds: v.pipe(v.number(), v.integer()),
  verdict: v.nullable(v.picklist(VERDICTS)),
  createdAt: instantShape,
})

export const correlationRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/correlations',
    summary: 'Suspected links between changes and conditions, newest first',
    scope: 'read',
    query: v.object({
      ...pageParameters,
      ...timeParameters,
      serviceId: idParameter,
      minScore: v.optional(numberParameter(0, 1)),
    }),
    answers: success(listShape(correlationShape), 'A page of links; from and to bound their creation'),
    handle: ({ c, deps, identity, query }) => {
      const page = pageOf(query)
      return answerList(c, page, listCorrelations(deps.db, identity.organizationId, query, page), showCorrelation)
    },
  }),
  rest({
    method: 'PATCH',
    path: '/api/correlations/:id',
    summary: 'Confirm or reject a suspected link; with alias, its project belongs to its service from now on',
    scope: 'write',
    body: v.object({
      verdict: v.nullable(wordParameter(VERDICTS)),
      alias: v.optional(v.boolean('expected true or false')),
    }),
    answers: { ...success(correlationShape, 'The link with its verdict'), ...refusals(409) },
    handle: (call) => {
      const { c, deps, identity, body } = call
      setVerdict(deps, identity.organizationId, requireCorrelation(call).id, body)
      return c.json(showCorrelation(requireCorrelation(call)))
    },
  }),
]

/** A link as answers show it. */
export function showCorrelation(link: CorrelationRecord): v.InferInput<typeof correlationShape> {
  return {
    id: link.id,
    serviceId: link.serviceId,
    change: link.change,
    evidence: link.evidence,
    score: link.score,
    band: link.band,
    reasons: [...link.reasons],
    lagSeconds: link.lagSeconds,
    verdict: link.verdict,
    createdAt: shownInstant(link.createdAt),
  }
}

function requireCorrelation({ deps, identity, id }: Call<unknown, unknown>): CorrelationRecord {
  const link = findCorrelation(deps.db, identity.organizationId, id)
  if (!link) throw notFound('correlation', 'GET /api/correlations')
  return link
}
