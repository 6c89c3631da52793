/** Converts between the channel form and the API's request body. */

import { IncmonError } from '../../domain/error.ts'
import { type Channel, type ChannelSettings, DEFAULT_CHANNEL } from '../../domain/notification/channel.ts'
import type { ChannelKind } from '../../domain/notification/format.ts'
import { NOTIFICATION_KINDS } from '../../domain/notification/kind.ts'
import type { QuietHours, Rule } from '../../domain/notification/rule.ts'
import { formatMatchers, parseMatchers } from '../../domain/silence/matcher.ts'
import { WEEKDAYS } from '../../domain/time-zone.ts'
import type { IconName } from '../kit/symbols.ts'
import type { FieldNames } from '../visit/apply.ts'
import { type Form, numberOrText } from '../visit/form.ts'

export type ChannelView = Channel & { readonly warnings: readonly string[] }

/** The fields of a rule as entered by the user. */
export type RuleForm = {
  readonly events: readonly string[]
  readonly severity: string
  readonly services: string
  readonly namespaces: string
  /** Matchers in Alertmanager's syntax. */
  readonly matchers: string
  readonly isQuiet: boolean
  readonly from: string
  readonly to: string
  readonly zone: string
  readonly weekdays: readonly string[]
}

/**
 * The fields of a channel as entered by the user. `address` contains the URL or the email addresses; `chat` is used
 * only by Telegram.
 */
export type ChannelForm = {
  readonly name: string
  readonly address: string
  readonly chat: string
  readonly zone: string
  readonly remindAfter: string
  readonly remindEvery: string
  readonly escalateAfter: string
  readonly rules: readonly RuleForm[]
}

type Kind = {
  readonly name: string
  readonly icon: IconName
  /** The label of the URL field, an example value, and where to find the URL. */
  readonly label: string
  readonly example: string
  readonly hint: string
}

export const KINDS: Readonly<Record<ChannelKind, Kind>> = {
  slack: {
    ...{ name: 'Slack', icon: 'message', label: 'Webhook URL', example: 'https://hooks.slack.com/services/…' },
    hint: 'The incoming webhook of a channel in Slack, Mattermost or Rocket.Chat.',
  },
  discord: {
    ...{ name: 'Discord', icon: 'message', label: 'Webhook URL', example: 'https://discord.com/api/webhooks/…' },
    hint: 'Discord shows the URL under Edit channel, Integrations, Webhooks.',
  },
  teams: {
    ...{ name: 'Teams', icon: 'message', label: 'Workflow URL', example: 'https://….logic.azure.com/workflows/…' },
    hint: 'The URL of a workflow with the trigger “When a Teams webhook request is received”.',
  },
  telegram: {
    ...{ name: 'Telegram', icon: 'message', label: 'Bot token', example: '123456789:AAE…' },
    hint: 'BotFather shows the token after /newbot.',
  },
  ntfy: {
    ...{ name: 'ntfy', icon: 'bell', label: 'Topic URL', example: 'https://ntfy.sh/my-secret-topic' },
    hint: 'Anyone who knows the topic can read the messages. To use a token, write https://:tk_…@ntfy.sh/my-topic.',
  },
  mail: {
    ...{ name: 'Mail', icon: 'file', label: 'Email addresses', example: 'team@example.com, ops@example.com' },
    hint: 'Up to 20 addresses, separated by commas.',
  },
  webhook: {
    ...{ name: 'Webhook', icon: 'link', label: 'URL', example: 'https://example.com/hook' },
    hint: 'The URL receives signed JSON (Standard Webhooks). The signing secret is shown once, after you create the channel.',
  },
}

const MAX_RULES = 50
const NIGHT = { from: '22:00', to: '07:00' } as const

/** Returns the labels of the form fields for this kind of channel. */
export function channelFields(kind: ChannelKind): FieldNames {
  const { label } = KINDS[kind]
  return {
    name: ['name', 'Name'],
    url: ['address', label],
    to: ['address', label],
    timeZone: ['zone', 'Time zone for times in messages'],
    remindAfter: ['remindAfter', 'Remind after'],
    remindEvery: ['remindEvery', 'Then every'],
    escalateAfter: ['escalateAfter', 'Escalate after'],
    'rules[].minSeverity': ['rule-#-severity', 'Rule #, severity'],
    'rules[].services': ['rule-#-services', 'Rule #, services'],
    'rules[].services[]': ['rule-#-services', 'Rule #, services'],
    'rules[].namespaces': ['rule-#-namespaces', 'Rule #, namespaces'],
    'rules[].namespaces[]': ['rule-#-namespaces', 'Rule #, namespaces'],
    'rules[].matchers': ['rule-#-matchers', 'Rule #, labels'],
    'rules[].matchers[]': ['rule-#-matchers', 'Rule #, labels'],
    'rules[].quietHours.from': ['rule-#-from', 'Rule #, quiet from'],
    'rules[].quietHours.to': ['rule-#-to', 'Rule #, quiet to'],
    'rules[].quietHours.timeZone': ['rule-#-zone', 'Rule #, time zone'],
  }
}

