/** /api/channels: where messages about incidents are sent. */
import * as v from 'valibot'
import { IncmonError } from '../../domain/error.ts'
import { CHANNEL_KINDS } from '../../domain/notification/format.ts'
import { NEWS_KINDS } from '../../domain/notification/news.ts'
import { SEVERITIES } from '../../domain/severity.ts'
import { WEEKDAYS } from '../../domain/time-zone.ts'
import { changeChannel, createChannel, removeChannel, rotateSecret } from '../../operations/channels.ts'
import { type ChannelRecord, findChannel, listChannels } from '../../store/channels.ts'
import { listServices } from '../../store/services.ts'
import type { Db } from '../../store/sqlite/open.ts'
import { textField } from '../middleware/body.ts'
import { notFound } from '../middleware/problem.ts'
import { pageOf, pageParameters, wordParameter } from '../middleware/query.ts'
import { DONE, json } from '../middleware/reply.ts'
import { type Call, type Route, rest } from '../route.ts'
import {
  answerList,
  countShape,
  described,
  idShape,
  instantShape,
  listShape,
  refusals,
  shownInstant,
  success,
} from './shapes.ts'

const PATH = '/api/channels'
const MAX_NAME = 100
const MAX_TARGET = 2_000
const MAX_RULES = 50
const MAX_NAMES = 200

const URL_TEXT =
  'The address: an incoming webhook of Slack, Mattermost, Rocket.Chat, Discord or Teams, https://ntfy.sh/TOPIC, or https://api.telegram.org/botTOKEN/sendMessage?chat_id=CHAT. It is not shown again'

const names = (what: string, example: string) =>
  v.optional(
    described(v.pipe(v.array(textField(253)), v.maxLength(MAX_NAMES, `at most ${MAX_NAMES}`)), what, [example]),
  )
const quietHours = v.object(
  {
    from: described(textField(5), 'The clock time at which the quiet hours begin', '22:00'),
    to: described(textField(5), 'The clock time at which they end; on the next day if it is not later', '07:00'),
    timeZone: described(textField(100), 'The time zone of the clock', 'Europe/Berlin'),
    weekdays: v.optional(
      described(v.array(wordParameter(WEEKDAYS)), 'The days on which they begin; left out: every day', ['saturday']),
    ),
  },
  'expected an object with from, to and timeZone',
)
const rule = v.object(
  {
    events: v.optional(described(v.array(wordParameter(NEWS_KINDS)), 'Which news; left out: all', ['opened'])),
    minSeverity: v.optional(described(wordParameter(SEVERITIES), 'This severity or worse', 'error')),
    services: names('Names or IDs of services; left out: all', 'checkout'),
    namespaces: names('Namespaces; left out: all', 'shop'),
    quietHours: v.optional(
      described(v.nullable(quietHours), 'Messages wait for the end of these hours and are sent as one', null),
    ),
  },
  'expected an object',
)
const rulesField = v.pipe(v.array(rule, 'expected a list of rules'), v.maxLength(MAX_RULES, `at most ${MAX_RULES}`))
const minutes = (what: string, example: number) => {
  const message = 'expected a whole number of minutes from 0 to 10080'
  const field = v.pipe(v.number(message), v.integer(message), v.minValue(0, message), v.maxValue(10_080, message))
  return v.optional(described(field, what, example))
}
const settings = {
  rules: v.optional(
    described(rulesField, 'A channel gets what any of its rules wants; no rule means all incidents', []),
  ),
  timeZone: v.optional(described(textField(100), 'The time zone of the times in messages', 'Europe/Berlin')),
  remindAfter: minutes('Remind of an incident that nobody has acknowledged after so many minutes; 0: never', 10),
  remindEvery: minutes('Remind again every so many minutes; 0: never', 30),
  escalateAfter: minutes('Send only incidents that nobody has acknowledged after so many minutes; 0: all at once', 0),
}
const nameField = (example: string) => described(textField(MAX_NAME), 'Unlike that of every other channel', example)
const urlField = v.optional(described(textField(MAX_TARGET), URL_TEXT, 'https://hooks.slack.com/services/T0/B0/x'))
const toField = v.optional(
  described(textField(MAX_TARGET), 'For mail: up to 20 addresses, separated by commas', 'team@example.com'),
)

