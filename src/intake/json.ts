/** Parses a request body as JSON, with limits that make the value safe to process. */

import { IncmonError } from '../domain/error.ts'

/**
 * The maximum nesting depth. No known sender nests values more deeply. SQLite's JSON functions fail beyond 1,000
 * levels, and recursive JavaScript functions fail beyond about 5,000.
 */
export const MAX_DEPTH = 64

/**
 * The maximum number of values in a body: twice as many as in 10 MiB of real alerts. Without this limit, a body such as
 * `{},{},…` would take gigabytes of memory.
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
 * Parses a JSON body: strict UTF-8, an optional byte order mark, at most 64 levels and 500,000 values. A `__proto__`
 * key becomes an ordinary own property. The number 1e400 becomes Infinity.
 * @throws IncmonError `invalid` with a one-line message that says what to do; it never quotes the body
 */
export function parseBody(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  guard(text)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw notJson(whereBroken(error))
  }
}

function notJson(where: string): IncmonError {
  return new IncmonError('invalid', `body: not JSON${where}; send one JSON document in UTF-8, not a form or text`)
}

/**
 * Matches the part of V8's messages that contains the position or the character. The rest of a message can quote a
 * secret.
 */
const POSITION = /^(?:[^"]+ JSON at position \d+(?: \(line \d+ column \d+\))?|Unexpected token '[!-~]'|Unexpected end)/

/** Returns where the first syntax error is, in parentheses, or '' if V8's message does not say where. */
function whereBroken(error: unknown): string {
  const [found] = POSITION.exec(error instanceof Error ? error.message : '') ?? []
  return found === undefined ? '' : ` (${found})`
}

/**
 * Returns text that SQLite can store and search: NUL and lone surrogates become U+FFFD. Stored payloads do not need
 * this replacement, because JSON represents these characters as `\u` escapes.
 */
export function cleanText(text: string): string {
  const whole = text.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '\ufffd') : whole
}

function decode(bytes: Uint8Array): string {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    throw new IncmonError('invalid', 'body: not valid UTF-8; send JSON in UTF-8')
  }
  if (text === '') throw new IncmonError('invalid', 'body: empty; send a JSON document')
  return text
}

/** Limits depth and size before the JSON is parsed, by counting brackets and commas outside strings. */
function guard(text: string): void {
  let depth = 0
  let values = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === QUOTE) i = endOfString(text, i + 1)
    else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) depth -= 1
    else if (unit === COMMA) values += 1
    else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) {
      values += 1
      depth += 1
    }
    if (depth > MAX_DEPTH) {
      throw new IncmonError('invalid', `body: nested more than ${MAX_DEPTH} levels deep; send a flatter document`)
    }
    if (values > MAX_VALUES) {
      throw new IncmonError('invalid', `body: more than ${MAX_VALUES} values; send it in smaller parts`)
    }
  }
}

/** Returns the index of the closing quote, or the length of the text if there is none. */
function endOfString(text: string, from: number): number {
  let i = text.indexOf('"', from)
  // A quote after an odd number of backslashes is part of the string.
  while (i !== -1 && isEscaped(text, i, from)) i = text.indexOf('"', i + 1)
  return i === -1 ? text.length : i
}

function isEscaped(text: string, index: number, from: number): boolean {
  let i = index - 1
  while (i >= from && text.charCodeAt(i) === BACKSLASH) i--
  return (index - 1 - i) % 2 === 1
}
