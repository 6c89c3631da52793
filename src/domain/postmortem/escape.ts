/** Escapes foreign text for Markdown, and builds links and tables. */

/** Characters that GitHub's Markdown interprets everywhere: code, emphasis, HTML, cells, strokes, formulas. */
const ACTIVE = /[\\`*<|~$]/g
/** Markdown reads an underscore within a word as text. Elsewhere, an underscore can mean emphasis. */
const EMPHASIS = /(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu
/** Brackets form a link, a picture or a footnote only together with the next character. */
const LINK = /\](?=[([:])|\[(?=\^|[^\]]*\][([:])/g
/** `&lt;` and `&#60;` represent characters. */
const ENTITY = /&(?=#?\w+;)/g
/** `@team` notifies the team, but not within a word such as `cart@5d4f8c7b9`. */
const MENTION = /(?<![\p{L}\p{N}._-])@(?=[\p{L}\p{N}])/gu
/** GitHub turns a URL into a link at the colon of its scheme, or after `www`. */
const ADDRESS = /\b(https?|ftp|mailto|xmpp)(?=:)|\b(www)(?=\.)/gi
/** Characters that are invisible, break lines, or change the text direction. */
const UNSEEN = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g
const BREAKS = /[\s\u0085\u2028\u2029]+/g
/** The start of a line that forms a list, a heading, a quote, a definition, a rule or code. */
const LINE_START = /^(?:([-+=:#>[])|(\d{1,9})([.)]))/

/** Returns the text on one line, with a backslash before each character that Markdown or HTML would interpret there. */
export function plain(text: string): string {
  const line = text.toWellFormed().replace(BREAKS, ' ').replace(UNSEEN, '').trim()
  const escaped = line
    .replace(ACTIVE, '\\$&')
    .replace(EMPHASIS, (run) => run.replaceAll('_', '\\_'))
    .replace(LINK, '\\$&')
    .replace(ENTITY, '\\$&')
    .replace(MENTION, '\\$&')
    .replace(ADDRESS, '$&\\')
  return escaped.replace(LINE_START, (_, mark?: string, digits?: string, stop?: string) =>
    mark === undefined ? `${digits}\\${stop}` : `\\${mark}`,
  )
}

/** Returns a person's text. Keeps paragraphs, lines and items that start with `- `, and escapes everything else. */
export function prose(text: string): string {
  const paragraphs = text.replace(/\r\n?/g, '\n').split(/\n[ \t]*\n/)
  return paragraphs.map(paragraph).filter(Boolean).join('\n\n')
}

function paragraph(text: string): string {
  const lines = text.split('\n').filter((line) => plain(line) !== '')
  return lines
    .map((line, index) => {
      const item = /^\s*- +(\S.*)$/s.exec(line)
      // A list needs an empty line before it, and a line break within a paragraph must be explicit.
      const next = lines[index + 1]
      const end = next === undefined || item || /^\s*- /.test(next) ? '' : '\\'
      const gap = index > 0 && (item !== null) !== /^\s*- /.test(lines[index - 1] ?? '') ? '\n' : ''
      return `${gap}${item ? `- ${plain(item[1] ?? '')}` : plain(line)}${end}`
    })
    .join('\n')
}

/** Returns a link, or only its text if the URL is not http(s). */
export function link(words: string, address: string): string {
  const url = safeAddress(address)
  // Every bracket in the text of a link is escaped.
  return url === null ? plain(words) : `[${plain(words).replace(/(?<!\\)[[\]]/g, '\\$&')}](<${url}>)`
}

/** Returns an http(s) URL without characters that could end the link, or null. */
export function safeAddress(address: string): string | null {
  const text = address.toWellFormed().trim()
  if (!/^https?:\/\/[^\s/?#\\]/i.test(text)) return null
  return text.replace(/[^\w\-.~:/?#@!$&'()*+,;=%]/gu, (character) => encodeURIComponent(character))
}

/** Returns a table. Cells are Markdown on one line. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
