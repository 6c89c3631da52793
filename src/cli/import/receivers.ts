/** Converts the integrations of a receiver to channels. */
import type { ChannelKind } from '../../domain/notification/format.ts'
import type { AddNote, Path, PlannedChannel } from './alertmanager-file.ts'
import { recordsOf, textOf } from './fields.ts'

type Fields = Readonly<Record<string, unknown>>
type Target = Pick<PlannedChannel, 'url' | 'to'> | string

/** For each integration: the kind of channel and its address, or why there is none. */
const INTEGRATIONS: Readonly<Record<string, readonly [ChannelKind, (config: Fields, global: Fields) => Target]>> = {
  webhook_configs: ['webhook', ({ url }) => target(url, 'url')],
  slack_configs: ['slack', ({ api_url }, { slack_api_url }) => target(api_url ?? slack_api_url, 'api_url')],
  discord_configs: ['discord', ({ webhook_url }) => target(webhook_url, 'webhook_url')],
  msteams_configs: ['teams', ({ webhook_url }) => target(webhook_url, 'webhook_url')],
  msteamsv2_configs: ['teams', ({ webhook_url }) => target(webhook_url, 'webhook_url')],
  mattermost_configs: ['slack', ({ webhook_url }) => target(webhook_url, 'webhook_url')],
  rocketchat_configs: ['slack', ({ webhook_url }) => target(webhook_url, 'webhook_url')],
  email_configs: ['mail', ({ to }) => (textOf(to) === null ? MISSING('to') : { to: String(to) })],
  telegram_configs: ['telegram', telegram],
}

const NO_HTTP_CONFIG = 'http_config was not imported: write a user and a password into the URL of the channel'
const MISSING = (name: string) => `${name} is missing or is read from a file; add the channel with "incmon channel add"`

function target(url: unknown, name: string): Target {
  const text = textOf(url)
  return text === null ? MISSING(name) : { url: text }
}

function telegram({ bot_token, chat_id, api_url }: Fields): Target {
  const [token, base] = [textOf(bot_token), textOf(api_url) ?? 'https://api.telegram.org']
  if (token === null) return MISSING('bot_token')
  return { url: `${base}/bot${token}/sendMessage?chat_id=${encodeURIComponent(String(chat_id))}` }
}

/** Returns the channels of a receiver, named after the receiver and numbered from the second one. */
export function channelsOf(receiver: Fields, global: Fields, path: Path, note: AddNote) {
  const channels: Omit<PlannedChannel, 'rules'>[] = []
  const unknown = Object.keys(receiver).filter((name) => name !== 'name' && !(name in INTEGRATIONS))
  for (const name of unknown)
    note([...path, name], `${name} of the receiver ${receiver.name} was not imported: incmon has no such channel`)
  for (const [name, [kind, targetOf]] of Object.entries(INTEGRATIONS)) {
    for (const [index, config] of recordsOf(receiver[name]).entries()) {
      const at = [...path, name, index]
      const found = targetOf(config, global)
      if (typeof found === 'string') {
        note(at, `${name} of the receiver ${receiver.name} was not imported: ${found}`)
        continue
      }
      if ('http_config' in config) note([...at, 'http_config'], NO_HTTP_CONFIG)
      const suffix = channels.length === 0 ? '' : ` ${channels.length + 1}`
      channels.push({ name: `${receiver.name}${suffix}`, kind, ...found })
    }
  }
  return channels
}
