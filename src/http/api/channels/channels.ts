/** /api/channels and /api/deliveries: notification channels and the messages sent to them. */
import * as v from 'valibot'
import { removeChannel, rotateSecret } from '../../../actions/channels.ts'
import { INCIDENT_STATUSES } from '../../../domain/incident/incident.ts'
import { CHANNEL_KINDS } from '../../../domain/notification/format.ts'
import { MESSAGE_STATUSES } from '../../../domain/notification/schedule.ts'
import { type ChannelRecord, findChannel, listChannels } from '../../../store/notification/channels.ts'
import { listMessages } from '../../../store/notification/messages.ts'
import { uuidField } from '../../middleware/body.ts'
import { required } from '../../middleware/problem.ts'
import { pageParameters, wordParameter } from '../../middleware/query.ts'
import { DONE, json } from '../../middleware/reply.ts'
import { type Call, type Route, rest } from '../../route.ts'
import * as shape from '../../shapes.ts'
import { answerPage, refusals, success } from '../answers.ts'
import { addChannel, channelChangeBody, editChannel, listChannelWarnings, newChannelBody } from './bodies.ts'

const PATH = '/api/channels'
export const channelShape = shape.named('Channel', {
  id: shape.id,
  name: shape.text('Its name', 'on-call'),
  kind: shape.choice(CHANNEL_KINDS, 'The kind of receiver', 'slack'),
  target: shape.text('The URL or email addresses, with secret parts replaced', 'https://hooks.slack.com/services/***'),
  enabled: shape.flag('Whether the channel sends messages; a 410 response from the receiver disables it', true),
  rules: shape.list(v.record(v.string(), v.unknown()), 'The rules, as sent in the request', []),
  timeZone: shape.text('The time zone for times in messages', 'UTC'),
  remindAfter: shape.count('Minutes until the first reminder; 0: never', 10),
  remindEvery: shape.count('Minutes between reminders; 0: never', 30),
  escalateAfter: shape.count('Minutes without acknowledgement until the first message; 0: immediately', 0),
  lastDelivery: shape.nullable(shape.instant(), 'When a message was last delivered', null),
  failing: shape.nullable(v.string(), 'Why the last attempt failed; null if it succeeded', null),
  failingSince: shape.nullable(shape.instant(), 'The time of the first failure since the last success', null),
  createdAt: shape.instant('When the channel was created'),
  warnings: shape.list(v.string(), 'Probable mistakes in the rules or the URL', []),
})
const showFields = shape.shower(channelShape)
const secretShape = shape.nullable(
  v.string(),
  'The secret that signs webhook messages (Standard Webhooks), which is shown only once; null for other kinds',
  `whsec_${'x'.repeat(43)}=`,
)

const channelSecretShape = shape.named('ChannelSecret', { secret: secretShape })

/** Its secret is shown only once. */
const createdChannelShape = shape.named('CreatedChannel', { ...channelShape.entries, ...channelSecretShape.entries })
const outcomeShape = shape.named('ChannelTest', {
  delivered: shape.flag('Whether the receiver accepted the message', true),
  status: shape.nullable(shape.count(), 'The HTTP status of the response; null if there was none', 200),
  detail: shape.nullable(v.string(), 'The response of the receiver, or why it could not be reached', 'ok'),
  warning: shape.nullable(
    v.string(),
    'A warning that messages contain no links because public-url is not set; null otherwise',
    null,
  ),
})

const sentShape = v.object({
  title: shape.text('The first line', 'cart has been critical since 14:02 UTC (4 min).'),
  body: shape.text('The second line', 'HighErrorRate. Incident #12, namespace shop.'),
  status: shape.choice(INCIDENT_STATUSES, 'The status of the incident at the moment of sending'),
  problem: shape.choice(['on', 'off'], 'Whether the problem was on at that moment'),
  firing: shape.described(v.array(v.string()), 'The critical conditions at that moment', ['HighErrorRate']),
})

const showSent = shape.shower(sentShape)
const deliveryShape = shape.named('Delivery', {
  id: shape.uuid('The ID of the message; a webhook receives it as webhook-id'),
  channelId: shape.id,
  channel: shape.text('The name of the channel', 'on-call'),
  incidentId: shape.nullable(
    shape.uuid(),
    'The incident of the first notification in the message; null if the incident was deleted',
  ),
  kind: shape.text('The kind of the first notification in the message: opened, resolved, reminder, …', 'opened'),
  count: shape.count('The number of notifications in the message. A message with several notifications is a digest', 1),
  status: shape.choice(MESSAGE_STATUSES, 'The state of the message: pending, delivered or given up', 'delivered'),
  attempts: shape.count('The number of attempts to send the message', 1),
  createdAt: shape.instant('When the first notification in the message was created'),
  nextAttemptAt: shape.nullable(shape.instant(), 'The time of the next attempt; null after the last attempt', null),
  endedAt: shape.nullable(shape.instant(), 'When the message was delivered or given up'),
  sent: shape.nullable(
    sentShape,
    'The message as it was sent, with the state that justified it; null before the first attempt',
    null,
  ),
  answerStatus: shape.nullable(shape.count(), 'The HTTP status of the last response; null if there was none', 200),
  detail: shape.nullable(v.string(), 'Why the last attempt failed', null),
})

