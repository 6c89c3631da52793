/** Formats request bodies for each kind of channel. */

import { figuresOf } from '../incident/lasted.ts'
import { problemAt } from '../incident/problem.ts'
import { formatInstant } from '../instant.ts'
import type { Severity } from '../severity.ts'
import {
  escapeDiscord,
  escapeHtml,
  escapeMarkdown,
  escapePlain,
  escapeSlack,
  escapeTelegram,
  withoutTurns,
} from './escape.ts'
import type { MessageGroup } from './group-words.ts'
import type { MessageAlert, MessageContext, MessageItem, MessageText } from './words.ts'

export const CHANNEL_KINDS = ['slack', 'discord', 'teams', 'telegram', 'webhook', 'ntfy', 'mail'] as const
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

/** An HTTP request without its URL, which is added when the request is sent. */
export type ChannelRequest = { readonly body: string; readonly headers: Readonly<Record<string, string>> }

const JSON_TYPE = { 'content-type': 'application/json' }

/** The lowest text limit among Slack, Discord, Teams and Telegram. */
const MAX_TEXT = 3_000
/** The number of characters reserved for the links at the end of a truncated text. */
const MAX_LINKS = 700
const MAX_ACTIONS = 3
/** The maximum number of alerts in a message. The message contains the true count, too. */
export const MAX_ALERTS = 20

/**
 * Formats a message for a Slack incoming webhook. Mattermost and Rocket.Chat accept the same format, but they support
 * only attachments and links, not blocks and buttons.
 */
export function formatSlack({ tone, symbol, title, body, links }: MessageText): ChannelRequest {
  const text = `${symbol} ${escapeSlack(title)}`
  const attachment = {
    color: TONES[tone].colour,
    fallback: cut(escapePlain(`${title} ${body}`.trim())),
    text: withLinks(escapeSlack(body), links, (text, url) => `<${url}|${escapeSlack(text)}>`),
  }
  return posted({ text: cut(text), attachments: attachment.text === '' ? [] : [attachment] })
}

/** Formats a message for a Discord webhook. Mentions in the text are disabled. */
export function formatDiscord({ tone, symbol, title, body, links }: MessageText): ChannelRequest {
  const embed = {
    title: `${symbol} ${escapeDiscord(title)}`.slice(0, 256),
    description: withLinks(escapeDiscord(body), links, (text, url) => `[${escapeDiscord(text)}](${url})`),
    color: Number.parseInt(TONES[tone].colour.slice(1), 16),
  }
  return posted({ embeds: [embed], allowed_mentions: { parse: [] } })
}

/** Formats a message for a Microsoft Teams workflow webhook as a single Adaptive Card. */
export function formatTeams({ tone, symbol, title, body, links }: MessageText): ChannelRequest {
  const text = (value: string, more: object = {}) => ({
    type: 'TextBlock',
    text: cut(escapeMarkdown(value)),
    wrap: true,
    ...more,
  })
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      text(`${symbol} ${title}`, { weight: 'Bolder', color: TONES[tone].teams }),
      ...(body === '' ? [] : [text(body)]),
    ],
    actions: links.map(({ text, url }) => ({ type: 'Action.OpenUrl', title: withoutTurns(text), url })),
  }
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card }
  return posted({ type: 'message', attachments: [attachment] })
}

/**
 * Formats a Telegram Bot API message.
 * @param replyTo the message id of the first message about the incident, or null
 */
export function formatTelegram(
  { symbol, title, body, links }: MessageText,
  chatId: string,
  replyTo: string | null,
): ChannelRequest {
  // Telegram's limit applies after the HTML is parsed. Truncated HTML would be invalid, so only the body is truncated.
  const escaped = escapeTelegram(cut(body, MAX_TEXT - MAX_LINKS))
  const linkOf = (text: string, url: string) => `<a href="${escapeHtml(url)}">${escapeTelegram(text)}</a>`
  const text = withLinks(escaped, links, linkOf, Number.POSITIVE_INFINITY)
  const reply = replyTo === null ? {} : { message_id: Number(replyTo), allow_sending_without_reply: true }
  return posted({
    chat_id: chatId,
    text: `${symbol} <b>${escapeTelegram(title)}</b>\n${text}`,
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
    ...(replyTo === null ? {} : { reply_parameters: reply }),
  })
}

/**
 * Formats a message as JSON, to be published at the root URL of an ntfy server.
 * @param updates the message that this one replaces, or that a later one may replace; null for none. Servers before ntfy
 * 2.16 ignore it.
 */
export function formatNtfy(
  { tone, title, body, links }: MessageText,
  topic: string,
  updates: string | null = null,
): ChannelRequest {
  const message = {
    topic,
    ...(updates === null ? {} : { sequence_id: updates }),
    title: withoutTurns(title.slice(0, 250)),
    message: withoutTurns(cut(body === '' ? title : body)),
    priority: TONES[tone].priority,
    tags: [TONES[tone].tag],
  }
  const click = links.at(-1)?.url
  // ntfy accepts at most three actions.
  const shown = links.length > MAX_ACTIONS ? [...links.slice(0, MAX_ACTIONS - 1), ...links.slice(-1)] : links
  const actions = shown.map(({ text, url }) => ({ action: 'view', label: withoutTurns(text), url, clear: true }))
  return posted({ ...message, ...(click === undefined ? {} : { click, actions }) })
}

