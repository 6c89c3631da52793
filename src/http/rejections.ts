/** /api/rejections: webhook items that could not be used, and why. */
import * as v from 'valibot'
import { SOURCES } from '../domain/event.ts'
import { listRejections, type RejectionRecord } from '../store/rejections.ts'
import { pageOf, pageParameters, sourceParameter, timeParameters } from './query.ts'
import { type Route, rest } from './route.ts'
import { answerList, countShape, instantShape, listShape, shownInstant, success, uuidShape } from './shapes.ts'

const rejectionShape = v.object({
  id: uuidShape,
  source: v.picklist(SOURCES),
  index: countShape,
  error: v.string(),
  payload: v.string(),
  receivedAt: instantShape,
})

export const rejectionRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/rejections',
    summary: 'Items kept aside, newest first',
    scope: 'read',
    query: v.object({ ...pageParameters, ...timeParameters, source: sourceParameter }),
    answers: success(listShape(rejectionShape), 'A page of items as received, secrets replaced, each with its error'),
    handle: ({ c, deps, identity, query }) => {
      const page = pageOf(query)
      return answerList(c, page, listRejections(deps.db, identity.organizationId, query, page), showRejection)
    },
  }),
]

function showRejection(rejection: RejectionRecord): v.InferInput<typeof rejectionShape> {
  const { id, source, index, error, payload, receivedAt } = rejection
  return { id, source, index, error, payload, receivedAt: shownInstant(receivedAt) }
}
