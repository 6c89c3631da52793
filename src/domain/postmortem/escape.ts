/** Escapes untrusted text for Markdown, and builds links and tables. */
import { cacheByKey } from '../memoize.ts'

/**
 * Characters with a meaning anywhere in GitHub Markdown: code, emphasis, HTML, table cells, strikethrough, formulas.
 */
const ACTIVE = /[\\`*<|~$]/g
/** An underscore inside a word is plain text. Any other underscore can start or end emphasis. */
const EMPHASIS = /(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu
/** Character references such as `&lt;` and `&#60;`. */
const ENTITY = /&(?=#?\w+;)/g
/** `@team` notifies the team, except inside a word such as `cart@5d4f8c7b9`. */
const MENTION = /(?<![\p{L}\p{N}._-])@(?=[\p{L}\p{N}])/gu
/** GitHub recognizes a bare URL by the colon after its scheme, or by `www`. */
const ADDRESS = /\b(https?|ftp|mailto|xmpp)(?=:)|\b(www)(?=\.)/gi
/** A URL or a host name that is readable as code, which is not a link. */
const CODE = /(\b(?:(?:https?|ftp):\/\/|www\.)[\w\-.:/%?=&#+,;]*[\w/])/i
/** Characters that are invisible, break lines, or change the text direction. */
const UNSEEN = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g
const BREAKS = /[\s\u0085\u2028\u2029]+/g
/** The start of a line that would become a list, heading, quote, definition, rule or code block. */
const LINE_START = /^(?:([-+=:#>[])|(\d{1,9})([.)])(?=\s|$))/

/** Returns the text on one line, with a backslash before each character that Markdown or HTML would interpret. */
export function plain(text: string): string {
  const line = text.toWellFormed().replace(BREAKS, ' ').replace(UNSEEN, '').trim()
  const escaped = line.split(CODE).map((part, index) => (index % 2 === 1 ? `\`${part}\`` : escapedPart(part)))
  return escaped
    .join('')
    .replace(LINE_START, (_, mark?: string, digits?: string, stop?: string) =>
      mark === undefined ? `${digits}\\${stop}` : `\\${mark}`,
    )
}

function escapedPart(text: string): string {
  return escapeLinks(text.replace(ACTIVE, '\\$&').replace(EMPHASIS, (run) => run.replaceAll('_', '\\_')))
    .replace(ENTITY, '\\$&')
    .replace(MENTION, '\\$&')
    .replace(ADDRESS, '$&\\')
}

/**
 * A bracket starts a link, an image or a footnote only in combination with the next character. The text is split at
 * each `]`, because a regular expression would look for the `]` again from each `[`.
 */
function escapeLinks(line: string): string {
  const parts = line.split(']')
  const endsLink = (at: number) => /^[([:]/.test(parts[at + 1] ?? '')
  return parts
    .map((part, at) => (endsLink(at) ? `${part.replaceAll('[', '\\[')}\\` : part.replaceAll('[^', '\\[^')))
    .join(']')
}

/** Bold text and links to http(s), as `plain` escapes them. An image would be loaded from a foreign server. */
const BOLD = /\\\*\\\*(?=[^\s*])([^*]*[^\s*\\])\\\*\\\*/g
const LINKED = /(?<!!)\\\[(?!\^)([^\][]+)\\\]\(`(https?:\/\/\w[^`]*)`\)/g

/** Escapes a line written by a user, but keeps bold text and links. A list on the same line keeps its points. */
export function rich(text: string): string {
  const line = plain(text.replace(/\n\s*[-*] +/g, ' • '))
  return line.replace(BOLD, '**$1**').replace(LINKED, '[$1](<$2>)')
}

/** The start of a list item. */
const ITEM = /^\s*(?:([-*])|(\d{1,3})[.)]) +(?=\S)/

/** Escapes text written by a user, but keeps paragraphs, line breaks, lists, bold text and links. */
export function prose(text: string): string {
  const paragraphs = text.replace(/\r\n?/g, '\n').split(/\n[ \t]*\n/)
  // A text of 65,536 characters can have as many lines. Only few of them differ.
  const escaped = cacheByKey((line: string) => line, rich)
  return paragraphs
    .map((one) => paragraph(one, escaped))
    .filter(Boolean)
    .join('\n\n')
}

function paragraph(text: string, escaped: (line: string) => string): string {
  const lines = text.split('\n').filter((line) => escaped(line) !== '')
  const kindOf = (line = '') => ITEM.exec(line)?.slice(1).findIndex(Boolean)
  return lines
    .map((line, index) => {
      const [start = '', dash, number] = ITEM.exec(line) ?? []
      const mark = dash ? '- ' : number ? `${number}. ` : ''
      // A list needs a blank line before it, and a line break inside a paragraph has to be explicit.
      const next = lines[index + 1]
      const end = next === undefined || start !== '' || ITEM.test(next) ? '' : '\\'
      const gap = index > 0 && kindOf(line) !== kindOf(lines[index - 1]) ? '\n' : ''
      return `${gap}${mark}${escaped(line.slice(start.length))}${end}`
    })
    .join('\n')
}

/** Returns a link, or just the link text if the URL is not http(s). */
export function link(words: string, address: string): string {
  const url = safeAddress(address)
  // In link text, every bracket has to be escaped.
  return url === null ? plain(words) : `[${plain(words).replace(/(?<!\\)[[\]]/g, '\\$&')}](<${url}>)`
}

/** Returns the http(s) URL with characters that could end the link percent-encoded, or null for any other URL. */
export function safeAddress(address: string): string | null {
  const text = address.toWellFormed().trim()
  if (!/^https?:\/\/[^\s/?#\\]/i.test(text)) return null
  return text.replace(/[^\w\-.~:/?#@!$&'()*+,;=%]/gu, (character) => encodeURIComponent(character))
}

/** Returns a table. Cells must be Markdown on one line. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
