/** /api/channels and /api/deliveries: notification channels and the messages sent to them. */
import * as v from 'valibot'
import { CHANNEL_KINDS } from '../../../domain/notification/format.ts'
import { MESSAGE_STATUSES } from '../../../domain/notification/schedule.ts'
import { removeChannel, rotateSecret } from '../../../operations/channels.ts'
import { type ChannelRecord, findChannel, listChannels } from '../../../store/notification/channels.ts'
import { listMessages, type MessageRecord } from '../../../store/notification/messages.ts'
import { required } from '../../middleware/problem.ts'
import { pageOf, pageParameters, wordParameter } from '../../middleware/query.ts'
import { DONE, json, type Reply } from '../../middleware/reply.ts'
import { type Call, type Route, rest } from '../../route.ts'
import {
  answerList,
  answerPage,
  countShape,
  described,
  idShape,
  instantShape,
  listShape,
  refusals,
  shower,
  success,
  uuidShape,
} from '../shapes.ts'
import { addChannel, channelChangeBody, editChannel, listChannelWarnings, newChannelBody } from './bodies.ts'

const PATH = '/api/channels'

const channelShape = v.object({
  id: idShape,
  name: described(v.string(), 'Its name', 'on-call'),
  kind: described(v.picklist(CHANNEL_KINDS), 'The kind of receiver', 'slack'),
  target: described(
    v.string(),
    'The URL or email addresses, with secret parts replaced',
    'https://hooks.slack.com/services/***',
  ),
  enabled: described(
    v.boolean(),
    'Whether the channel sends messages; a 410 response from the receiver disables it',
    true,
  ),
  rules: described(v.array(v.record(v.string(), v.unknown())), 'The rules, as sent in the request', []),
  timeZone: described(v.string(), 'The time zone for times in messages', 'UTC'),
  remindAfter: described(countShape, 'Minutes until the first reminder; 0: never', 10),
  remindEvery: described(countShape, 'Minutes between reminders; 0: never', 30),
  escalateAfter: described(countShape, 'Minutes without acknowledgement until the first message; 0: immediately', 0),
  lastDelivery: described(v.nullable(instantShape), 'When a message was last delivered', null),
  failing: described(v.nullable(v.string()), 'Why the last attempt failed; null if it succeeded', null),
  failingSince: described(v.nullable(instantShape), 'The time of the first failure since the last success', null),
  createdAt: described(instantShape, 'When the channel was created'),
  warnings: described(v.array(v.string()), 'Probable mistakes in the rules or the URL', []),
})
const showFields = shower(channelShape)
const secretShape = described(
  v.nullable(v.string()),
  'The secret that signs webhook messages (Standard Webhooks), which is shown only once; null for other kinds',
  `whsec_${'x'.repeat(43)}=`,
)
const outcomeShape = v.object({
  delivered: described(v.boolean(), 'Whether the receiver accepted the message', true),
  status: described(v.nullable(countShape), 'The HTTP status of the response; null if there was none', 200),
  detail: described(v.nullable(v.string()), 'The response of the receiver, or why it could not be reached', 'ok'),
  warning: described(
    v.nullable(v.string()),
    'What is missing from the messages of this server; null if nothing is missing',
    null,
  ),
})

