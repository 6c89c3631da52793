/** Extracts clean text, numbers and times from untrusted JSON. */

import { IncmonError } from '../domain/error.ts'
import { type Labels, type Links, newLabels } from '../domain/event/event.ts'
import { parseInstant } from '../domain/instant.ts'
import { cleanText, LABEL_LIMIT } from './json.ts'
import { isSecretKey, REDACTED, redactAndCut, redactText } from './redact.ts'

export type Fields = Readonly<Record<string, unknown>>

/**
 * Names and references longer than this are rejected. No known sender sends such names. Such names would fill every
 * list.
 */
const NAME_LIMIT = 1024

/** Returns the value if it is an object and not an array; otherwise null. */
export function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
}

/** Returns the value at a dotted path, looking only at own properties. Returns undefined if any step is missing. */
export function at(fields: Fields, path: string): unknown {
  if (!path.includes('.')) return Object.hasOwn(fields, path) ? fields[path] : undefined
  let value: unknown = fields
  for (const key of path.split('.')) {
    const parent = fieldsOf(value)
    value = parent && Object.hasOwn(parent, key) ? parent[key] : undefined
  }
  return value
}

/** Returns whether a value is absent, null, blank, or a Go template's `<no value>`. */
export function isUnset(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'string') return false
  const text = value.trim()
  return text === '' || text === '<no value>'
}

/**
 * Returns the text at the first of `paths` that has a value, or '' if none has. The text is cleaned, redacted and
 * trimmed.
 * @throws IncmonError `invalid`, `path: expected string`, if the value is not a string
 */
export function requireText(fields: Fields, paths: readonly string[], limit = NAME_LIMIT): string {
  const path = paths.find((candidate) => !isUnset(at(fields, candidate)))
  if (path === undefined) return ''
  const value = at(fields, path)
  if (typeof value !== 'string') throw unusable(`${path}: expected string`)
  if (value.length > limit) throw unusable(`${path}: expected at most ${limit} characters`)
  return draftText(value).trim()
}

/**
 * Returns the first string, number or boolean found at `paths`, as text. Skips values of more than 1,024 characters.
 * Returns null if no value is left.
 */
export function optionalText(fields: Fields, ...paths: string[]): string | null {
  for (const path of paths) {
    const value = at(fields, path)
    if (isUnset(value) || typeof value === 'object') continue
    const text = String(value)
    if (text.length <= NAME_LIMIT) return draftText(text).trim()
  }
  return null
}

/** Adds a warning about an accepted item to the response. */
export type Warn = (text: string) => void

/** The time of receipt in ms UTC, and a function that reports problems with times. */
export type Receipt = { readonly receivedAt: number; readonly warn: Warn }

/** Go programs send the zero time for an unset time. */
const ZERO_TIME = /^\W*0001-01-01/
/** Tolerance for clock differences, in milliseconds. */
const FUTURE = 120_000

/** Returns the first time found at `paths` in ms UTC, or null. A future time is replaced by the time of receipt. */
export function instantAt(fields: Fields, receipt: Receipt, ...paths: string[]): number | null {
  const sent = sentInstantAt(fields, receipt, ...paths)
  return sent === null ? null : Math.min(sent, receipt.receivedAt)
}

/** Returns the first time found at `paths` in ms UTC, or null. The time can be in the future. */
export function sentInstantAt(fields: Fields, { receivedAt, warn }: Receipt, ...paths: string[]): number | null {
  for (const path of paths) {
    const value = at(fields, path)
    const instant = parseInstant(value)
    if (instant === null) {
      if (!isUnset(value) && !(typeof value === 'string' && ZERO_TIME.test(value)))
        warn(`${path}: ${quoted(value)} is not a valid time; the value was ignored`)
    } else {
      if (instant > receivedAt + FUTURE)
        warn(`${path}: ${quoted(value)} is in the future; the time of receipt was used`)
      return instant
    }
  }
  return null
}

/** Formats a value for a warning: short, on one line and without secrets. */
export function quoted(value: unknown): string {
  return printable(typeof value === 'string' ? `"${value}"` : (JSON.stringify(value) ?? String(value)))
}

/** Returns the value of a number or a numeric string. Returns null for anything else, including infinity. */
export function numberOf(value: unknown): number | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null
  if (isUnset(value)) return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

