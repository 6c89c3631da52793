/** Formats a message as a mail. */
import { escapeHtml, withoutTurns } from './escape.ts'
import { TONES, type Tone } from './format.ts'
import type { MessageText } from './words.ts'

/** The parts of a mail. All mails about an incident share a thread, so that mail programs group them. */
export type Mail = {
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly messageId: string
  readonly inReplyTo: string | null
}

/**
 * Formats a mail as plain text and HTML.
 * @param id the UUID of the message
 * @param thread the UUID of the incident; null for a digest or a test
 * @param isFirst whether this is the first mail about the incident
 */
export function formatMail(
  { tone, symbol, subject, title, body, links }: MessageText,
  { id, thread, isFirst, host }: { id: string; thread: string | null; isFirst: boolean; host: string },
): Mail {
  const first = thread === null ? null : `<incident.${thread}@${host}>`
  const lines = [title, body, '', ...links.map((link) => `${link.text}: ${link.url}`), '', '-- ', 'Sent by incmon.']
  const paragraphs = [
    `<strong>${symbol} ${escapeHtml(title)}</strong>`,
    escapeHtml(body),
    links.map(({ text, url }) => `<a style="${BUTTON}" href="${escapeHtml(url)}">${escapeHtml(text)}</a>`).join(' '),
  ]
  return {
    subject: withoutTurns(`${isFirst ? '' : 'Re: '}${subject}`),
    text: withoutTurns(`${lines.filter((line, index) => line !== '' || lines[index - 1] !== '').join('\n')}\n`),
    html: htmlOf(tone, paragraphs),
    messageId: first !== null && isFirst ? first : `<${id}@${host}>`,
    inReplyTo: isFirst ? null : first,
  }
}

const PAGE = 'margin:0;padding:16px;font:15px/1.5 system-ui,sans-serif;color:#1d1c1d;background:#fff'
const BUTTON = 'display:inline-block;padding:6px 14px;border:1px solid #8a8a8a;border-radius:6px;text-decoration:none'

function htmlOf(tone: Tone, paragraphs: readonly string[]): string {
  const shown = paragraphs.filter((one) => one !== '').map((one) => `<p style="margin:0 0 12px">${one}</p>`)
  const marked = `<div style="border-left:4px solid ${TONES[tone].colour};padding:0 16px">${shown.join('')}</div>`
  const end = '<p style="margin:12px 0 0;color:#616061">Sent by incmon.</p>'
  return `<!doctype html><html lang="en"><body style="${PAGE}">${marked}${end}</body></html>`
}
