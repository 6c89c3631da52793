/** Markdown: escapes foreign text, and builds links and tables. */

/** Characters that GitHub's Markdown interprets wherever they stand: code, emphasis, HTML, cells, strokes, formulas. */
const ACTIVE = /[\\`*<|~$]/g
/** An underline within a word is text. Next to anything else it can be emphasis. */
const EMPHASIS = /(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu
/** Brackets are a link, a picture or a footnote only with what follows them. */
const LINK = /\](?=[([:])|\[(?=\^|[^\]]*\][([:])/g
/** `&lt;` and `&#60;` are characters. */
const ENTITY = /&(?=#?\w+;)/g
/** `@team` tells the team. Within a word, as in `cart@5d4f8c7b9`, nobody is told. */
const MENTION = /(?<![\p{L}\p{N}._-])@(?=[\p{L}\p{N}])/gu
/** A URL becomes a link automatically at the colon of its scheme, or after `www`. */
const ADDRESS = /\b(https?|ftp|mailto|xmpp)(?=:)|\b(www)(?=\.)/gi
/** Characters that are invisible, break lines, or change the text direction. */
const UNSEEN = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g
const BREAKS = /[\s\u0085\u2028\u2029]+/g
/** A start of a line that means a list, a heading, a quote, a definition, a rule or code. */
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

/** Returns text of a person: paragraphs, lines and items that start with `- ` stay, everything else is escaped. */
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
  // Within the words of a link each bracket counts.
  return url === null ? plain(words) : `[${plain(words).replace(/(?<!\\)[[\]]/g, '\\$&')}](<${url}>)`
}

/** Returns an http(s) URL without a character that could end it, or null. */
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
