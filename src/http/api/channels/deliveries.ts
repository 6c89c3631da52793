/** /api/deliveries: the messages sent to each channel, and why some failed. */
import * as v from 'valibot'
import { MESSAGE_STATUSES } from '../../../domain/notification/schedule.ts'
import { listMessages, type MessageRecord } from '../../../store/notification/messages.ts'
import { pageParameters, wordParameter } from '../../middleware/query.ts'
import { type Route, rest } from '../../route.ts'
import {
  answerPage,
  countShape,
  described,
  idShape,
  instantShape,
  instantText,
  listShape,
  success,
  uuidShape,
} from '../shapes.ts'

const deliveryShape = v.object({
  id: described(uuidShape, 'The ID of the message; a webhook receives it as webhook-id'),
  channelId: idShape,
  channel: described(v.string(), 'The name of the channel', 'on-call'),
  incidentId: described(v.nullable(uuidShape), 'The incident of its first notification; null if it was deleted'),
  kind: described(v.string(), 'The kind of its first notification: opened, resolved, reminder, …', 'opened'),
  count: described(countShape, 'The number of its notifications; a message with more than one is a digest', 1),
  status: described(v.picklist(MESSAGE_STATUSES), 'Whether it is pending, was delivered, or was given up', 'delivered'),
  attempts: described(countShape, 'How often it was sent', 1),
  createdAt: described(instantShape, 'When its first notification was created'),
  nextAttemptAt: described(v.nullable(instantShape), 'The time of the next attempt; null after the last one', null),
  endedAt: described(v.nullable(instantShape), 'When it was delivered or given up'),
  answerStatus: described(v.nullable(countShape), 'The status of the last answer; null if there was none', 200),
  detail: described(v.nullable(v.string()), 'Why the last attempt failed', null),
})

export const deliveryRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/deliveries',
    summary: 'Messages to channels, newest first',
    scope: 'read',
    query: v.object({
      ...pageParameters,
      channelId: v.optional(described(v.pipe(v.string(), v.uuid('expected a UUID')), 'Only messages to this channel')),
      status: v.optional(described(wordParameter(MESSAGE_STATUSES), 'Only messages with this status')),
    }),
    answers: success(listShape(deliveryShape), 'A page of messages of the last 30 days'),
    handle: (call) => answerPage(call, listMessages, showMessage),
  }),
]

function showMessage({ dueAt, createdAt, endedAt, ...message }: MessageRecord): v.InferInput<typeof deliveryShape> {
  const nextAttemptAt = instantText(dueAt)
  return { ...message, createdAt: instantText(createdAt), nextAttemptAt, endedAt: instantText(endedAt) }
}
