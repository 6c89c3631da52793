/** /api/correlations: links between changes and conditions, with users' verdicts. */
import * as v from 'valibot'
import { setVerdict } from '../../actions/correlations.ts'
import { findCorrelation, listCorrelations } from '../../store/correlation/correlations.ts'
import { required } from '../middleware/problem.ts'
import { idParameter, pageParameters, timeParameters, wordParameter } from '../middleware/query.ts'
import { json } from '../middleware/reply.ts'
import { type Call, type Route, rest } from '../route.ts'
import * as shape from '../shapes.ts'
import { answerPage, refusals, success, successPage } from './answers.ts'

const VERDICTS = ['confirmed', 'rejected'] as const
export const correlationShape = shape.named('Correlation', {
  id: shape.id,
  serviceId: shape.uuid('The service of the change and the condition'),
  change: shape.object(
    {
      kind: shape.choice(['pipeline', 'rollout'], 'The kind of change'),
      ref: shape.text('Project and number of a pipeline, or the workload of a rollout', 'shop/checkout#4711'),
      eventId: shape.uuid('The newest event of the change'),
    },
    'The change',
  ),
  evidence: shape.object(
    {
      alertId: shape.uuid('The condition'),
      eventId: shape.uuid('The event with the strongest evidence'),
      count: shape.count('How often the condition was reported', 3),
    },
    'The condition and its strongest evidence',
  ),
  score: shape.described(
    v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
    'How likely it is that the change caused the condition',
    0.76,
  ),
  band: shape.choice(
    ['strong', 'probable', 'possible'],
    'The range of the score: strong from 0.7, probable from 0.4, possible from 0.2',
  ),
  reasons: shape.reasons,
  lagSeconds: shape.described(
    v.pipe(v.number(), v.integer()),
    'The number of seconds from the start of the change to the event; negative if the event came first',
    190,
  ),
  verdict: shape.nullable(v.picklist(VERDICTS), 'The verdict given by a user', null),
  verdictBy: shape.nullable(v.string(), 'Who gave the verdict; null if there is none or if it was not recorded', null),
  createdAt: shape.instant('When the link was created'),
})
export const showCorrelation = shape.shower(correlationShape)

/** A number from 0 to 1, including fractions. */
const scoreParameter = v.pipe(
  v.string(),
  v.metadata({ type: 'number', minimum: 0, maximum: 1 }),
  v.transform((text) => (/^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN)),
  v.check((number) => number >= 0 && number <= 1, 'expected a number from 0 to 1'),
)

export const correlationRoutes: readonly Route[] = [
  rest('GET /api/correlations', {
    summary: 'List suspected links between changes and conditions, newest first',
    scope: 'read',
    query: v.object({
      ...pageParameters,
      ...timeParameters,
      serviceId: idParameter('service'),
      minScore: shape.optional(scoreParameter, 'Only links with at least this score', 0.4),
    }),
    answers: successPage(correlationShape, 'A page of links with createdAt in the half-open range [from, to)'),
    handle: (call) => answerPage(call, (page) => call.own.read(listCorrelations, call.query, page), showCorrelation),
  }),
  rest('PATCH /api/correlations/:id', {
    summary: 'Confirm or reject a suspected link',
    scope: 'write',
    body: v.object({
      verdict: shape.nullable(wordParameter(VERDICTS), 'Null removes the verdict', 'confirmed'),
      alias: shape.optional(
        v.boolean('expected true or false'),
        'If true, the project of the pipeline is also added to the aliases of the service',
        false,
      ),
    }),
    answers: {
      ...success(correlationShape, 'The link with its verdict'),
      ...refusals({ 409: 'alias is true, and the project of the pipeline was not recorded' }),
    },
    handle: async (call) => {
      const { own, identity, body } = call
      const { id } = await requireCorrelation(call)
      await own.run(setVerdict, id, { ...body, by: identity.tokenName })
      return json(showCorrelation(await requireCorrelation(call)))
    },
  }),
]

function requireCorrelation({ own, id }: Call) {
  return required(own.read(findCorrelation, id), 'correlation', 'GET /api/correlations')
}
