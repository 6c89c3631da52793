/** Validates and stores channels for /api/channels and the settings pages. */
import * as v from 'valibot'
import { changeChannel, createChannel } from '../../../actions/channels.ts'
import { IncmonError, invalidField } from '../../../domain/error.ts'
import { CHANNEL_KINDS, type ChannelKind } from '../../../domain/notification/format.ts'
import { currentKind, NOTIFICATION_KINDS } from '../../../domain/notification/kind.ts'
import { SEVERITIES } from '../../../domain/severity.ts'
import { WEEKDAYS } from '../../../domain/time-zone.ts'
import type { ChannelRecord } from '../../../store/notification/channels.ts'
import { listServices } from '../../../store/service/services.ts'
import { textField, wholeNumberField } from '../../middleware/body.ts'
import { wordParameter } from '../../middleware/query.ts'
import type { Call, HandlerParts } from '../../route.ts'
import * as shape from '../../shapes.ts'
import { matcherShape } from '../silences.ts'

const MAX_NAME = 100
const MAX_TARGET = 2_000
const MAX_RULES = 50
const MAX_NAMES = 200

const URL_TEXT =
  'The URL: an incoming webhook of Slack, Mattermost, Rocket.Chat, Discord or Teams, https://ntfy.sh/TOPIC, or https://api.telegram.org/botTOKEN/sendMessage?chat_id=CHAT. The URL is not shown again'

const names = (what: string, example: string) =>
  shape.optional(v.pipe(v.array(textField(253)), v.maxLength(MAX_NAMES, `at most ${MAX_NAMES}`)), what, [example])
const quietHours = v.object(
  {
    from: shape.described(textField(5), 'The time of day at which quiet hours start', '22:00'),
    to: shape.described(
      textField(5),
      'The time of day at which quiet hours end. If this time is not later than from, quiet hours end on the next day',
      '07:00',
    ),
    timeZone: shape.described(textField(100), 'The time zone of from and to', 'Europe/Berlin'),
    weekdays: shape.optional(
      v.array(wordParameter(WEEKDAYS)),
      'The days on which quiet hours start; every day if omitted',
      ['saturday'],
    ),
  },
  'expected an object with from, to and timeZone',
)
const rule = v.object(
  {
    events: shape.optional(
      v.array(v.pipe(wordParameter([...NOTIFICATION_KINDS, 'monitoring']), v.transform(currentKind))),
      'The incident events to report; all if omitted',
      ['opened'],
    ),
    minSeverity: shape.optional(wordParameter(SEVERITIES), 'Only incidents of this severity or worse', 'error'),
    services: names('Names or IDs of services; all if omitted', 'checkout'),
    namespaces: names('Namespaces; all if omitted', 'shop'),
    matchers: shape.optional(
      v.array(matcherShape, 'expected a list of matchers'),
      'Matchers as in silences. All of them must match one alert of the incident; all incidents if omitted',
    ),
    quietHours: shape.optional(
      v.nullable(quietHours),
      'During quiet hours, messages are held back. They are sent as one message when quiet hours end',
      null,
    ),
  },
  'expected an object',
)
const rulesField = v.pipe(v.array(rule, 'expected a list of rules'), v.maxLength(MAX_RULES, `at most ${MAX_RULES}`))
const minutes = (what: string, example: number) => shape.optional(wholeNumberField('minutes', 0, 10_080), what, example)
const settings = {
  rules: shape.optional(
    rulesField,
    'A channel receives a notification if any of its rules matches. A channel without rules receives all notifications',
    [],
  ),
  timeZone: shape.optional(textField(100), 'The time zone for times in messages', 'Europe/Berlin'),
  remindAfter: minutes('Minutes until the first reminder about an unacknowledged incident; 0: never', 10),
  remindEvery: minutes('Minutes between further reminders; 0: never', 30),
  escalateAfter: minutes(
    'Send only incidents that are still unacknowledged after this many minutes; 0: send all incidents immediately',
    0,
  ),
}
const nameField = (example: string) => shape.described(textField(MAX_NAME), 'A unique name', example)
const urlField = shape.optional(textField(MAX_TARGET), URL_TEXT, 'https://hooks.slack.com/services/T0/B0/x')
const toField = shape.optional(
  textField(MAX_TARGET),
  'For mail channels: up to 20 email addresses, separated by commas',
  'team@example.com',
)