/** Returns true for true and 'true', and false for anything else. */
export function isTrue(value: unknown): boolean {
  return value === true || (typeof value === 'string' && value.trim().toLowerCase() === 'true')
}

/**
 * Returns the labels as sent. Any label name is allowed. Numbers and booleans become strings, and null becomes ''.
 * Labels with an object or a list as their value are dropped with a warning.
 * @throws IncmonError `invalid` if the value is not an object or has more than 1,000 labels
 */
export function rawLabels(value: unknown, path: string, warn: Warn): Labels {
  const fields = fieldsOf(value)
  if (!fields) throw unusable(`${path}: expected object`)
  const names = Object.keys(fields)
  if (names.length > LABEL_LIMIT) throw unusable(`${path}: expected at most ${LABEL_LIMIT} entries`)
  const labels = newLabels()
  for (const name of names) {
    const child = fields[name]
    if (typeof child === 'object' && child !== null) {
      warn(`${path}.${printable(name)}: expected string; the label was dropped`)
      continue
    }
    labels[name] = child === null ? '' : String(child)
  }
  return labels
}

/** Formats a name for an error message: short, on one line, without terminal escapes or secrets. */
function printable(name: string): string {
  return redactAndCut(cleanText(name), 64).replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, '\ufffd')
}

/**
 * The maximum length of a label or annotation in characters. All values of an item together can be twice as long. The
 * payload keeps more of the text; see `MAX_TEXT` in items.ts.
 */
const VALUE_LENGTH = 65_536
const VALUES_LENGTH = 2 * VALUE_LENGTH

/**
 * Returns labels for a draft: names and values cleaned and redacted. If two names become equal, a number is appended to
 * the second one. Values are truncated to 64 kB each and 128 kB in total to keep alert pages small.
 * @param textOf `cleanText` if the values are known to contain no secrets
 */
export function draftLabels(raw: Labels, textOf = draftText): Labels {
  if (isClean(raw, textOf)) return raw
  const labels = newLabels()
  let twins: Map<string, number> | null = null
  let left = VALUES_LENGTH
  for (const name of Object.keys(raw)) {
    const sent = raw[name] ?? ''
    const limit = Math.min(VALUE_LENGTH, left)
    const text = sent.length <= limit ? textOf(sent) : redactAndCut(cleanText(sent), limit)
    const kept = text !== '' && isSecretKey(name) ? REDACTED : text
    left -= kept.length
    const clean = textOf(name)
    const twin = clean in labels ? (twins?.get(clean) ?? 1) : 0
    if (twin > 0) twins = (twins ?? new Map<string, number>()).set(clean, twin + 1)
    labels[twin === 0 ? clean : `${clean}\ufffd${twin}`] = kept
  }
  return labels
}

/** Returns whether a draft can use the labels unchanged, which is true for most alerts. */
function isClean(raw: Labels, textOf: typeof draftText): boolean {
  let left = VALUES_LENGTH
  for (const name in raw) {
    const value = raw[name] ?? ''
    left -= value.length
    if (value.length > VALUE_LENGTH || left < 0 || textOf(value) !== value || textOf(name) !== name) return false
    if (value !== '' && isSecretKey(name)) return false
  }
  return true
}

/** Cleans and redacts text for a draft. */
export function draftText(text: string): string {
  return redactText(cleanText(text))
}

/** An http or https URL with a host, and without characters that could end an HTML attribute or a line. */
const ADDRESS = /^https?:\/\/(?![/?#])[^\s\0-\x1f"<>\\]+$/i
const USER = /^(https?:\/\/)[^/?#]*@/i

/**
 * Returns only the http and https URLs in `candidates`, without user names and passwords. A `javascript:` URL could run
 * a script when a user opens the link.
 * @param textOf see `draftLabels`
 */
export function linksOf(candidates: Fields, textOf = draftText): Links {
  const links: Record<string, string> = {}
  for (const name of Object.keys(candidates)) {
    const value = candidates[name]
    if (typeof value !== 'string' || value.length > 8192) continue
    const address = value.trim().replace(USER, '$1')
    if (ADDRESS.test(address)) links[name] = textOf(address)
  }
  return links
}

/** Returns the error for a rejected item. `message`: one line that starts with the path of the invalid value. */
export function unusable(message: string): IncmonError {
  return new IncmonError('invalid', message)
}
