/** Data and form values for the channel pages. Times are Unix times in milliseconds. */
import type { Channel } from '../../domain/notification/channel.ts'
import type { ChannelKind } from '../../domain/notification/format.ts'
import type { IconName } from '../kit/symbols.ts'

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