export const newChannelBody = v.object({
  name: nameField('on-call'),
  kind: shape.described(wordParameter(CHANNEL_KINDS), 'The kind of receiver', 'slack'),
  url: urlField,
  to: toField,
  ...settings,
})
export const channelChangeBody = v.object({
  name: v.optional(nameField('night shift')),
  url: urlField,
  to: toField,
  enabled: shape.optional(v.boolean('expected true or false'), 'Whether the channel sends messages', true),
  ...settings,
})

/**
 * Creates a channel. Returns the channel's id, its signing secret (null unless it is a webhook), and warnings about the
 * URL.
 * @throws IncmonError `invalid`; `conflict` if the name is taken or the server cannot send email
 */
export async function addChannel(
  { own, server }: Pick<Call, 'own' | 'server'>,
  { url, to, ...wanted }: v.InferOutput<typeof newChannelBody>,
) {
  const [field, target] = wanted.kind === 'mail' ? ['to', to] : ['url', url]
  if (target === undefined) throw invalidField('body', field, 'missing; this kind of channel requires it')
  if (wanted.kind === 'mail' && !server.notifier.hasMailServer()) {
    throw new IncmonError(
      'conflict',
      'this server is not configured to send email: set smtp-url and mail-from, then send SIGHUP to the server',
    )
  }
  const warnings = await checkTarget(server, wanted.kind, target)
  return { ...(await own.run(createChannel, { ...wanted, target })), warnings }
}

/**
 * Changes the given fields of a channel and returns warnings about a new URL.
 * @throws IncmonError `invalid`; `conflict` if the name is taken
 */
export async function editChannel(
  { own, server }: Pick<Call, 'own' | 'server'>,
  { id, kind }: Pick<ChannelRecord, 'id' | 'kind'>,
  { url, to, ...change }: v.InferOutput<typeof channelChangeBody>,
) {
  const target = kind === 'mail' ? to : url
  const warnings = target === undefined ? [] : await checkTarget(server, kind, target)
  await own.run(changeChannel, id, { ...change, target })
  return { warnings }
}

/** Returns warnings about a URL. @throws IncmonError `invalid` if the URL can never work */
async function checkTarget({ notifier }: HandlerParts['server'], kind: ChannelKind, target: string): Promise<string[]> {
  const { refusal, warning } = await notifier.checkTarget(kind, target)
  if (refusal !== null) throw invalidField('body', 'url', refusal)
  return warning === null ? [] : [warning]
}

/** Returns warnings about likely mistakes, such as rules that match nothing or name unknown services or namespaces. */
export async function listChannelWarnings(
  { deps, own }: Pick<Call, 'deps' | 'own'>,
  { rules }: ChannelRecord['settings'],
): Promise<string[]> {
  const empty = rules.flatMap(({ events }, index) =>
    events?.length === 0 ? [`rule ${index + 1} has an empty list of events, so it never sends anything`] : [],
  )
  if (rules.every(({ services, namespaces }) => !services && !namespaces)) return empty
  const known = await own.read(listServices, deps.now(), true)
  const isService = (text: string) => known.some(({ id, name }) => id === text || name === text)
  const isNamespace = (text: string) => known.some(({ namespace }) => namespace === text)
  const unknown = rules.flatMap(({ services, namespaces }, index) => [
    ...(services && !services.some(isService) ? [`none of the services in rule ${index + 1} exist`] : []),
    ...(namespaces && !namespaces.some(isNamespace) ? [`none of the namespaces in rule ${index + 1} exist`] : []),
  ])
  return [...empty, ...unknown]
}
