/** Formats the body that each kind of channel expects. */
import type { MessageContext, MessageItem, MessageText, Tone } from './words.ts'

export const CHANNEL_KINDS = ['slack', 'discord', 'teams', 'telegram', 'webhook', 'ntfy', 'mail'] as const
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

/** An HTTP request without its address. The code that sends it adds the address. */
export type ChannelRequest = { readonly body: string; readonly headers: Readonly<Record<string, string>> }

const JSON_TYPE = { 'content-type': 'application/json' }
const COLOURS: Readonly<Record<Tone, string>> = {
  critical: '#d32f2f',
  error: '#e65100',
  warning: '#f9a825',
  info: '#1976d2',
  acknowledged: '#1565c0',
  resolved: '#2e7d32',
  neutral: '#607d8b',
}
/** The smallest limit of a text in Slack, Discord, Teams and Telegram. */
const MAX_TEXT = 3_000
const OPEN = 'Open in incmon'
const ACKNOWLEDGE = 'Acknowledge'
/** Reserved for the link in a text that is cut off. */
const MAX_LINK = 500

/**
 * Formats an incoming webhook of Slack. Mattermost and Rocket.Chat read it too; they support attachments and links, but
 * neither blocks nor buttons.
 */
export function formatSlack({ tone, symbol, title, body, url, acknowledgeUrl }: MessageText): ChannelRequest {
  const text = `${symbol} ${escapeSlack(title)}`
  const attachment = {
    color: COLOURS[tone],
    fallback: cut(`${title} ${body}`.trim()),
    text: withLink(escapeSlack(body), acknowledgeUrl, (link) => `<${link}|${ACKNOWLEDGE}>`),
    ...(url === null ? {} : { title: OPEN, title_link: url }),
  }
  return posted({ text: cut(text), attachments: body === '' && url === null ? [] : [attachment] })
}

/** Formats a Discord webhook without mentions, whatever a sender wrote. */
export function formatDiscord({ tone, symbol, title, body, url, acknowledgeUrl }: MessageText): ChannelRequest {
  const embed = {
    title: `${symbol} ${title}`.slice(0, 256),
    description: withLink(body, acknowledgeUrl, (link) => `[${ACKNOWLEDGE}](${link})`),
    color: Number.parseInt(COLOURS[tone].slice(1), 16),
    ...(url === null ? {} : { url }),
  }
  return posted({ embeds: [embed], allowed_mentions: { parse: [] } })
}

const TEAMS_COLOURS: Readonly<Record<Tone, string>> = {
  critical: 'Attention',
  error: 'Attention',
  warning: 'Warning',
  info: 'Accent',
  acknowledged: 'Accent',
  resolved: 'Good',
  neutral: 'Default',
}

/** Formats a webhook of a Microsoft Teams workflow: one Adaptive Card. */
export function formatTeams({ tone, symbol, title, body, url, acknowledgeUrl }: MessageText): ChannelRequest {
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
      text(`${symbol} ${title}`, { weight: 'Bolder', color: TEAMS_COLOURS[tone] }),
      ...(body === '' ? [] : [text(body)]),
    ],
    actions: [...openUrl(ACKNOWLEDGE, acknowledgeUrl), ...openUrl(OPEN, url)],
  }
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card }
  return posted({ type: 'message', attachments: [attachment] })
}

function openUrl(title: string, url: string | null): object[] {
  return url === null ? [] : [{ type: 'Action.OpenUrl', title, url }]
}

/**
 * Formats a message of the Telegram bot API.
 * @param replyTo the message id of the first message about the incident; null if there is none
 */
export function formatTelegram(
  { symbol, title, body, url, acknowledgeUrl }: MessageText,
  chatId: string,
  replyTo: string | null,
): ChannelRequest {
  const link = (text: string, to: string | null) => (to === null ? '' : `<a href="${escapeHtml(to)}">${text}</a>`)
  const links = [link(ACKNOWLEDGE, acknowledgeUrl), link(OPEN, url)].filter((text) => text !== '').join(' · ')
  const lines = [`${symbol} <b>${escapeHtml(title)}</b>`, escapeHtml(cut(body)), links]
  const reply = replyTo === null ? {} : { message_id: Number(replyTo), allow_sending_without_reply: true }
  return posted({
    chat_id: chatId,
    text: lines.filter((line) => line !== '').join('\n'),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
    ...(replyTo === null ? {} : { reply_parameters: reply }),
  })
}

