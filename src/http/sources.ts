/** /api/sources: who sends, and when each was last heard. */
import * as v from 'valibot'
import { SOURCES } from '../domain/event.ts'
import { listSenders, type SenderRecord } from '../store/senders.ts'
import { pageOf, pageParameters } from './query.ts'
import { type Route, rest } from './route.ts'
import { answerList, countShape, instantShape, listShape, shownInstant, success } from './shapes.ts'

const senderShape = v.object({
  source: v.picklist(SOURCES),
  cluster: v.string(),
  receiver: v.string(),
  events: countShape,
  rejections: countShape,
  lastEventAt: v.nullable(instantShape),
  lastRejectionAt: v.nullable(instantShape),
  heartbeat: v.nullable(v.object({ lastAt: instantShape, silent: v.boolean() })),
})

export const sourceRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/sources',
    summary: 'Senders, the last heard first',
    scope: 'read',
    query: v.object(pageParameters),
    answers: success(listShape(senderShape), 'A page of senders; heartbeat is null where none was ever sent'),
    handle: ({ c, deps, identity, query }) => {
      const page = pageOf(query)
      return answerList(c, page, listSenders(deps.db, identity.organizationId, page), showSender)
    },
  }),
]

function showSender(sender: SenderRecord): v.InferInput<typeof senderShape> {
  const { source, cluster, receiver, events, rejections, lastEventAt, lastRejectionAt, heartbeat } = sender
  return {
    source,
    cluster,
    receiver,
    events,
    rejections,
    lastEventAt: shownInstant(lastEventAt),
    lastRejectionAt: shownInstant(lastRejectionAt),
    heartbeat: heartbeat && { lastAt: shownInstant(heartbeat.lastAt), silent: heartbeat.silent },
  }
}
