/**
 * Escapes text from senders, one function for each chat dialect. Such a text must not mention people, and must not show
 * a link under a name of its own, because that name could be that of a button.
 */

import { safeAddress } from '../postmortem/escape.ts'

/** Invisible, and ends a mention. */
const BREAK = '\u200b'

/**
 * For Slack, Mattermost and Rocket.Chat, which get the same messages. Slack treats only &, < and > as special. The other
 * two also understand Markdown links, and mentions such as @channel.
 */
export function escapeSlack(text: string): string {
  return escapePlain(escapeAngles(text))
}

/** For the plain text that the same chats show in notifications. */
export function escapePlain(text: string): string {
  return withoutMentions(withoutTurns(text)).replace(/\](?=[([:])/g, `]${BREAK}`)
}

/** For Discord, which understands Markdown. */
export function escapeDiscord(text: string): string {
  return withoutMentions(escapeMarkdown(text))
}

/** For Telegram's HTML. Telegram also notifies people whose @name occurs in a text. */
export function escapeTelegram(text: string): string {
  return withoutMentions(escapeHtml(text))
}

/** For HTML in mails, and for attributes. */
export function escapeHtml(text: string): string {
  return escapeAngles(text).replaceAll('"', '&quot;')
}

/**
 * Returns the address of a sender's link so that no dialect can read more than an address in it; null if it is not
 * HTTP. A user name could pass for the name of a host.
 */
export function linkAddress(text: string): string | null {
  const address = safeAddress(text)
  if (address === null || /^https?:\/\/[^/?#]*@/i.test(address)) return null
  return address.replace(/[()'*~@]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Returns the text without the characters that change the direction of the text after them. */
export function withoutTurns(text: string): string {
  return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
}

function escapeAngles(text: string): string {
  return withoutTurns(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** For the Adaptive Cards of Teams, which understand a part of Markdown. A mention would need an entity of its own. */
export function escapeMarkdown(text: string): string {
  return withoutTurns(text).replace(/[\\`*_[\]<>~|]/g, (character) => `\\${character}`)
}

/** Leaves email addresses alone, in which @ follows a letter or a digit. */
function withoutMentions(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}])@(?=\S)/gu, `@${BREAK}`)
}
