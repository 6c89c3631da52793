/**
 * Escapes untrusted text for a terminal, so that it cannot move the cursor, ring the bell, reverse text or add lines.
 */

/** Control characters, invisible formatting such as bidirectional overrides, and Unicode line separators. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const INVISIBLE_BUT_LINE_FEED = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * Makes an untrusted value safe within a line: line breaks and tabs become spaces, each other invisible character `�`, and
 * an empty value `-`.
 */
export function visible(text: string): string {
  return text === '' ? '-' : text.replace(/\r?\n|\t/g, ' ').replace(INVISIBLE, '\ufffd')
}

/**
 * Makes text safe for a terminal. Each invisible character except the line feed becomes an escape such as `\u001b`,
 * which is valid in JSON.
 */
export function forTerminal(text: string): string {
  return text.replace(INVISIBLE_BUT_LINE_FEED, (one) =>
    Array.from({ length: one.length }, (_, i) => `\\u${one.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** Quotes a word for the shell if necessary. */
export function shellQuote(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
