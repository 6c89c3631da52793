/** Markdown: the text of others made harmless, and the few forms that documents are built of. */

/** GitHub's own besides CommonMark's: `~` strikes, `|` cells, `$` formulas, `@` mentions. */
const ACTIVE = /[\\`*_[\]<>#|~!&$@]/g
/** An address becomes a link by itself at the colon of its scheme, or after `www`. */
const ADDRESS = /\b(https?|ftp|mailto|xmpp)(?=:)|\b(www)(?=\.)/gi
/** What is not shown, breaks lines, or turns the direction of what follows. */
const UNSEEN = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g
const BREAKS = /[\s\u0085\u2028\u2029]+/g
/** What makes a line a list, a heading, a rule or code. */
const LINE_START = /^(?:([-+=:])|(\d{1,9})([.)]))/

/** The text on one line, with every character that Markdown or HTML would act on behind a backslash. */
export function plain(text: string): string {
  const line = text.toWellFormed().replace(BREAKS, ' ').replace(UNSEEN, '').trim()
  const escaped = line.replace(ACTIVE, '\\$&').replace(ADDRESS, '$&\\')
  return escaped.replace(LINE_START, (_, mark?: string, digits?: string, stop?: string) =>
    mark === undefined ? `${digits}\\${stop}` : `\\${mark}`,
  )
}

/**
 * What a person wrote over several lines: paragraphs and items that begin with `- ` stay so; all else is plain.
 * Lines of one paragraph stay lines.
 */
export function prose(text: string): string {
  const paragraphs = text.replace(/\r\n?/g, '\n').split(/\n[ \t]*\n/)
  return paragraphs.map(paragraph).filter(Boolean).join('\n\n')
}

function paragraph(text: string): string {
  const lines = text.split('\n').filter((line) => plain(line) !== '')
  return lines
    .map((line, index) => {
      const item = /^\s*- +(\S.*)$/s.exec(line)
      // A list needs an empty line before it; a line that another follows needs a hard break.
      const next = lines[index + 1]
      const end = next === undefined || item || /^\s*- /.test(next) ? '' : '\\'
      const gap = index > 0 && (item !== null) !== /^\s*- /.test(lines[index - 1] ?? '') ? '\n' : ''
      return `${gap}${item ? `- ${plain(item[1] ?? '')}` : plain(line)}${end}`
    })
    .join('\n')
}

/** A link, or its words alone where the address is none of http(s). */
export function link(words: string, address: string): string {
  const url = safeAddress(address)
  return url === null ? plain(words) : `[${plain(words)}](<${url}>)`
}

/** An http(s) address without a character that could end it; null for any other. */
export function safeAddress(address: string): string | null {
  const text = address.toWellFormed().trim()
  if (!/^https?:\/\/[^\s/?#\\]/i.test(text)) return null
  return text.replace(/[^\w\-.~:/?#@!$&'()*+,;=%]/gu, (character) => encodeURIComponent(character))
}

/** A table; cells are Markdown already, on one line. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
