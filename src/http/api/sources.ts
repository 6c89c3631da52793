/** /api/sources: the senders, and when each was last seen. */
import * as v from 'valibot'
import { listSenders, type SenderRecord } from '../../store/senders.ts'
import { pageOf, pageParameters } from '../middleware/query.ts'
import { type Route, rest } from '../route.ts'
import {
  answerList,
  countShape,
  described,
  instantShape,
  listShape,
  shownInstant,
  sourceShape,
  success,
} from './shapes.ts'

const senderShape = v.object({
  source: sourceShape,
  cluster: described(v.string(), 'From the token or the label cluster; empty where neither names one', 'production'),
  receiver: described(v.string(), "Alertmanager's or Grafana's receiver; empty elsewhere", 'incmon'),
  events: described(countShape, 'How many items were taken', 1207),
  rejections: described(countShape, 'How many could not be used', 0),
  lastEventAt: described(v.nullable(instantShape), 'Null before the first'),
  lastRejectionAt: described(v.nullable(instantShape), 'Null before the first', null),
  heartbeat: described(
    v.nullable(
      v.object({
        lastAt: described(instantShape, 'When it last came'),
        silent: described(v.boolean(), 'Whether it is overdue', false),
      }),
    ),
    'Of the alert that always fires; null where none was ever sent',
  ),
})

export const sourceRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/sources',
    summary: 'Senders, the last heard first',
    scope: 'read',
    query: v.object(pageParameters),
    answers: success(listShape(senderShape), 'A page of senders; heartbeat is null where none was ever sent'),
    handle: (call) => {
      const { deps, identity, query } = call
      const page = pageOf(query)
      return answerList(call, page, listSenders(deps.db, identity.organizationId, page), showSender)
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