/**
 * Formats the body of a generic webhook according to Standard Webhooks. The signature headers are added later, because
 * signing requires the key. The type of a single notification is, for example, `incident.opened`. If there are several
 * notifications, the body has the type `incidents.digest` and lists them in order. Without any, the message is about
 * another channel.
 */
export function formatWebhook(
  items: readonly MessageItem[],
  { title, body, links }: MessageText,
  { now, suspects, url, acknowledgeUrl, acknowledgeUrls }: MessageContext,
): ChannelRequest {
  const [first, second] = items
  const only = first?.isDigest ? undefined : first
  const message = { title, body, links }
  if (!first) return posted({ type: 'channel', timestamp: formatInstant(now), data: { message, url } })
  const group = first?.kind === 'group' ? first.group : null
  if (group) {
    const more = { suspects, message, url, acknowledgeUrl }
    return posted({
      type: 'incident.group',
      timestamp: formatInstant(now),
      data: { ...shownGroup(group, items), ...more },
    })
  }
  if (only && !second) {
    if (only.kind === 'test') return posted({ type: 'test', timestamp: formatInstant(now), data: { message, url } })
    const type = only.kind === 'sender-silent' ? 'sender.silent' : `incident.${only.kind}`
    return posted({
      type,
      timestamp: formatInstant(now),
      data: { ...shownItem(only, now), suspects, message, url, acknowledgeUrl },
    })
  }
  const notifications = items.map((item) => {
    return { type: item.kind, ...shownItem(item, now), acknowledgeUrl: acknowledgeUrls[item.incident.id] ?? null }
  })
  return posted({ type: 'incidents.digest', timestamp: formatInstant(now), data: { notifications, message, url } })
}

/** `incident` and `service` are those of the leader. `conditions` and `alerts` are those of the new incidents. */
function shownGroup(group: MessageGroup, items: readonly MessageItem[]) {
  const incidents = group.incidents.map(({ isFiring: _firing, isSilenced: _silenced, first: _first, ...one }) => {
    return { ...one, startedAt: formatInstant(one.startedAt), service: shownService(one.service) }
  })
  const leader = incidents.find(({ id }) => id === group.leader.id)
  return {
    at: formatInstant(Math.max(...items.map(({ at }) => at))),
    ...{ actor: null, problem: 'on', cause: group.cause, leader, incidents, incident: leader },
    service: shownService(group.leader.service),
    conditions: [...new Set(items.flatMap(({ names }) => names))],
    alerts: items.flatMap(({ alerts }) => alerts.map(shownAlert)).slice(0, MAX_ALERTS),
    group: { leader: group.leader.id, size: incidents.length },
  }
}

function shownItem({ kind: _, at, actor, names, incident, service, alerts, group }: MessageItem, now: number) {
  const { startedAt, resolvedAt, acknowledgedAt, touchedAt: _touchedAt, problem, ...rest } = incident
  const timeOf = (time: number | null) => (time === null ? null : formatInstant(time))
  const times = { startedAt: timeOf(startedAt), resolvedAt: timeOf(resolvedAt), acknowledgedAt: timeOf(acknowledgedAt) }
  const state = { problem: problemAt(problem, now), conditions: names }
  const shown = { ...rest, ...times, ...figuresOf(incident, now) }
  return {
    at: formatInstant(at),
    actor,
    ...state,
    incident: shown,
    service: shownService(service),
    alerts: alerts.slice(0, MAX_ALERTS).map(shownAlert),
    group: group && { leader: group.leader.id, size: group.incidents.length },
  }
}

function shownService({ name, namespace, cluster }: MessageItem['service']) {
  return { name, namespace, cluster }
}

function shownAlert({ id, source, name, severity, summary, labels, annotations, startsAt, endsAt }: MessageAlert) {
  const times = { startsAt: formatInstant(startsAt), endsAt: endsAt === null ? null : formatInstant(endsAt) }
  return { id, source, name, severity, summary, labels, annotations, ...times }
}

function posted(body: object): ChannelRequest {
  return { body: JSON.stringify(body), headers: JSON_TYPE }
}

function cut(text: string, longest = MAX_TEXT): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).toWellFormed()}…`
}

/** Returns the text followed by links. Only the text is truncated if the result would be too long. */
function withLinks(
  text: string,
  links: MessageText['links'],
  linkOf: (text: string, url: string) => string,
  longest = MAX_TEXT - MAX_LINKS,
): string {
  const shown = links.map((link) => linkOf(link.text, link.url)).join(' · ')
  return [cut(text, longest), shown].filter((line) => line !== '').join('\n')
}

// How urgent a message is, and how the channels show that.

export type Tone = Severity | 'acknowledged' | 'resolved' | 'neutral'

/** How the channels show a tone: its colour, its colour in Teams, and its priority and tag in ntfy. */
export const TONES = {
  critical: { colour: '#d32f2f', teams: 'Attention', priority: 5, tag: 'red_circle' },
  error: { colour: '#e65100', teams: 'Attention', priority: 4, tag: 'orange_circle' },
  warning: { colour: '#f9a825', teams: 'Warning', priority: 3, tag: 'yellow_circle' },
  info: { colour: '#1976d2', teams: 'Accent', priority: 2, tag: 'blue_circle' },
  acknowledged: { colour: '#1565c0', teams: 'Accent', priority: 2, tag: 'eyes' },
  resolved: { colour: '#2e7d32', teams: 'Good', priority: 3, tag: 'green_circle' },
  neutral: { colour: '#607d8b', teams: 'Default', priority: 3, tag: 'white_circle' },
} as const satisfies Record<Tone, object>
