/** Fields: reading values of unknown shape out of foreign JSON, strictly or leniently, and into clean text. */

import { IncmonError } from '../domain/error.ts'
import { type Draft, type Intake, type Labels, type Links, newLabels } from '../domain/event/event.ts'
import { parseInstant } from '../domain/instant.ts'
import { cleanText } from './json.ts'
import { isSecretKey, REDACTED, redact, redactText } from './redact.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Names and references longer than this are refused: no sender has them, and every list would show them. */
const NAME_LIMIT = 1024

/** Real sets have some thirty labels; a hundred thousand are an attack on whoever reads them. */
export const LABEL_LIMIT = 1000

/** An object that is no array, else null. */
export function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
}

/** The value at a dotted path of own properties; undefined where any step is missing. */
export function at(fields: Fields, path: string): unknown {
  let value: unknown = fields
  for (const key of path.split('.')) {
    const parent = fieldsOf(value)
    value = parent && Object.hasOwn(parent, key) ? parent[key] : undefined
  }
  return value
}

/** Whether a sender says nothing here: absent, null, blank, or a Go template's `<no value>`. */
export function isUnset(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'string') return false
  const text = value.trim()
  return text === '' || text === '<no value>'
}

/**
 * The text at the first of `paths` that says something, cleaned, redacted and trimmed; '' where none does.
 * @throws IncmonError `invalid`, `path: expected string`, where something else than a string stands there
 */
export function requireText(fields: Fields, paths: readonly string[], limit = NAME_LIMIT): string {
  const path = paths.find((candidate) => !isUnset(at(fields, candidate)))
  if (path === undefined) return ''
  const value = at(fields, path)
  if (typeof value !== 'string') throw unusable(`${path}: expected string`)
  if (value.length > limit) throw unusable(`${path}: expected at most ${limit} characters`)
  return draftText(value).trim()
}

/** The text at the first of `paths` that holds a usable string, number or boolean of at most 1,024 characters, else null. */
export function optionalText(fields: Fields, ...paths: string[]): string | null {
  for (const path of paths) {
    const value = at(fields, path)
    if (isUnset(value) || typeof value === 'object') continue
    const text = String(value)
    if (text.length <= NAME_LIMIT) return draftText(text).trim()
  }
  return null
}

/** The first of `paths` that holds a time, milliseconds UTC, never later than `receivedAt`; else null. */
export function instantAt(fields: Fields, receivedAt: number, ...paths: string[]): number | null {
  for (const path of paths) {
    const instant = parseInstant(at(fields, path))
    if (instant !== null) return Math.min(instant, receivedAt)
  }
  return null
}

/** A number, also where it comes as a string; null for anything else and for what is not finite. */
export function numberOf(value: unknown): number | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null
  if (isUnset(value)) return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

/** True and 'true'; everything else is false. */
export function isTrue(value: unknown): boolean {
  return value === true || (typeof value === 'string' && value.trim().toLowerCase() === 'true')
}

/**
 * Labels as they were sent, whatever their names: numbers and booleans become strings, null ''.
 * @throws IncmonError `invalid` where it is no object, holds an object or list, or more than 1,000 labels
 */
export function rawLabels(value: unknown, path: string): Labels {
  const fields = fieldsOf(value)
  if (!fields) throw unusable(`${path}: expected object`)
  const names = Object.keys(fields)
  if (names.length > LABEL_LIMIT) throw unusable(`${path}: expected at most ${LABEL_LIMIT} entries`)
  const labels = newLabels()
  for (const name of names) {
    const child = fields[name]
    if (typeof child === 'object' && child !== null) {
      throw unusable(`${path}.${printable(name)}: expected string`)
    }
    labels[name] = child === null ? '' : String(child)
  }
  return labels
}

/** A foreign name inside a message of ours: short, on one line, without escapes for terminals, without secrets. */
function printable(name: string): string {
  return draftText(name.slice(0, 64)).replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, '\ufffd')
}

/** The longest value of a label or annotation, and of all of one item together, in characters; the payload keeps all. */
const VALUE_LENGTH = 65_536
const VALUES_LENGTH = 2 * VALUE_LENGTH

/**
 * Labels as a draft bears them: names and values cleaned, secrets replaced, none dropped. Names that become equal are
 * numbered. Values are cut at 64 kB, and where all of them exceed 128 kB: a page of alerts must stay one that can be sent.
 * @param textOf `cleanText` where it is known already that no value holds a secret
 */
export function draftLabels(raw: Labels, textOf = draftText): Labels {
  const labels = newLabels()
  let twins: Map<string, number> | null = null
  let left = VALUES_LENGTH
  for (const name of Object.keys(raw)) {
    const text = textOf((raw[name] ?? '').slice(0, Math.min(VALUE_LENGTH, left)))
    const kept = text !== '' && isSecretKey(name) ? REDACTED : text
    left -= kept.length
    const clean = cleanText(name)
    const twin = clean in labels ? (twins?.get(clean) ?? 1) : 0
    if (twin > 0) twins = (twins ?? new Map<string, number>()).set(clean, twin + 1)
    labels[twin === 0 ? clean : `${clean}\ufffd${twin}`] = kept
  }
  return labels
}

/** Text as a draft bears it. */
export function draftText(text: string): string {
  return redactText(cleanText(text))
}

/** A host, and nothing that could end the attribute or the line in which an address is shown. */
const ADDRESS = /^https?:\/\/(?![/?#])[^\s\0-\x1f"<>\\]+$/i

/**
 * Keeps the http and https addresses of `candidates`: anything else could run in the page that shows it.
 * @param textOf as of `draftLabels`
 */
export function linksOf(candidates: Fields, textOf = draftText): Links {
  const links: Record<string, string> = {}
  for (const name of Object.keys(candidates)) {
    const value = candidates[name]
    if (typeof value !== 'string' || value.length > 8192) continue
    const address = value.trim()
    if (ADDRESS.test(address)) links[name] = textOf(address)
  }
  return links
}

/** What makes one item unusable, in one line that begins with the path inside the item. */
export function unusable(message: string): IncmonError {
  return new IncmonError('invalid', message)
}

/** Items that were read, in their order. */
export type Items = { readonly accepted: Intake['accepted'][number][]; readonly rejected: Intake['rejected'][number][] }

/**
 * Reads items one by one: those that `read` finds unusable are kept aside and cost the others nothing.
 * @param from the place of the first among all
 */
export function readItems(items: readonly unknown[], read: (item: Fields) => Draft, from = 0): Items {
  const { accepted, rejected }: Items = { accepted: [], rejected: [] }
  for (const [place, item] of items.entries()) {
    const index = from + place
    try {
      const fields = fieldsOf(item)
      if (!fields) throw unusable('item: expected object')
      accepted.push({ index, draft: read(fields) })
    } catch (error) {
      if (!(error instanceof IncmonError)) throw error
      rejected.push({ index, error: error.message, payload: redact(item) })
    }
  }
  return { accepted, rejected }
}
