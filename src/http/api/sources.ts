/** /api/sources and /api/rejections: the senders, when each was last seen, and their rejected items. */
import * as v from 'valibot'
import { hoursUntil } from '../../domain/sender/sender.ts'
import { listRejections } from '../../store/rejections.ts'
import { listSenders, type SenderRecord } from '../../store/senders.ts'
import { pageParameters, sourceParameter, timeParameters } from '../middleware/query.ts'
import { type Route, rest } from '../route.ts'
import * as shape from '../shapes.ts'
import { answerPage, success, successPage } from './answers.ts'

const senderShape = shape.named('Sender', {
  source: shape.source,
  cluster: shape.text('The cluster, from the token or the cluster label; empty if neither is set', 'production'),
  receiver: shape.text('The receiver for Alertmanager and Grafana; empty for other senders', 'incmon'),
  tokens: shape.list(
    v.string(),
    'The names of the last three tokens with which it delivered, newest first; empty until its next delivery after an upgrade',
    ['alertmanager'],
  ),
  events: shape.count('The number of stored items', 1207),
  rejections: shape.count('The number of rejected items', 0),
  lastEventAt: shape.nullable(shape.instant(), 'The time of the last stored item; null if no item was stored'),
  lastRejectionAt: shape.nullable(
    shape.instant(),
    'The time of the last rejected item; null if no item was rejected',
    null,
  ),
  clockOffsetSeconds: shape.described(
    v.number(),
    'How many seconds the clock of the sender is ahead of the clock of the server; negative if it is behind. incmon corrects the times of the items',
    0,
  ),
  lacksCluster: shape.flag('Whether this sender specifies no cluster, but another sender does', false),
  eventsByHour: shape.described(
    v.pipe(v.array(shape.count()), v.length(24)),
    'The number of stored items in each of the last 24 hours (UTC), oldest first. The last number is for the current hour',
    Array.from({ length: 24 }, (_, hour) => hour * 2),
  ),
  deliveryInterval: shape.nullable(
    shape.count(),
    'The usual time in seconds between two deliveries of the same alerts; null if it is not known',
    30,
  ),
  heartbeat: shape.nullable(
    v.object({
      lastAt: shape.instant('When the last heartbeat arrived'),
      silent: shape.flag('Whether the heartbeat is overdue', false),
    }),
    'The state of the heartbeat alert; null if no heartbeat was ever sent',
  ),
})

const showFields = shape.shower(senderShape)

/** A rejected item. */
const rejectionShape = shape.named('Rejection', {
  id: shape.id,
  source: shape.source,
  index: shape.count('The index of the item in the request, starting at 0', 1),
  error: shape.text('The error', 'labels: expected object'),
  payload: shape.text(
    'The item as received, with secrets replaced, truncated to 64 kB',
    '{"status":"firing","labels":"none"}',
  ),
  receivedAt: shape.instant('When the item arrived'),
})

const showRejection = shape.shower(rejectionShape)

export const sourceRoutes: readonly Route[] = [
  rest('GET /api/sources', {
    summary: 'List senders, most recent first',
    scope: 'read',
    query: v.object(pageParameters),
    answers: success(shape.page(senderShape), 'A page of senders'),
    handle: (call) => {
      const show = (sender: SenderRecord) => showSender(sender, call.deps.now())
      return answerPage(call, (page) => call.own.read(listSenders, page), show)
    },
  }),
  rest('GET /api/rejections', {
    summary: 'List rejected items, newest first',
    scope: 'read',
    query: v.object({ ...pageParameters, ...timeParameters, source: sourceParameter }),
    answers: successPage(rejectionShape, 'A page of rejected items, each with its error'),
    handle: (call) => answerPage(call, (page) => call.own.read(listRejections, call.query, page), showRejection),
  }),
]

function showSender(sender: SenderRecord, now: number) {
  const { clockOffset, hours, interval, heartbeat } = sender
  return showFields({
    ...sender,
    clockOffsetSeconds: Math.round(clockOffset / 1000),
    eventsByHour: hoursUntil(hours, now),
    deliveryInterval: interval === null ? null : Math.round(interval / 1000),
    heartbeat: heartbeat && { ...heartbeat, lastAt: shape.instantText(heartbeat.lastAt) },
  })
}