const showDelivery = shape.shower(deliveryShape)

export const channelRoutes: readonly Route[] = [
  rest(`GET ${PATH}`, {
    summary: 'List channels, oldest first',
    scope: 'admin',
    query: v.object(pageParameters),
    answers: success(shape.page(channelShape), 'A page of channels; their secrets are not shown'),
    handle: (call) =>
      answerPage(call, async (page) => {
        const { items, total } = await call.own.read(listChannels, page)
        return { items: await Promise.all(items.map((channel) => showChannel(call, channel))), total }
      }),
  }),
  rest(`POST ${PATH}`, {
    summary: 'Create a channel',
    scope: 'admin',
    body: newChannelBody,
    answers: {
      ...success(createdChannelShape, 'The channel', 201),
      ...refusals({
        409: 'A channel with this name exists, the organization has the maximum number of channels, or the server cannot send mail',
      }),
    },
    handle: async (call) => {
      const { id, secret, warnings } = await addChannel(call, call.body)
      const channel = await requireChannel({ ...call, id })
      return json({ ...(await showChannel(call, channel, warnings)), secret }, 201)
    },
  }),
  rest(`GET ${PATH}/:id`, {
    summary: 'Show a channel',
    scope: 'admin',
    answers: success(channelShape, 'The channel; its secrets are not shown'),
    handle: async (call) => json(await showChannel(call, await requireChannel(call))),
  }),
  rest(`PATCH ${PATH}/:id`, {
    summary: 'Change a channel',
    description:
      'Omitted fields stay unchanged. Changing the URL or enabling the channel sends its pending messages immediately.',
    scope: 'admin',
    body: channelChangeBody,
    answers: { ...success(channelShape, 'The channel'), ...refusals({ 409: 'A channel with this name exists' }) },
    handle: async (call) => {
      const { warnings } = await editChannel(call, await requireChannel(call), call.body)
      return json(await showChannel(call, await requireChannel(call), warnings))
    },
  }),
  rest(`DELETE ${PATH}/:id`, {
    summary: 'Delete a channel with its deliveries',
    scope: 'admin',
    answers: { 204: { description: 'The channel is deleted, and its pending messages are not sent', body: null } },
    handle: async (call) => {
      const { id } = await requireChannel(call)
      await call.own.run(removeChannel, id)
      return DONE
    },
  }),
  rest(`POST ${PATH}/:id/test`, {
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
  rest(`POST ${PATH}/:id/rotate-secret`, {
    summary: 'Create a new signing secret for a webhook',
    scope: 'admin',
    answers: {
      ...success(
        channelSecretShape,
        'The new secret. For 24 hours, messages are signed with both the old and the new secret',
      ),
      ...refusals({ 409: 'The channel is not a webhook, so it has no secret' }),
    },
    handle: async (call) => {
      const { id } = await requireChannel(call)
      return json({ secret: await call.own.run(rotateSecret, id) })
    },
  }),
  rest('GET /api/deliveries', {
    summary: 'List messages to channels, newest first',
    scope: 'read',
    query: v.object({
      ...pageParameters,
      channelId: shape.optional(uuidField, 'Only messages to this channel'),
      status: shape.optional(wordParameter(MESSAGE_STATUSES), 'Only messages with this status'),
    }),
    answers: success(shape.page(deliveryShape), 'A page of messages from the last 30 days'),
    handle: (call) =>
      answerPage(
        call,
        (page) => call.own.read(listMessages, call.query, page),
        ({ sent, dueAt, ...message }) =>
          showDelivery({
            ...message,
            sent: sent && showSent({ ...sent, firing: [...sent.firing] }),
            nextAttemptAt: dueAt,
          }),
      ),
  }),
]

function requireChannel({ own, id }: Call): Promise<ChannelRecord> {
  return required(own.read(findChannel, id), 'channel', `GET ${PATH}`)
}

/** @param more warnings to return in addition to the warnings about the rules */
async function showChannel(
  call: Call,
  channel: ChannelRecord,
  more: readonly string[] = [],
): Promise<v.InferInput<typeof channelShape>> {
  const { settings, deliveredAt: lastDelivery } = channel
  const warnings = [...more, ...(await listChannelWarnings(call, settings))]
  return showFields({
    ...channel,
    ...settings,
    rules: settings.rules.map((one) => ({ ...one })),
    lastDelivery,
    warnings,
  })
}
