/** Parses the bytes of a request as JSON, with limits that make the value safe to process. */

import { IncmonError } from '../domain/error.ts'

/** No known sender nests deeper. SQLite's JSON functions stop at 1,000 levels, recursive functions at about 5,000. */
export const MAX_DEPTH = 64

/**
 * Values in one body: twice as many as 10 MiB of real alerts. Without this limit, a body of `{},{},…` would use
 * gigabytes.
 */
export const MAX_VALUES = 500_000

const decoder = new TextDecoder('utf-8', { fatal: true })

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Parses a JSON body: strict UTF-8, an optional byte order mark, at most 64 levels and 500,000 values.
 * A key `__proto__` becomes an ordinary own property. 1e400 becomes Infinity.
 * @throws IncmonError `invalid` with one line that says what is wrong and what to do; it never repeats the body
 */
export function parseBody(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  if (text === '') throw new IncmonError('invalid', 'body: empty; send a JSON document')
  checkNesting(text)
  try {
    return JSON.parse(text)
  } catch {
    throw new IncmonError('invalid', 'body: not JSON; send one JSON document in UTF-8, not a form or text')
  }
}

/**
 * Returns text that SQLite can store and search: NUL and lone surrogates become U+FFFD, all other characters stay.
 * Stored payloads do not need this, because JSON escapes both as `\u`.
 */
export function cleanText(text: string): string {
  const whole = text.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '\ufffd') : whole
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new IncmonError('invalid', 'body: not valid UTF-8; send JSON in UTF-8')
  }
}

/** Counts brackets outside of strings, before the JSON is parsed. */
function checkNesting(text: string): void {
  let depth = 0
  let values = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === QUOTE) {
      i = endOfString(text, i + 1)
    } else if (unit === COMMA) {
      values++
    } else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) {
      values++
      if (++depth > MAX_DEPTH) {
        throw new IncmonError('invalid', `body: nested more than ${MAX_DEPTH} levels deep; send a flatter document`)
      }
    } else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) {
      depth--
    }
  }
  if (values > MAX_VALUES) {
    throw new IncmonError('invalid', `body: more than ${MAX_VALUES} values; send it in smaller parts`)
  }
}

/** Returns the index of the closing quote, or the end of the text. */
function endOfString(text: string, from: number): number {
  let i = text.indexOf('"', from)
  // A quote after an odd number of backslashes belongs to the string.
  while (i !== -1 && isEscaped(text, i, from)) i = text.indexOf('"', i + 1)
  return i === -1 ? text.length : i
}

function isEscaped(text: string, index: number, from: number): boolean {
  let i = index - 1
  while (i >= from && text.charCodeAt(i) === BACKSLASH) i--
  return (index - 1 - i) % 2 === 1
}
