/** Parses a request body as JSON, with limits that make the value safe to process. */

import { IncmonError } from '../domain/error.ts'
import { guard } from './json-limits.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses a JSON body: strict UTF-8, an optional byte order mark, and the limits of `guard`. A `__proto__` key
 * becomes an ordinary own property. The number 1e400 becomes Infinity.
 * @throws IncmonError `invalid` with a one-line message that says what to do; it never quotes the body
 */
export function parseBody(bytes: Uint8Array): unknown {
  const whole = decode(bytes)
  const text = guard(whole)
  try {
    return JSON.parse(text)
  } catch (error) {
    const where = text === whole ? whereBroken(error) : ''
    throw new IncmonError('invalid', `body: not JSON${where}; send one JSON document in UTF-8, not a form or text`)
  }
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