const PRIORITIES: Readonly<Record<Tone, number>> = {
  critical: 5,
  error: 4,
  warning: 3,
  info: 2,
  acknowledged: 2,
  resolved: 3,
  neutral: 3,
}
const TAGS: Readonly<Record<Tone, string>> = {
  critical: 'red_circle',
  error: 'orange_circle',
  warning: 'yellow_circle',
  info: 'blue_circle',
  acknowledged: 'eyes',
  resolved: 'green_circle',
  neutral: 'white_circle',
}

/** Formats a message that is published as JSON at the root of an ntfy server. */
export function formatNtfy({ tone, title, body, url, acknowledgeUrl }: MessageText, topic: string): ChannelRequest {
  const message = {
    topic,
    title: title.slice(0, 250),
    message: cut(body === '' ? title : body),
    priority: PRIORITIES[tone],
    tags: [TAGS[tone]],
  }
  const action = { action: 'view', label: ACKNOWLEDGE, url: acknowledgeUrl, clear: true }
  return posted({
    ...message,
    ...(url === null ? {} : { click: url }),
    ...(acknowledgeUrl === null ? {} : { actions: [action] }),
  })
}

/**
 * Formats the body of a generic webhook after Standard Webhooks. Its headers need a key and are added later. One
 * notification has the type `incident.opened` and so on. Several have the type `incidents.digest` and are listed in
 * order.
 */
export function formatWebhook(
  items: readonly MessageItem[],
  words: MessageText,
  { now, suspects }: MessageContext,
): ChannelRequest {
  const [only, second] = items
  const { title, body, url, acknowledgeUrl } = words
  const message = { title, body }
  if (only && !second) {
    if (only.kind === 'test') return posted({ type: 'test', timestamp: iso(now), data: { message, url } })
    const type = only.kind === 'sender-silent' ? 'sender.silent' : `incident.${only.kind}`
    return posted({ type, timestamp: iso(now), data: { ...shownItem(only), suspects, message, url, acknowledgeUrl } })
  }
  const notifications = items.map((item) => ({ type: item.kind, ...shownItem(item) }))
  return posted({ type: 'incidents.digest', timestamp: iso(now), data: { notifications, message, url } })
}

/** The parts of a mail. All mails about an incident have the same thread, so that mail programs show them together. */
export type Mail = {
  readonly subject: string
  readonly text: string
  readonly messageId: string
  readonly inReplyTo: string | null
}

/**
 * Formats a mail without HTML.
 * @param id the UUID of the message
 * @param thread the UUID of the incident that the mail is about; null for a digest or a test
 * @param isFirst whether it is the first mail about the incident
 */
export function formatMail(
  { subject, title, body, url, acknowledgeUrl }: MessageText,
  { id, thread, isFirst, host }: { id: string; thread: string | null; isFirst: boolean; host: string },
): Mail {
  const first = thread === null ? null : `<incident.${thread}@${host}>`
  const links = [
    ...(acknowledgeUrl === null ? [] : [`${ACKNOWLEDGE}: ${acknowledgeUrl}`]),
    ...(url === null ? [] : [`${OPEN}: ${url}`]),
  ]
  const lines = [title, body, '', ...links, '', '-- ', 'Sent by incmon.']
  return {
    subject: `${isFirst ? '' : 'Re: '}${subject}`,
    text: `${lines.filter((line, index) => line !== '' || lines[index - 1] !== '').join('\n')}\n`,
    messageId: first !== null && isFirst ? first : `<${id}@${host}>`,
    inReplyTo: isFirst ? null : first,
  }
}

function shownItem({ kind: _, at, actor, incident, service }: MessageItem) {
  const { startedAt, resolvedAt, ...rest } = incident
  const shown = { ...rest, startedAt: iso(startedAt), resolvedAt: resolvedAt === null ? null : iso(resolvedAt) }
  return { at: iso(at), actor, incident: shown, service }
}

function posted(body: object): ChannelRequest {
  return { body: JSON.stringify(body), headers: JSON_TYPE }
}

function cut(text: string, longest = MAX_TEXT): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).toWellFormed()}…`
}

/** Returns a text followed by a link. Only the text is cut off if it is too long. */
function withLink(text: string, url: string | null, linkOf: (url: string) => string): string {
  if (url === null) return cut(text)
  const body = cut(text, MAX_TEXT - MAX_LINK)
  return body === '' ? linkOf(url) : `${body}\n${linkOf(url)}`
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

/** Escapes text for Slack, where `<!channel>` would notify everybody. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function escapeHtml(text: string): string {
  return escapeSlack(text).replaceAll('"', '&quot;')
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>~]/g, (character) => `\\${character}`)
}