const channelShape = v.object({
  id: idShape,
  name: described(v.string(), 'Its name', 'on-call'),
  kind: described(v.picklist(CHANNEL_KINDS), 'What receives the messages', 'slack'),
  target: described(v.string(), 'Its address, with secret parts replaced', 'https://hooks.slack.com/services/***'),
  enabled: described(v.boolean(), 'Whether it sends; a receiver that answers 410 disables its channel', true),
  rules: described(v.array(v.record(v.string(), v.unknown())), 'As they were sent', []),
  timeZone: described(v.string(), 'The time zone of the times in messages', 'UTC'),
  remindAfter: described(countShape, 'Minutes until the first reminder; 0: never', 10),
  remindEvery: described(countShape, 'Minutes between reminders; 0: never', 30),
  escalateAfter: described(countShape, 'Minutes without acknowledgement before it is told; 0: at once', 0),
  lastDelivery: described(v.nullable(instantShape), 'When a message was last delivered', null),
  failing: described(v.nullable(v.string()), 'Why the last attempt failed; null if it succeeded', null),
  failingSince: described(v.nullable(instantShape), 'Since when all attempts have failed', null),
  createdAt: described(instantShape, 'When it was created'),
  warnings: described(v.array(v.string()), 'What may be wrong with its rules', []),
})
const secretShape = described(
  v.nullable(v.string()),
  'For a webhook: the secret that signs messages (Standard Webhooks), shown this once; otherwise null',
  `whsec_${'x'.repeat(43)}=`,
)
const outcomeShape = v.object({
  delivered: described(v.boolean(), 'Whether the receiver took the message', true),
  status: described(v.nullable(countShape), 'The HTTP status of its answer; null if there was none', 200),
  detail: described(v.nullable(v.string()), 'What it answered, or why it could not be reached', 'ok'),
})

