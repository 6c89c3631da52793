/** Bodies: from the bytes of a request to a JSON value that the rest can walk without fear. */

import { IncmonError } from '../domain/error.ts'

/** Deeper than any sender nests; SQLite's JSON functions end at 1,000, recursive walks at about 5,000. */
export const MAX_DEPTH = 64

/** Values in one body: twice what 10 MiB of real alerts hold; a body of `{},{},…` would take gigabytes. */
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
 * Reads a JSON body: strict UTF-8, a byte order mark allowed, at most 64 levels deep and 500,000 values wide.
 * Keys named `__proto__` come out as ordinary own properties. 1e400 comes out as Infinity.
 * @throws IncmonError `invalid`, one line that says what is wrong and what to do, never echoing the body
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
 * Text as the store can hold and search it: NUL, which ends a text for SQLite's functions, and lone surrogates, which
 * UTF-8 cannot write, become U+FFFD; all else stays byte for byte. Drafts pass here; stored payloads don't need it,
 * since JSON writes both as `\u` escapes.
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

/** Counts brackets outside of strings before anything is built. */
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

/** The index of the closing quote, or the end of the text. */
function endOfString(text: string, from: number): number {
  let i = text.indexOf('"', from)
  // A quote behind an odd number of backslashes is part of the string.
  while (i !== -1 && isEscaped(text, i, from)) i = text.indexOf('"', i + 1)
  return i === -1 ? text.length : i
}

function isEscaped(text: string, index: number, from: number): boolean {
  let i = index - 1
  while (i >= from && text.charCodeAt(i) === BACKSLASH) i--
  return (index - 1 - i) % 2 === 1
}
