/** Parses a request body as JSON, with limits that make the value safe to process. */

import { BUDGETS } from '../domain/budgets.ts'
import { IncmonError } from '../domain/error.ts'

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

/**
 * The maximum number of different beginnings of objects in a body. The alerts of a sender have the same few hundred
 * names. A body with a new name for each value takes a second to parse, in which no other request is answered.
 */
export const MAX_SHAPES = BUDGETS['body-fields'].value

/**
 * V8 takes up to 10 µs for a number with more than 19 digits, and less than 0.1 µs for any other. No known sender sends
 * such numbers. Zeros at the start do not count: Grafana sends an error rate as 0.0012345678901234567.
 */
const MAX_DIGITS = 19
const MAX_LONG_NUMBERS = 1_000

const [ZERO, NINE, POINT] = [0x30, 0x39, 0x2e]
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Real alerts have about thirty labels. A hundred thousand labels are an attack. */
export const LABEL_LIMIT = 1_000

const WHOLE = Number.POSITIVE_INFINITY
/** Of each object below the body, one field more than a reader accepts, so that it rejects only the item with more. */
const SURPLUS: Most = { text: WHOLE, items: WHOLE, fields: LABEL_LIMIT + 1, from: 2 }

/**
 * Checks the limits before the JSON is parsed, by counting brackets, commas and digits outside strings.
 * @returns the text to parse: the same, or without the surplus fields of single objects
 * @throws IncmonError `invalid` that names the limit
 */
export function guard(text: string): string {
  let depth = 0
  let values = 0
  let [digits, longNumbers] = [0, 0]
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= ZERO && unit <= NINE) {
      if (digits > 0 || unit !== ZERO) digits += 1
      if (digits === MAX_DIGITS + 1) longNumbers += 1
    } else if (unit !== POINT) digits = 0
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
  if (longNumbers > MAX_LONG_NUMBERS) {
    const found = `more than ${MAX_LONG_NUMBERS} numbers with more than ${MAX_DIGITS} digits`
    throw new IncmonError('invalid', `body: ${found}; send them as strings`)
  }
  if (values <= MAX_SHAPES || !hasManyShapes(text)) return text
  const short = cutJson(text, SURPLUS)
  if (hasManyShapes(short)) {
    throw new IncmonError('invalid', `body: more than ${MAX_SHAPES} different fields; send it in smaller parts`)
  }
  return short
}

/** What is kept of each text, list and object of a JSON document. Objects and lists above the depth `from` stay whole. */
type Most = { readonly text: number; readonly items: number; readonly fields: number; readonly from: number }

/**
 * Returns the same JSON with the first items of each list, the first fields of each object and the beginning of each
 * text. Returns the same text if nothing is beyond these limits. Nothing is left out below `MAX_DEPTH` levels.
 */
export function cutJson(text: string, most: Most): string {
  /** The commas of each open list or object, and the comma at which it is cut. */
  const [commas, last] = [new Int32Array(MAX_DEPTH + 1), new Float64Array(MAX_DEPTH + 1)]
  const kept: string[] = []
  let [depth, from] = [0, 0]
  /** The list or object whose rest is left out, which starts at `at`. */
  let cut: { readonly at: number; readonly depth: number } | null = null
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === QUOTE) {
      const start = i + 1
      i = endOfString(text, start)
      if (cut || i - start <= most.text) continue
      kept.push(text.slice(from, beforeEscape(text, start, start + most.text)))
      from = i
    } else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) {
      depth += 1
      commas[depth] = 0
      last[depth] = depth < most.from ? WHOLE : unit === OPEN_ARRAY ? most.items : most.fields
    } else if (unit === COMMA) {
      const count = (commas[depth] ?? 0) + 1
      commas[depth] = count
      if (!cut && count === last[depth]) cut = { at: i, depth }
    } else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) {
      if (cut?.depth === depth) {
        kept.push(text.slice(from, cut.at))
        from = i
        cut = null
      }
      depth = Math.max(0, depth - 1)
    }
  }
  return kept.length === 0 ? text : [...kept, text.slice(from)].join('')
}

/** Returns the last index up to `end` that is not inside an escape of the string that starts at `start`. */
function beforeEscape(text: string, start: number, end: number): number {
  // An escape has at most six characters. A backslash that follows an odd number of them starts none.
  const [open] = /\\(?:u[\da-f]{0,3})?$/i.exec(text.slice(Math.max(start, end - 5), end)) ?? ['']
  const at = end - open.length
  let before = 0
  while (at - before > start && text[at - 1 - before] === '\\') before += 1
  return before % 2 === 1 ? end : at
}

/** The prime of the FNV-1a hash. */
const PRIME = 0x01000193

/**
 * Returns whether the objects have more than `MAX_SHAPES` different beginnings, where a beginning is a list of names in
 * order. V8 stores each beginning once and takes about 10 µs for it.
 */
function hasManyShapes(text: string): boolean {
  const seen = new Set<number>()
  /** The hash of the names so far, for each open object. */
  const shapes = new Int32Array(MAX_DEPTH + 1)
  let [depth, start, end] = [0, 0, 0]
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === QUOTE) {
      start = i + 1
      i = endOfString(text, start)
      end = i
    } else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) depth = Math.max(0, depth - 1)
    else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) {
      depth += 1
      shapes[depth] = 0
    } else if (unit === COLON) {
      const shape = hashOf(text, start, end, shapes[depth] ?? 0)
      shapes[depth] = shape
      if (seen.add(shape).size > MAX_SHAPES) return true
    }
  }
  return false
}

function hashOf(text: string, from: number, to: number, before: number): number {
  let hash = Math.imul(before ^ QUOTE, PRIME)
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME)
  return hash
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