/** Returns the form for a channel. Without a channel, returns an empty form with the visitor's time zone. */
export function channelForm(
  zone: string,
  stored?: { readonly name: string; readonly settings: ChannelSettings; readonly address: string },
): ChannelForm {
  const empty = { name: '', settings: { ...DEFAULT_CHANNEL, timeZone: zone }, address: '' }
  const { name, settings, address } = stored ?? empty
  const rules = settings.rules.map((rule) => ruleForm(zone, rule))
  return {
    ...{ name, address, chat: '', zone: settings.timeZone },
    remindAfter: String(settings.remindAfter),
    remindEvery: String(settings.remindEvery),
    escalateAfter: String(settings.escalateAfter),
    rules: rules.length === 0 ? [ruleForm(zone)] : rules,
  }
}

/**
 * Returns the form for a rule. Without a rule, returns a form that matches all events at any time. `zone` is the default
 * time zone for quiet hours.
 */
export function ruleForm(zone: string, rule: Rule = {}): RuleForm {
  const { events = NOTIFICATION_KINDS, minSeverity = '', services = [], namespaces = [] } = rule
  const { matchers = [], quietHours } = rule
  const { from, to, timeZone, weekdays = WEEKDAYS }: QuietHours = quietHours ?? { ...NIGHT, timeZone: zone }
  return {
    ...{ events, severity: minSeverity, services: services.join(', '), namespaces: namespaces.join(', ') },
    matchers: matchers.length === 0 ? '' : formatMatchers(matchers).slice(1, -1),
    ...{ isQuiet: Boolean(quietHours), from, to, zone: timeZone, weekdays },
  }
}

/** Returns the submitted form. */
export function readChannelForm(form: Form): ChannelForm {
  const count = Math.min(MAX_RULES, Math.max(1, Number(form.text('rules')) || 1))
  return {
    ...form.record(['name', 'address', 'chat', 'remindAfter', 'remindEvery', 'escalateAfter']),
    zone: form.zone('zone'),
    rules: Array.from({ length: count }, (_, index) => readRule(form, index)),
  }
}

function readRule(form: Form, index: number): RuleForm {
  const text = (field: string) => form.text(`rule-${index}-${field}`)
  const texts = (field: string) => form.texts(`rule-${index}-${field}`)
  return {
    ...{ events: texts('events'), severity: text('severity'), services: text('services') },
    ...{ namespaces: text('namespaces'), matchers: text('matchers') },
    ...{ isQuiet: text('quiet') === '1', from: text('from'), to: text('to') },
    ...{ zone: form.zone(`rule-${index}-zone`), weekdays: texts('weekdays') },
  }
}

/** Returns the request body for a submitted form. An empty URL is omitted, so that the stored URL is kept. */
export function channelBody(kind: ChannelKind, form: ChannelForm) {
  const rules = form.rules.map((rule, index) => ({ ...ruleBody(rule), ...matchersOf(rule, index) }))
  const isEverything = rules.length === 1 && Object.keys(rules[0] ?? {}).length === 0
  return {
    name: form.name,
    kind,
    ...addressOf(kind, form),
    timeZone: form.zone,
    remindAfter: numberOrText(form.remindAfter),
    remindEvery: numberOrText(form.remindEvery),
    escalateAfter: numberOrText(form.escalateAfter),
    rules: isEverything ? [] : rules,
  }
}

function addressOf(kind: ChannelKind, { address, chat }: ChannelForm) {
  if (address === '') return {}
  if (kind === 'mail') return { to: address }
  if (kind !== 'telegram' || address.includes('/')) return { url: address }
  return { url: `https://api.telegram.org/bot${address}/sendMessage?chat_id=${encodeURIComponent(chat)}` }
}

function ruleBody({ events, severity, services, namespaces, ...quiet }: RuleForm) {
  const { isQuiet, from, to, zone, weekdays } = quiet
  const isEveryDay = weekdays.length === 0 || weekdays.length === WEEKDAYS.length
  const days = isEveryDay ? {} : { weekdays }
  return {
    ...(events.length === NOTIFICATION_KINDS.length ? {} : { events }),
    ...(severity === '' ? {} : { minSeverity: severity }),
    ...(namesOf(services).length === 0 ? {} : { services: namesOf(services) }),
    ...(namesOf(namespaces).length === 0 ? {} : { namespaces: namesOf(namespaces) }),
    ...(isQuiet ? { quietHours: { from, to, timeZone: zone, ...days } } : {}),
  }
}

/** @throws IncmonError `invalid` if the text has no matchers in Alertmanager's syntax */
function matchersOf({ matchers }: RuleForm, index: number) {
  if (matchers.trim() === '') return {}
  try {
    return { matchers: parseMatchers(matchers) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new IncmonError('invalid', error.message, [{ path: `rules[${index}].matchers`, message: error.message }])
  }
}

function namesOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}