export const channelRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: PATH,
    summary: 'Channels, oldest first',
    scope: 'admin',
    query: v.object(pageParameters),
    answers: success(listShape(channelShape), 'A page of channels; their secrets are not shown'),
    handle: (call) => {
      const page = pageOf(call.query)
      return answerList(call, page, listChannels(call.deps.db, call.identity.organizationId, page), shown(call))
    },
  }),
  rest({
    method: 'POST',
    path: PATH,
    summary: 'Create a channel',
    scope: 'admin',
    body: v.object({
      name: nameField('on-call'),
      kind: described(wordParameter(CHANNEL_KINDS), 'What receives the messages', 'slack'),
      url: urlField,
      to: toField,
      ...settings,
    }),
    answers: {
      ...success(v.object({ ...channelShape.entries, secret: secretShape }), 'The channel', 201),
      ...refusals(409),
    },
    handle: (call) => {
      const { deps, surroundings, identity, body } = call
      const { url, to, ...wanted } = body
      const target = wanted.kind === 'mail' ? to : url
      if (target === undefined) throw missing(wanted.kind === 'mail' ? 'to' : 'url')
      if (wanted.kind === 'mail' && !surroundings.notifier.hasMailServer()) {
        throw new IncmonError('conflict', 'the server sends no mail yet: set smtp-url and mail-from, then restart it')
      }
      const { id, secret } = createChannel(deps, identity.organizationId, { ...wanted, target })
      return json({ ...shown(call)(requireChannel({ ...call, id })), secret }, 201)
    },
  }),
  rest({
    method: 'GET',
    path: `${PATH}/:id`,
    summary: 'One channel',
    scope: 'admin',
    answers: success(channelShape, 'The channel; its secrets are not shown'),
    handle: (call) => json(shown(call)(requireChannel(call))),
  }),
  rest({
    method: 'PATCH',
    path: `${PATH}/:id`,
    summary: 'Change a channel',
    description:
      'What is not named stays as it is. A new address, or a channel that is enabled again, tries at once what waits for it.',
    scope: 'admin',
    body: v.object({
      name: v.optional(nameField('night shift')),
      url: urlField,
      to: toField,
      enabled: v.optional(described(v.boolean('expected true or false'), 'false: it sends nothing', true)),
      ...settings,
    }),
    answers: { ...success(channelShape, 'The channel'), ...refusals(409) },
    handle: (call) => {
      const { url, to, ...change } = call.body
      const { id, kind } = requireChannel(call)
      const target = kind === 'mail' ? to : url
      changeChannel(call.deps, call.identity.organizationId, id, { ...change, target })
      return json(shown(call)(requireChannel(call)))
    },
  }),
  rest({
    method: 'DELETE',
    path: `${PATH}/:id`,
    summary: 'Delete a channel with its deliveries',
    scope: 'admin',
    answers: { 204: { description: 'It is gone, and what waited for it is not sent', body: null } },
    handle: (call) => {
      removeChannel(call.deps, call.identity.organizationId, requireChannel(call).id)
      return DONE
    },
  }),
  rest({
    method: 'POST',
    path: `${PATH}/:id/test`,
    summary: 'Send a test message now',
    scope: 'admin',
    answers: success(outcomeShape, 'What the receiver answered, at most 1 kB of it'),
    handle: async (call) => {
      const { status, detail } = await call.surroundings.notifier.test(requireChannel(call))
      return json({ delivered: status !== null && status >= 200 && status < 300, status, detail })
    },
  }),
  rest({
    method: 'POST',
    path: `${PATH}/:id/rotate-secret`,
    summary: 'Make a new signing secret for a webhook',
    scope: 'admin',
    answers: {
      ...success(v.object({ secret: secretShape }), 'The new secret; for 24 hours messages are signed with both'),
      ...refusals(409),
    },
    handle: (call) => {
      const { deps, identity } = call
      return json({ secret: rotateSecret(deps, identity.organizationId, requireChannel(call).id) })
    },
  }),
]

function missing(field: string): IncmonError {
  const message = 'missing; it must be sent for this kind of channel'
  return new IncmonError('invalid', `body: ${field}: ${message}`, [{ path: field, message }])
}

function requireChannel({ deps, identity, id }: Call<unknown, unknown>): ChannelRecord {
  const channel = findChannel(deps.db, identity.organizationId, id)
  if (!channel) throw notFound('channel', `GET ${PATH}`)
  return channel
}

function shown({ deps, identity }: Call<unknown, unknown>) {
  return (channel: ChannelRecord): v.InferInput<typeof channelShape> => {
    const { id, name, kind, target, enabled, settings: set, failing, failingSince, deliveredAt, createdAt } = channel
    const { rules, ...rest } = set
    return {
      ...{ id, name, kind, target, enabled },
      rules: rules.map((one) => ({ ...one })),
      ...rest,
      lastDelivery: shownInstant(deliveredAt),
      failing,
      failingSince: shownInstant(failingSince),
      createdAt: shownInstant(createdAt),
      warnings: warningsOf(deps.db, identity.organizationId, set.rules, deps.now()),
    }
  }
}

/** A rule that names only services or namespaces that do not exist is more likely a typing error than a plan. */
function warningsOf(db: Db, organizationId: number, rules: ChannelRecord['settings']['rules'], now: number): string[] {
  if (rules.every(({ services, namespaces }) => !services && !namespaces)) return []
  const known = listServices(db, organizationId, now, true)
  const isService = (text: string) => known.some(({ id, name }) => id === text || name === text)
  const isNamespace = (text: string) => known.some(({ namespace }) => namespace === text)
  return rules.flatMap(({ services, namespaces }, index) => [
    ...(services && !services.some(isService) ? [`rule ${index + 1} names no service that exists`] : []),
    ...(namespaces && !namespaces.some(isNamespace) ? [`rule ${index + 1} names no namespace that exists`] : []),
  ])
}
