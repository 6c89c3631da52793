/** /api/rejections: webhook items that could not be used, and why. */
import * as v from 'valibot'
import { listRejections, type RejectionRecord } from '../../../store/rejections.ts'
import { pageParameters, sourceParameter, timeParameters } from '../../middleware/query.ts'
import { type Route, rest } from '../../route.ts'
import {
  answerPage,
  countShape,
  described,
  idShape,
  instantShape,
  instantText,
  listShape,
  refusals,
  sourceShape,
  success,
} from '../shapes.ts'

const rejectionShape = v.object({
  id: idShape,
  source: sourceShape,
  index: described(countShape, 'The index in the request, starting at 0', 1),
  error: described(v.string(), 'The error', 'labels: expected object'),
  payload: described(v.string(), 'As received, secrets replaced, cut at 64 kB', '{"status":"firing","labels":"none"}'),
  receivedAt: described(instantShape, 'When it arrived'),
})

export const rejectionRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/rejections',
    summary: 'List rejected items, newest first',
    scope: 'read',
    query: v.object({ ...pageParameters, ...timeParameters, source: sourceParameter }),
    answers: {
      ...success(listShape(rejectionShape), 'A page of rejected items, each with its error'),
      ...refusals(503),
    },
    handle: (call) => answerPage(call, listRejections, showRejection),
  }),
]

function showRejection(rejection: RejectionRecord): v.InferInput<typeof rejectionShape> {
  const { id, source, index, error, payload, receivedAt } = rejection
  return { id, source, index, error, payload, receivedAt: instantText(receivedAt) }
}
