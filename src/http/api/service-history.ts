/** /api/services/:id/history: how a service was over time. */
import * as v from 'valibot'
import { listStates, type ServiceState } from '../../store/service/states.ts'
import { notFound } from '../middleware/problem.ts'
import { timeParameters } from '../middleware/query.ts'
import { json } from '../middleware/reply.ts'
import { type Route, rest } from '../route.ts'
import { described, instantShape, shownInstant, success } from './shapes.ts'

const DAY = 86_400_000

const historyShape = v.object({
  from: described(instantShape, 'The start of the period; by default a day before its end'),
  to: described(instantShape, 'The end of the period; by default now'),
  states: described(
    v.array(
      v.object({
        at: described(instantShape, 'From this time on, until the next state'),
        status: described(v.picklist(['healthy', 'degraded', 'critical']), 'The status', 'degraded'),
        score: described(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)), 'The score', 60),
      }),
    ),
    'The state at the start of the period, then each change. Before the first state the service did not exist',
  ),
})

export const serviceHistoryRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/services/:id/history',
    summary: 'Show the status and score of a service over time',
    scope: 'read',
    query: v.object(timeParameters),
    answers: success(historyShape, 'The states of the period, oldest first'),
    handle: async ({ deps, store, identity, id, query }) => {
      const to = query.to ?? deps.now()
      const from = query.from ?? to - DAY
      const states = await store.read(listStates, identity.organizationId, id, from)
      if (!states) throw notFound('service', 'GET /api/services')
      const within = states.filter(({ at }) => at < to)
      return json({ from: shownInstant(from), to: shownInstant(to), states: within.map(showState) })
    },
  }),
]

function showState({ at, status, score }: ServiceState) {
  return { at: shownInstant(at), status, score }
}