export const channelRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: PATH,
    summary: 'List channels, oldest first',
    scope: 'admin',
    query: v.object(pageParameters),
    answers: success(listShape(channelShape), 'A page of channels; their secrets are not shown'),
    handle: async (call) => {
      const page = pageOf(call.query)
      const { items, total } = await call.store.read(listChannels, call.identity.organizationId, page)
      const shown = await Promise.all(items.map((channel) => showChannel(call, channel)))
      return answerList(call, page, { items: shown, total }, (channel) => channel)
    },
  }),
  rest({
    method: 'POST',
    path: PATH,
    summary: 'Create a channel',
    scope: 'admin',
    body: newChannelBody,
    answers: {
      ...success(v.object({ ...channelShape.entries, secret: secretShape }), 'The channel', 201),
      ...refusals(409),
    },
    handle: async (call) => {
      const { id, secret, warnings } = await addChannel(call, call.identity.organizationId, call.body)
      const channel = await requireChannel({ ...call, id })
      return json({ ...(await showChannel(call, channel, warnings)), secret }, 201)
    },
  }),
  rest({
    method: 'GET',
    path: `${PATH}/:id`,
    summary: 'Show a channel',
    scope: 'admin',
    answers: success(channelShape, 'The channel; its secrets are not shown'),
    handle: answerChannel,
  }),
  rest({
    method: 'PATCH',
    path: `${PATH}/:id`,
    summary: 'Change a channel',
    description:
      'Omitted fields stay unchanged. Changing the URL or enabling the channel sends its pending messages immediately.',
    scope: 'admin',
    body: channelChangeBody,
    answers: { ...success(channelShape, 'The channel'), ...refusals(409) },
    handle: async (call) => {
      const { warnings } = await editChannel(call, call.identity.organizationId, await requireChannel(call), call.body)
      return json(await showChannel(call, await requireChannel(call), warnings))
    },
  }),
  rest({
    method: 'DELETE',
    path: `${PATH}/:id`,
    summary: 'Delete a channel with its deliveries',
    scope: 'admin',
    answers: { 204: { description: 'The channel is deleted, and its pending messages are not sent', body: null } },
    handle: async (call) => {
      const { id } = await requireChannel(call)
      await call.store.run(removeChannel, call.identity.organizationId, id)
      return DONE
    },
  }),
  rest({
    method: 'POST',
    path: `${PATH}/:id/test`,
    summary: 'Send a test message now',
    scope: 'admin',
    answers: success(outcomeShape, 'The response of the receiver, at most 1 kB'),
    handle: async (call) => {
      const { notifier } = call.server
      const { status, detail } = await notifier.test(await requireChannel(call))
      const delivered = status !== null && status >= 200 && status < 300
      return json({ delivered, status, detail, warning: notifier.warning() })
    },
  }),
  rest({
    method: 'POST',
    path: `${PATH}/:id/rotate-secret`,
    summary: 'Create a new signing secret for a webhook',
    scope: 'admin',
    answers: {
      ...success(
        v.object({ secret: secretShape }),
        'The new secret. For 24 hours, messages are signed with both the old and the new secret',
      ),
      ...refusals(409),
    },
    handle: async (call) => {
      const { id } = await requireChannel(call)
      return json({ secret: await call.store.run(rotateSecret, call.identity.organizationId, id) })
    },
  }),
]

async function answerChannel(call: Call<unknown, unknown>): Promise<Reply> {
  return json(await showChannel(call, await requireChannel(call)))
}

function requireChannel({ store, identity, id }: Call<unknown, unknown>): Promise<ChannelRecord> {
  return required(store.read(findChannel, identity.organizationId, id), 'channel', `GET ${PATH}`)
}

/** @param more warnings to add to those about the rules */
async function showChannel(
  call: Call<unknown, unknown>,
  channel: ChannelRecord,
  more: readonly string[] = [],
): Promise<v.InferInput<typeof channelShape>> {
  const { settings, deliveredAt: lastDelivery } = channel
  const warnings = [...more, ...(await listChannelWarnings(call, call.identity.organizationId, settings))]
  return showFields({
    ...channel,
    ...settings,
    rules: settings.rules.map((one) => ({ ...one })),
    lastDelivery,
    warnings,
  })
}

const deliveryShape = v.object({
  id: described(uuidShape, 'The ID of the message; a webhook receives it as webhook-id'),
  channelId: idShape,
  channel: described(v.string(), 'The name of the channel', 'on-call'),
  incidentId: described(
    v.nullable(uuidShape),
    'The incident of the first notification in the message; null if the incident was deleted',
  ),
  kind: described(
    v.string(),
    'The kind of the first notification in the message: opened, resolved, reminder, …',
    'opened',
  ),
  count: described(
    countShape,
    'The number of notifications in the message; a message with several notifications is a digest',
    1,
  ),
  status: described(v.picklist(MESSAGE_STATUSES), 'Whether the message is pending, delivered or given up', 'delivered'),
  attempts: described(countShape, 'The number of attempts to send the message', 1),
  createdAt: described(instantShape, 'When the first notification in the message was created'),
  nextAttemptAt: described(v.nullable(instantShape), 'The time of the next attempt; null after the last attempt', null),
  endedAt: described(v.nullable(instantShape), 'When the message was delivered or given up'),
  answerStatus: described(v.nullable(countShape), 'The HTTP status of the last response; null if there was none', 200),
  detail: described(v.nullable(v.string()), 'Why the last attempt failed', null),
})

const showDelivery = shower(deliveryShape)

export const deliveryRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/deliveries',
    summary: 'List messages to channels, newest first',
    scope: 'read',
    query: v.object({
      ...pageParameters,
      channelId: v.optional(described(v.pipe(v.string(), v.uuid('expected a UUID')), 'Only messages to this channel')),
      status: v.optional(described(wordParameter(MESSAGE_STATUSES), 'Only messages with this status')),
    }),
    answers: success(listShape(deliveryShape), 'A page of messages from the last 30 days'),
    handle: (call) => answerPage(call, listMessages, showMessage),
  }),
]

function showMessage(message: MessageRecord) {
  return showDelivery({ ...message, nextAttemptAt: message.dueAt })
}
